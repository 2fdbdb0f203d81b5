// What is proposed, shown, decided, and run. A grant runs only what was on a card here and was approved here, once.
"use strict";

/** @typedef {{proposal: string, card: Card, preview: string, steps: Step[], expiresAt: string, line: Line, told: boolean,
 *     approved: boolean, done: number, made: (string | null)[], prints: Map<string, Print>}} Waiting */

// Cards that wait for a person: 8, and 20 reads that were proposed before their allowance ended. What is approved and waits
// for its turn is not among them, but bounded too.
const CARDS_MAX = 28;
const CARDS_KEPT_MAX = 2000;
// Enough for the approvals of all cards, several times over.
const STOPPED_MAX = 1000;
const FRAME_BYTES_MAX = 8 * 1024 * 1024;
const IMAGE_BYTES_MAX = 6 * 1024 * 1024;
const THUMBNAILS_MAX = 4;
const THUMBNAIL_BYTES_MAX = 256 * 1024;
const THUMBNAIL_MS = 3_000;

/** @type {{[reason: string]: string}} */
const WITHDRAWN = { cancelled: "Cancelled by the client", expired: "Expired", denied_by_operator: "Denied by an operator" };
/** @type {{[outcome: string]: string}} */
const ENDED = { succeeded: "Done", failed: "Failed, nothing was changed", stale: "The file changed, nothing was done" };
const VIEW_CHANGED = "Another page or selection is in view, nothing was done";

class Approvals {
    /** @param {Conversation} conversation */
    constructor(conversation) {
        this.conversation = conversation;
        /** @type {Map<string, Waiting>} */
        this.cards = new Map();
        /** @type {Map<string, {waiting: Waiting, position: number}>} by invocation */
        this.approved = new Map();
        /** @type {Set<string>} invocations that the person stopped or that the file left behind */
        this.stopped = new Set();
        /** @type {{waiting: Waiting, position: number} | null} */
        this.running = null;
        /** @type {{session: string, frame: JsonObject}[]} results that ended while there was no session to tell */
        this.untold = [];
        /** @type {Allowance} */
        this.allowance = null;
    }

    /** The part of what is shown that is about cards. */
    view() {
        const { wall } = this.conversation.world.now();
        if (this.allowance && wall >= this.allowance.until) this.allowance = null;
        const waiting = this.undecided();
        const [first] = waiting;
        const running = this.running ?? this.approved.values().next().value ?? null;
        return {
            card: first ? { proposal: first.proposal, card: first.card, expiresAt: first.expiresAt } : null,
            behind: Math.max(0, waiting.length - 1),
            running: running && {
                title: running.waiting.card.steps[running.position].title,
                step: running.position + 1,
                of: running.waiting.steps.length,
                proposal: running.waiting.proposal,
            },
            allowance: this.allowance,
        };
    }

    undecided() {
        return [...this.cards.values()].filter((one) => !one.approved);
    }

    /** Reports that the card in view can be seen, once. */
    tellShown() {
        const [first] = this.undecided();
        if (!first || first.told || first.line.phase !== "ready" || !this.conversation.world.isSeen(first.proposal)) return;
        first.told = true;
        this.conversation.send(first.line, { type: "shown", proposal: first.proposal, previewSha256: first.preview });
    }

    drop() {
        for (const invocation of [...this.approved.keys()]) this.disapprove(invocation);
        this.cards.clear();
    }

    // ---- What a person does ----

    /** @param {string} proposal @param {"approved" | "denied"} decision */
    async decide(proposal, decision) {
        const waiting = this.cards.get(proposal);
        if (!waiting || waiting.approved || !waiting.told) return;
        await this.tellDecision(waiting, decision, "person");
        this.conversation.note(`${decision === "approved" ? "Approved" : "Denied"}: ${waiting.card.steps[0].title}`);
    }

    /** Takes back an approval for what has not begun. @param {string} proposal */
    async stop(proposal) {
        const waiting = this.cards.get(proposal);
        if (!waiting?.approved) return;
        for (const { invocation } of waiting.steps) {
            this.disapprove(invocation);
        }
        await this.tellDecision(waiting, "denied", "person");
        this.conversation.note("Stopped what had not begun.");
    }

