// What was begun and how it ended, kept in the host's storage: written before the act, so that a page that dies in
// the middle cannot be taken for one that did nothing. An entry has a name of its own, because tabs share the storage.
"use strict";

/** @typedef {"begun" | "succeeded" | "failed" | "stale"} Outcome */
/** @typedef {{session: string, outcome: Outcome, at: number}} Entry */

/**
 * @typedef {object} HostStorage
 * @property {(name: string) => Promise<string | null>} load
 * @property {(name: string, text: string) => Promise<unknown>} save
 * @property {(name: string) => Promise<unknown>} remove
 * @property {() => Promise<string[]>} names
 */

const JOURNAL = "journal ";
const JOURNAL_MAX = 64;
// How many of earlier pages are kept, all sessions together. The oldest that goes is UNKNOWN at the daemon and stays so.
const JOURNAL_KEPT = 32;

const OUTCOMES = { enum: ["begun", "succeeded", "failed", "stale"] };
const ENTRY = object({ session: ID, outcome: OUTCOMES, at: { type: "number" } });

class Journal {
    /** @param {HostStorage} storage */
    constructor(storage) {
        this.storage = storage;
        /** @type {Map<string, Entry>} by grant */
        this.entries = new Map();
    }

    // Reads what earlier pages left.
    async load() {
        const names = (await this.storage.names()).filter((name) => name.startsWith(JOURNAL));
        /** @type {[string, Entry][]} */
        const found = [];
        for (const name of names) {
            const grant = name.slice(JOURNAL.length);
            const entry = parsed(await this.storage.load(name));
            if (fits(ENTRY, entry)) found.push([grant, /** @type {Entry} */ (entry)]);
        }
        found.sort(([, one], [, other]) => other.at - one.at);
        for (const [grant] of found.slice(JOURNAL_KEPT)) await this.storage.remove(JOURNAL + grant);
        this.entries = new Map(found.slice(0, JOURNAL_KEPT));
    }

    /** @param {string | null} session */
    of(session) {
        return [...this.entries].filter(([, entry]) => entry.session === session)
            .map(([grant, { outcome }]) => ({ grant, outcome }));
    }

    isFull() {
        return this.entries.size >= JOURNAL_MAX;
    }

    /**
     * The entry counts from this call on; what is returned says when it would survive this page.
     * @param {string} grant @param {string} session @param {Outcome} outcome @param {number} at
     */
    write(grant, session, outcome, at) {
        const entry = { session, outcome, at };
        this.entries.set(grant, entry);
        return this.storage.save(JOURNAL + grant, JSON.stringify(entry));
    }

    /** @param {string} grant */
    async forget(grant) {
        if (this.entries.delete(grant)) await this.storage.remove(JOURNAL + grant);
    }

    /** @param {string} session */
    async forgetSession(session) {
        for (const { grant } of this.of(session)) await this.forget(grant);
    }
}

/** @param {string | null} text @returns {unknown} */
function parsed(text) {
    try {
        return text === null ? null : JSON.parse(text);
    } catch {
        return null;
    }
}
