// The schemas of frames and actions, and the part of JSON Schema that they use.
"use strict";

/**
 * @typedef {object} Schema
 * @property {string} [type]
 * @property {Json[]} [enum]
 * @property {RegExp} [pattern]
 * @property {number} [min] of a number, a text's characters, or a list's length
 * @property {number} [max] the same
 * @property {number} [above] of a number, exclusive
 * @property {Schema} [items]
 * @property {{[name: string]: Schema}} [members] no other member may be there
 * @property {string[]} [optional] of `members`
 * @property {Schema[]} [any]
 */

const ID = /** @type {Schema} */ ({ type: "string", pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ });
const SHA = /** @type {Schema} */ ({ type: "string", pattern: /^[0-9a-f]{64}$/ });
const NONCE = /** @type {Schema} */ ({ type: "string", pattern: /^[A-Za-z0-9_-]{22}$/ });
const SIG = /** @type {Schema} */ ({ type: "string", pattern: /^[A-Za-z0-9_-]{86}$/ });
const WORD = /** @type {Schema} */ ({ type: "string", pattern: /^[a-z][a-z0-9_]{0,63}$/ });
const LINE = /** @type {Schema} */ ({ type: "string", max: 200 });
const COORDINATE = /** @type {Schema} */ ({ type: "string", pattern: /^[A-Za-z0-9_-]{43}$/ });
const TIME = /** @type {Schema} */ ({
    type: "string",
    max: 32,
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
});

/** @param {{[name: string]: Schema}} members @param {string[]} [optional] @returns {Schema} */
const object = (members, optional = []) => ({ type: "object", members, optional });
/** @param {string} type @param {{[name: string]: Schema}} members @returns {Schema} */
const frame = (type, members) => object({ type: { enum: [type] }, ...members });

const KEY = object({ kty: { enum: ["EC"] }, crv: { enum: ["P-256"] }, x: COORDINATE, y: COORDINATE });

// The frames of the daemon. Those of the page are made here and checked by the daemon.
/** @type {{[type: string]: Schema}} */
const FRAMES = {
    challenge: frame("challenge", { nonce: NONCE, key: KEY, signature: SIG }),
    pairing: frame("pairing", {
        pairing: ID,
        code: { type: "string", pattern: /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/ },
        expiresAt: TIME,
    }),
    claimed: frame("claimed", { pairing: ID, account: LINE, client: LINE }),
    ready: frame("ready", { session: ID, epoch: { type: "integer", min: 1 }, account: LINE }),
    propose: frame("propose", {
        proposal: ID,
        client: LINE,
        expiresAt: TIME,
        steps: {
            type: "array",
            min: 1,
            max: 20,
            items: object({
                invocation: ID,
                action: WORD,
                effect: { enum: ["read", "export", "write", "destructive"] },
                arguments: { type: "object" },
                argumentsSha256: SHA,
            }),
        },
    }),
    withdraw: frame("withdraw", { proposal: ID, reason: { enum: ["cancelled", "expired", "denied_by_operator"] } }),
    execute: frame("execute", {
        grant: ID,
        invocation: ID,
        argumentsSha256: SHA,
        deadlineMs: { type: "integer", min: 1000, max: 120000 },
    }),
    settled: frame("settled", { grant: ID }),
    ping: frame("ping", { n: { type: "integer", min: 0 } }),
    problem: frame("problem", { code: WORD, message: { type: "string", max: 300 } }),
};