    /** @param {Waiting} waiting @param {"approved" | "denied"} decision @param {"person" | "allowance" | "plugin"} by @param {string} [reason] */
    async tellDecision(waiting, decision, by, reason) {
        const { key, session, epoch } = this.conversation;
        const { line, proposal, steps, preview } = waiting;
        if (!key || !session || line.over) return;
        // Noted before the signature is ready: the same press twice is one decision.
        if (decision === "approved") {
            waiting.approved = true;
            steps.forEach(({ invocation }, position) => {
                // Shown and approved again, after an approval that was lost with its socket.
                this.stopped.delete(invocation);
                this.approved.set(invocation, { waiting, position });
            });
        } else {
            this.cards.delete(proposal);
        }
        const digests = steps.map((step) => step.argumentsSha256);
        const signature = await sign(key, signed.decision(session, epoch, proposal, digests, preview, decision, by));
        const frame = { type: "decision", proposal, previewSha256: preview, decision, by, signature };
        this.conversation.send(line, fits(WORD, reason) ? { ...frame, reason: /** @type {string} */ (reason) } : frame);
        this.conversation.show();
    }

    /** Allows reads without a card for a while; 0 ends that. @param {0 | 15 | 60} minutes */
    async allow(minutes) {
        const { line, key, session, epoch } = this.conversation;
        if (!line || !key || !session || line.phase !== "ready") return;
        this.allowance = minutes === 0 ? null : { until: this.conversation.world.now().wall + minutes * 60_000 };
        this.conversation.world.later(() => this.conversation.show(), minutes * 60_000);
        this.conversation.show();
        const signature = await sign(key, signed.allowance(line.nonce, session, epoch, minutes));
        this.conversation.send(line, { type: "allowance", minutes, signature });
    }

    // ---- Cards ----

    /** @param {Line} line @param {Propose} frame */
    async propose(line, frame) {
        if (this.cards.has(frame.proposal)) return this.conversation.refuse(line, 4400, "proposed_twice");
        if (this.undecided().length > CARDS_MAX || this.cards.size >= CARDS_KEPT_MAX) {
            return this.conversation.refuse(line, 4400, "too_many_proposals");
        }
        const invocations = new Set(frame.steps.map((step) => step.invocation));
        if (invocations.size !== frame.steps.length || frame.steps.some(({ invocation }) => this.approved.has(invocation))) {
            return this.conversation.refuse(line, 4400, "proposed_twice");
        }
        /** @type {Step[]} */
        const steps = [];
        for (const step of frame.steps) {
            const args = /** @type {JsonObject} */ (rounded(step.arguments));
            if (await digestOfArguments(step.action, args) !== step.argumentsSha256) return this.conversation.refuse(line, 4400, "bad_digest");
            const known = Object.hasOwn(ACTIONS, step.action) ? ACTIONS[step.action].effect : step.effect;
            if (known !== step.effect) return this.conversation.refuse(line, 4400, "bad_effect");
            steps.push({ ...step, arguments: args });
        }
        const waiting = await this.look(line, frame, steps);
        if (line.over || line.phase !== "ready") return;
        if (typeof waiting === "string") {
            // There is no card to digest; what is signed is that there was none.
            const preview = await digestOf({ refused: waiting, v: 1 });
            const none = this.waiting(line, frame, steps, cardOf(frame.client, []), preview);
            return this.tellDecision(none, "denied", "plugin", waiting);
        }
        this.cards.set(frame.proposal, waiting);
        if (allowed(this.allowance, this.conversation.world.now().wall, steps.map((step) => step.effect))) {
            return this.tellDecision(waiting, "approved", "allowance");
        }
        this.conversation.show();
    }

    /** @param {Line} line @param {Propose} frame @param {Step[]} steps @param {Card} card @param {string} preview @returns {Waiting} */
    waiting(line, frame, steps, card, preview) {
        const { proposal, expiresAt } = frame;
        return {
            proposal, expiresAt, card, preview, steps, line, told: false, approved: false, done: 0, made: [], prints: new Map(),
        };
    }

