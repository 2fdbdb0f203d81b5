// The decisions of the page, as pure functions: what to do after a close, when to connect again, when a click counts,
// whether the page slept, and what the status line says.
"use strict";

const ASLEEP_MS = 25_000;
const WAKE_MS = 500;
const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 30_000;
const CROWDED_MS = 60_000;
// A session that was shorter than this is no success: the next wait is still longer than the last.
const STEADY_MS = 30_000;

/**
 * How long to wait before the connection that follows `failures` failed ones: full jitter between the least wait
 * and one that doubles.
 * @param {number} failures @param {number} chance 0 to 1
 */
function backoff(failures, chance) {
    const most = Math.min(AGAIN_MAX_MS, AGAIN_MIN_MS * 2 ** Math.min(failures + 1, 10));
    return AGAIN_MIN_MS + chance * (most - AGAIN_MIN_MS);
}

/**
 * How long to wait when the daemon has too many connections: what was turned away together, such as the tabs of a
 * browser that starts, does not come again together.
 * @param {number} chance 0 to 1
 */
const crowded = (chance) => CROWDED_MS * (1 + chance);

/** @typedef {{again: "backoff" | "crowded" | null, forget: "session" | "device" | null, status: Status}} AfterClose */

/**
 * @param {number} code
 * @returns {AfterClose}
 */
function afterClose(code) {
    switch (code) {
        case 1000: case 1001: case 1005: case 1006: case 1011: case 1012: case 1013: case 4408:
            return { again: "backoff", forget: null, status: "away" };
        case 4429: return { again: "crowded", forget: null, status: "crowded" };
        case 4401: return { again: null, forget: "device", status: "revoked" };
        case 4404: return { again: null, forget: "session", status: "ended" };
        case 4409: return { again: null, forget: null, status: "elsewhere" };
        case 4410: return { again: null, forget: null, status: "expired" };
        case 4426: return { again: null, forget: null, status: "old" };
        case 4403: return { again: null, forget: null, status: "refused" };
        // 4400, 4413, and what this version does not know: reconnecting automatically would go on for ever.
        default: return { again: null, forget: null, status: "disagreed" };
    }
}

/** Whether the page was frozen between two messages. By both clocks, since either may stop with the page. */
/** @typedef {{wall: number, steady: number}} Moment */

/** @param {Moment} before @param {Moment} now */
const slept = (before, now) => now.wall - before.wall > ASLEEP_MS || now.steady - before.steady > ASLEEP_MS;

/**
 * Whether a press counts as a person's. `pressedAt` is when the pointer or key went down, or null for a tool that
 * presses without; `shownAt` when the card was there to be read.
 * @param {{trusted: boolean, held: boolean, pressedAt: number | null, shownAt: number | null, now: number}} press
 */
function accepts({ trusted, held, pressedAt, shownAt, now }) {
    if (!trusted || held || shownAt === null) return false;
    return (pressedAt ?? now) - shownAt >= WAKE_MS;
}

/** @typedef {{until: number} | null} Allowance */

/** @param {Allowance} allowance @param {number} now @param {string[]} effects */
const allowed = (allowance, now, effects) =>
    allowance !== null && now < allowance.until && effects.every((effect) => effect === "read");

/**
 * Returns the address of the socket, or what is wrong with the one given. Without encryption only this computer is
 * spoken to.
 * @param {string} given
 * @returns {{socket: string, loopback: boolean} | {wrong: "address" | "https"}}
 */
function socketAddress(given) {
    let url;
    try {
        url = new URL(given);
    } catch {
        return { wrong: "address" };
    }
    if (url.username || url.password || url.search || url.hash || url.pathname !== "/") return { wrong: "address" };
    const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
    if (url.protocol === "http:" && !loopback) return { wrong: "https" };
    if (url.protocol !== "http:" && url.protocol !== "https:") return { wrong: "address" };
    return { socket: `${url.protocol === "http:" ? "ws" : "wss"}://${url.host}/relay/v1/connect`, loopback };
}

/**
 * @typedef {"starting" | "address" | "https" | "connecting" | "code" | "confirm" | "moving" | "ready" | "away" | "asleep"
 *     | "permission" | "crowded" | "revoked" | "ended" | "elsewhere" | "expired" | "old" | "refused" | "disagreed"
 *     | "stranger" | "left" | "storage" | "host"} Status
 */

/** @type {{[status in Status]: {text: string, tone: "good" | "wait" | "bad", button: string | null}}} */
const STATUS = {
    starting: { text: "Starting.", tone: "wait", button: null },
    address: { text: "Enter the address of your svc daemon, such as https://svc.example.", tone: "wait", button: null },
    https: {
        text: "This page needs https. Browsers give pages on plain http no keys, except on this computer.",
        tone: "bad",
        button: null,
    },
    connecting: { text: "Connecting to the daemon.", tone: "wait", button: null },
    code: { text: "Not paired yet. Give the code to your agent, or to svcctl relay pair.", tone: "wait", button: null },
    confirm: { text: "The code was entered. Confirm who may work on this file.", tone: "wait", button: null },
    moving: { text: "Another file is open. Waiting for the daemon.", tone: "wait", button: null },
    ready: { text: "Ready. Nothing is done without your approval.", tone: "good", button: null },
    away: { text: "No connection to the daemon. Trying again.", tone: "bad", button: "Try now" },
    asleep: {
        text: "This tab was frozen by the browser. Nothing that came meanwhile was run. Connecting again.",
        tone: "bad",
        button: null,
    },
    permission: {
        text: "The browser does not let this page reach this computer. In the site settings of the design tool, allow "
            + "access to the local network or to apps on this device, then try again.",
        tone: "bad",
        button: "Try now",
    },
    crowded: { text: "The daemon has too many connections or codes. Trying again in one to two minutes.", tone: "bad", button: "Try now" },
    revoked: { text: "This device was revoked. To go on, pair it again.", tone: "bad", button: "Pair again" },
    ended: { text: "This session has ended. To go on, confirm this file again.", tone: "bad", button: "Connect" },
    elsewhere: { text: "Active in another tab. This tab does nothing.", tone: "bad", button: "Use here" },
    expired: { text: "The code has expired.", tone: "bad", button: "New code" },
    old: {
        text: "This plugin and the daemon speak different versions of their protocol. Reload the plugin. If that does not help, "
            + "update the plugin or the daemon, whichever is older.",
        tone: "bad",
        button: "Try again",
    },
    refused: { text: "The daemon or this plugin refused the other. Nothing was done.", tone: "bad", button: "Try again" },
    disagreed: { text: "The daemon and this plugin do not understand each other.", tone: "bad", button: "Try again" },
    stranger: {
        text: "The program that answers is not the daemon you paired with. Nothing was sent to it but a greeting. If the "
            + "daemon was reinstalled, pair again.",
        tone: "bad",
        button: "Pair again",
    },
    left: { text: "Disconnected. No agent can reach this file.", tone: "wait", button: "Connect" },
    storage: { text: "The design tool did not keep what the plugin stores. Nothing is run.", tone: "bad", button: "Try again" },
    host: { text: "The design tool does not answer. Close the plugin and open it again.", tone: "bad", button: "Try again" },
};