const NODE = /** @type {Schema} */ ({
    any: [{ type: "string", min: 1, max: 100 }, object({ step: { type: "integer", min: 0, max: 18 } })],
});
const POSITION = /** @type {Schema} */ ({ type: "number", min: -1e6, max: 1e6 });
const SIZE = /** @type {Schema} */ ({ type: "number", above: 0, max: 100000 });
const NAME = /** @type {Schema} */ ({ type: "string", min: 1, max: 200 });
const COLOR = /** @type {Schema} */ ({ type: "string", pattern: /^#[0-9a-f]{6}$/ });
const KIND = /** @type {Schema} */ ({
    enum: ["frame", "group", "rectangle", "ellipse", "text", "image", "component", "instance", "path"],
});
const AREA = object(
    { parent: NODE, name: NAME, x: POSITION, y: POSITION, width: SIZE, height: SIZE, fill: COLOR },
    ["parent", "name", "fill"],
);

/** @typedef {"read" | "export" | "write" | "destructive"} Effect */
/** @type {{[action: string]: {effect: Effect, arguments: Schema}}} */
const ACTIONS = {
    list_pages: { effect: "read", arguments: object({}) },
    get_selection: { effect: "read", arguments: object({}) },
    get_node: {
        effect: "read",
        arguments: object({ node: NODE, depth: { type: "integer", min: 0, max: 6 } }, ["depth"]),
    },
    find_nodes: {
        effect: "read",
        arguments: object({
            page: { type: "string", max: 100 },
            name: { type: "string", max: 200 },
            kind: KIND,
            limit: { type: "integer", min: 1, max: 200 },
        }, ["page", "name", "kind", "limit"]),
    },
    export_image: {
        effect: "export",
        arguments: object(
            { node: NODE, format: { enum: ["png", "jpeg", "svg"] }, scale: { enum: [0.5, 1, 2, 3] } },
            ["format", "scale"],
        ),
    },
    create_rectangle: { effect: "write", arguments: AREA },
    create_frame: { effect: "write", arguments: AREA },
    create_text: {
        effect: "write",
        arguments: object({
            parent: NODE,
            name: NAME,
            x: POSITION,
            y: POSITION,
            text: { type: "string", min: 1, max: 10000 },
            fontSize: { type: "number", min: 1, max: 1000 },
        }, ["parent", "name", "fontSize"]),
    },
    set_text: { effect: "write", arguments: object({ node: NODE, text: { type: "string", max: 10000 } }) },
    set_fill: {
        effect: "write",
        arguments: object({ node: NODE, color: COLOR, opacity: { type: "number", min: 0, max: 1 } }, ["opacity"]),
    },
    move_node: { effect: "write", arguments: object({ node: NODE, x: POSITION, y: POSITION, parent: NODE }, ["parent"]) },
    resize_node: { effect: "write", arguments: object({ node: NODE, width: SIZE, height: SIZE }) },
    rename_node: { effect: "write", arguments: object({ node: NODE, name: NAME }) },
    delete_node: { effect: "destructive", arguments: object({ node: NODE }) },
};

/** @param {unknown} value @returns {value is {[name: string]: unknown}} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Whether a value is of a schema.
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {boolean}
 */
function fits(schema, value) {
    if (schema.any) return schema.any.some((one) => fits(one, value));
    if (schema.enum) return schema.enum.some((one) => one === value);
    const { min = -Infinity, max = Infinity } = schema;
    switch (schema.type) {
        case "string": {
            if (typeof value !== "string") return false;
            // Characters, not UTF-16 units; counted only where the units alone do not decide.
            const length = value.length > 2 * max ? value.length : [...value].length;
            return length >= min && length <= max && (schema.pattern?.test(value) ?? true);
        }
        case "integer":
        case "number":
            return typeof value === "number" && Number.isFinite(value) && value >= min && value <= max
                && value > (schema.above ?? -Infinity) && (schema.type === "number" || Number.isSafeInteger(value));
        case "array": {
            if (!Array.isArray(value) || value.length < min || value.length > max) return false;
            return value.every((one) => fits(schema.items ?? {}, one));
        }
        case "object": {
            if (!isObject(value)) return false;
            const { members, optional = [] } = schema;
            if (!members) return true;
            return Object.keys(value).every((name) => Object.hasOwn(members, name))
                && Object.entries(members).every(([name, one]) =>
                    (Object.hasOwn(value, name) ? fits(one, value[name]) : optional.includes(name)));
        }
        default:
            return false;
    }
}

// What of the daemon's frames stands on one line is shown to people and is bounded by `LINE`.
/** @typedef {{invocation: string, action: string, effect: Effect, arguments: JsonObject, argumentsSha256: string}} Step */
/** @typedef {{type: "challenge", nonce: string, key: PublicKey, signature: string}} Challenge */
/** @typedef {{type: "pairing", pairing: string, code: string, expiresAt: string}} Pairing */
/** @typedef {{type: "claimed", pairing: string, account: string, client: string}} Claimed */
/** @typedef {{type: "ready", session: string, epoch: number, account: string}} Ready */
/** @typedef {{type: "propose", proposal: string, client: string, expiresAt: string, steps: Step[]}} Propose */
/** @typedef {{type: "withdraw", proposal: string, reason: string}} Withdraw */
/** @typedef {{type: "execute", grant: string, invocation: string, argumentsSha256: string, deadlineMs: number}} Execute */
/** @typedef {{type: "settled", grant: string}} Settled */
/** @typedef {{type: "ping", n: number}} Ping */
/** @typedef {{type: "problem", code: string, message: string}} Problem */
/** @typedef {Challenge | Pairing | Claimed | Ready | Propose | Withdraw | Execute | Settled | Ping | Problem} Frame */

/**
 * Returns the frame of a message of the daemon, or null when it is none.
 * @param {unknown} message
 * @returns {Frame | null}
 */
function frameOf(message) {
    if (typeof message !== "string") return null;
    let value;
    try {
        value = JSON.parse(message);
    } catch {
        return null;
    }
    if (!isObject(value) || typeof value.type !== "string" || !Object.hasOwn(FRAMES, value.type)) return null;
    const type = value.type;
    return fits(FRAMES[type], value) ? /** @type {Frame} */ (/** @type {unknown} */ (value)) : null;
}