    /**
     * Looks at the file and makes the card; a word says why there is none.
     * @param {Line} line @param {Propose} frame @param {Step[]} steps
     * @returns {Promise<Waiting | string>}
     */
    async look(line, frame, steps) {
        /** @type {Map<string, Print>} */
        const prints = new Map();
        /** @type {CardStep[]} */
        const shown = [];
        let pictures = 0;
        for (let position = 0; position < steps.length; position++) {
            const refusal = refusalOf(steps, position);
            if (refusal) return refusal;
            const step = steps[position];
            let look = /** @type {Look} */ ({ targets: {}, where: null });
            try {
                look = /** @type {Look} */ (await this.conversation.world.ask({
                    ask: "look", action: step.action, arguments: withoutSteps(step.arguments),
                }, LOOK_MS));
            } catch (error) {
                return error instanceof Refused ? error.message : "host_silent";
            }
            const { node, parent } = look.targets;
            // The first look at a node counts: if the node changed after it, the check before the act finds that out.
            for (const print of [node, parent]) if (print && !prints.has(print.id)) prints.set(print.id, print);
            let picture = null;
            if (node && step.effect !== "read" && pictures < THUMBNAILS_MAX) {
                pictures++;
                picture = await this.thumbnail(node.id);
            }
            shown.push(cardStep(step, look, picture));
        }
        const card = cardOf(frame.client, shown);
        const waiting = this.waiting(line, frame, steps, card, await previewOf(card));
        waiting.prints = prints;
        return waiting;
    }

    /** @param {string} node */
    async thumbnail(node) {
        try {
            const bytes = await this.conversation.world.ask({ ask: "thumbnail", node }, THUMBNAIL_MS);
            // PNG only, by its first bytes: an SVG as a picture could fetch or draw what is not in the file.
            const isPng = bytes instanceof Uint8Array && bytes.length <= THUMBNAIL_BYTES_MAX && base64(bytes.subarray(0, 6)) === "iVBORw0K";
            return isPng ? base64(bytes) : null;
        } catch {
            return null;
        }
    }

    /** @param {Withdraw} frame */
    withdraw(frame) {
        const waiting = this.cards.get(frame.proposal);
        if (!waiting) return;
        // What has begun is not taken back.
        const next = waiting.steps.findIndex(({ invocation }) => this.approved.has(invocation));
        this.finish(waiting);
        this.conversation.note(`${WITHDRAWN[frame.reason]}: ${waiting.card.steps[Math.max(0, next)].title}`);
    }

    // ---- Grants ----

    /** Takes an approval back; a later order to execute it is answered with that. @param {string} invocation */
    disapprove(invocation) {
        if (!this.approved.delete(invocation)) return;
        this.stopped.add(invocation);
        const [oldest] = this.stopped;
        if (this.stopped.size > STOPPED_MAX) this.stopped.delete(oldest);
    }

    /** @param {Line} line @param {Execute} frame @param {Moment} heard when it arrived: it may have waited for its turn */
    execute(line, frame, heard) {
        const { session } = this.conversation;
        if (this.stopped.has(frame.invocation) && !this.conversation.journal.entries.has(frame.grant)) {
            // Too late for the daemon to know. It was never begun here, and now it never can be.
            const outcome = line.phase === "moving" ? "stale" : "failed";
            return this.conversation.send(line, { type: "result", grant: frame.grant, outcome, error: { code: "stopped" } });
        }
        const approved = this.approved.get(frame.invocation);
        if (!session || line.phase !== "ready" || !approved || this.conversation.journal.entries.has(frame.grant)
            || approved.waiting.line !== line || approved.position !== approved.waiting.done
            || approved.waiting.steps[approved.position].argumentsSha256 !== frame.argumentsSha256) {
            return this.conversation.refuse(line, 4403, "not_approved");
        }
        this.approved.delete(frame.invocation);
        if (this.running || this.conversation.journal.isFull()) {
            const code = this.running ? "busy" : "journal_full";
            return this.conversation.send(line, { type: "result", grant: frame.grant, outcome: "failed", error: { code } });
        }
        this.running = approved;
        this.conversation.show();
        // Not awaited: frames are still handled while the design tool works.
        void this.run(line, frame, heard, session, approved);
    }

    /** @param {Line} line @param {Execute} frame @param {Moment} heard @param {string} session @param {{waiting: Waiting, position: number}} approved */
    async run(line, frame, heard, session, approved) {
        const { grant } = frame;
        const { waiting, position } = approved;
        let acted = failure("failed", "no_storage");
        try {
            // In memory at once, so that a proof given from now on has it; in the storage before the act.
            await this.conversation.journal.write(grant, session, "begun", heard.wall);
            const now = this.conversation.world.now();
            const late = slept(heard, now) || now.steady - heard.steady > frame.deadlineMs;
            if (late || line.over || this.conversation.session !== session) acted = failure("failed", late ? "too_late" : "disconnected");
            else acted = await this.act(waiting, position, heard.wall + frame.deadlineMs);
        } catch {
            // Only the journal throws here: nothing was done.
        }
        this.running = null;
        const title = waiting.card.steps[position].title;
        if (acted.outcome === "unknown") {
            this.finish(waiting);
            // Left as begun: the daemon counts it as UNKNOWN, and the person is told so.
            return this.conversation.note(`Look at the file, this may be half done: ${title}`);
        }
        const result = resultFrame(grant, acted, waiting.steps[position].effect);
        const outcome = /** @type {Outcome} */ (result.outcome);
        await this.conversation.journal.write(grant, session, outcome, this.conversation.world.now().wall).catch(() => {});
        if (outcome === "succeeded") waiting.done++;
        if (outcome !== "succeeded" || waiting.done === waiting.steps.length) this.finish(waiting);
        if (this.conversation.session === session) {
            if (this.conversation.line?.phase === "ready") this.conversation.send(this.conversation.line, result);
            else this.untold = [{ session, frame: result }];
        }
        const undo = ["write", "destructive"].includes(waiting.steps[position].effect) ? ", undo with Ctrl+Z" : "";
        const ended = acted.code === "view_changed" ? VIEW_CHANGED : ENDED[outcome];
        this.conversation.note(`${ended}${outcome === "succeeded" ? undo : ""}: ${title}`);
    }

    /** @param {Waiting} waiting */
    finish(waiting) {
        this.cards.delete(waiting.proposal);
        for (const { invocation } of waiting.steps) this.disapprove(invocation);
    }

    /** @param {Waiting} waiting @param {number} position @param {number} until @returns {Promise<Acted>} */
    async act(waiting, position, until) {
        const step = waiting.steps[position];
        const args = withSteps(step.arguments, waiting.made);
        /** @type {Print[]} */
        const expect = [];
        for (const node of [args.node, args.parent]) {
            if (node === undefined) continue;
            const print = typeof node === "string" ? waiting.prints.get(node) : undefined;
            if (!print) return failure("stale", "not_shown");
            expect.push(print);
        }
        const watch = [...waiting.prints.keys()];
        const { where } = waiting.card.steps[position];
        let acted;
        try {
            acted = /** @type {Acted} */ (await this.conversation.world.ask({ ask: "act", action: step.action, arguments: args, expect, where, watch, until }, null));
        } catch (error) {
            // The script says so before it begins; any later failure is in its answer.
            return failure("failed", error instanceof Refused ? error.message : "host");
        }
        // What this step changed in the nodes of later ones is no surprise to the person who approved them together.
        for (const print of acted.after) waiting.prints.set(print.id, print);
        const made = isObject(acted.value) && typeof acted.value.node === "string" ? acted.value.node : null;
        waiting.made[position] = made;
        return acted;
    }
}

/** @param {"failed" | "stale"} outcome @param {string} code @returns {Acted} */
const failure = (outcome, code) => ({ outcome, code, value: null, bytes: null, after: [] });

/** @param {JsonObject} args */
const withoutSteps = (args) => Object.fromEntries(Object.entries(args).filter(([, value]) => stepOf(value) === null));

/** @param {JsonObject} args @param {(string | null)[]} made */
const withSteps = (args, made) => /** @type {JsonObject} */ (Object.fromEntries(Object.entries(args).map(([name, value]) => {
    const step = stepOf(value);
    return [name, step === null ? value : made[step] ?? null];
})));

/** @param {string} grant @param {Acted} acted @param {Effect} effect @returns {JsonObject} */
function resultFrame(grant, acted, effect) {
    const { outcome, bytes, code } = acted;
    if (outcome !== "succeeded") return { type: "result", grant, outcome, error: { code: fits(WORD, code) ? code : "failed" } };
    const tooLarge = { type: "result", grant, outcome: "failed", error: { code: "result_too_large" } };
    if (bytes && bytes.length > IMAGE_BYTES_MAX) return tooLarge;
    const value = bytes && isObject(acted.value) ? { .../** @type {JsonObject} */ (acted.value), data: base64(bytes) } : acted.value;
    const frame = { type: "result", grant, outcome, value };
    const size = new TextEncoder().encode(canonical(frame)).length;
    // A write that happened is never said to have failed; what it answers is small.
    if (size > FRAME_BYTES_MAX && (effect === "read" || effect === "export")) return tooLarge;
    return frame;
}
