// What both ends of `svc.relay.v1` must compute alike: the canonical form, digests, keys, and the texts that are signed.
"use strict";

/** @typedef {{kty: "EC", crv: "P-256", x: string, y: string}} PublicKey */

// Deeper than any frame; a bound, so that what is read cannot exhaust the stack.
const DEPTH_MAX = 32;

/**
 * Returns the form of RFC 8785. Throws on what it has none for: NaN, half a character, `undefined`.
 * @param {Json} value
 * @returns {string}
 */
function canonical(value, depth = 0) {
    if (depth > DEPTH_MAX) throw new TypeError("too deep for a canonical form");
    if (typeof value === "number") {
        if (!Number.isFinite(value)) throw new TypeError("only finite numbers have a canonical form");
        return JSON.stringify(value);
    }
    if (typeof value === "string") {
        // With the flag `u` this matches a surrogate only where its other half is missing.
        if (/[\uD800-\uDFFF]/u.test(value)) throw new TypeError("half a character has no canonical form");
        return JSON.stringify(value);
    }
    if (value === null || typeof value === "boolean") return String(value);
    if (Array.isArray(value)) return `[${value.map((one) => canonical(one, depth + 1)).join(",")}]`;
    if (typeof value !== "object") throw new TypeError("not a value of JSON");
    // The default order of `sort` is that of UTF-16 code units, which RFC 8785 asks for.
    const members = Object.keys(value).sort().map((name) =>
        `${canonical(name)}:${canonical(/** @type {JsonObject} */ (value)[name], depth + 1)}`);
    return `{${members.join(",")}}`;
}

/**
 * Rounds every number inside to 3 decimals, so that both ends digest the same.
 * @param {Json} value
 * @returns {Json}
 */
function rounded(value) {
    if (typeof value === "number") {
        const thousandfold = value * 1000;
        // Above 2^53 there are no decimals to round away, and what was rounded must not change when it is again.
        return Math.abs(thousandfold) < 2 ** 53 ? Math.round(thousandfold) / 1000 : value;
    }
    if (Array.isArray(value)) return value.map(rounded);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)]));
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
    let text = "";
    // In pieces, because a call takes only so many arguments.
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
}

/** @param {Uint8Array} bytes */
const base64url = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** @param {string} text */
const fromBase64url = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

/**
 * SHA-256 in hexadecimal, of a text as UTF-8 or of bytes.
 * @param {string | Uint8Array<ArrayBuffer>} of
 */
async function sha256(of) {
    const bytes = typeof of === "string" ? new TextEncoder().encode(of) : of;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {Json} value */
const digestOf = async (value) => sha256(canonical(value));

/**
 * The digest that an approval is bound to.
 * @param {string} action
 * @param {JsonObject} args
 */
const digestOfArguments = (action, args) => digestOf({ action, arguments: rounded(args), v: 1 });

// What is signed. The first line keeps a signature for one purpose from serving another.
const signed = {
    /** @param {string} helloNonce @param {string} nonce @param {string} hello */
    daemon: (helloNonce, nonce, hello) => lines("daemon", helloNonce, nonce, hello),
    /** @param {string} nonce @param {string} hello @param {string} journal */
    device: (nonce, hello, journal) => lines("device", nonce, hello, journal),
    /** @param {string} nonce @param {string} pairing @param {boolean} accept */
    confirm: (nonce, pairing, accept) => lines("confirm", nonce, pairing, accept ? "accept" : "refuse"),
    /** @param {string} nonce @param {string} session @param {number} epoch @param {number} minutes */
    allowance: (nonce, session, epoch, minutes) => lines("allowance", nonce, session, epoch, minutes),
    /**
     * @param {string} session @param {number} epoch @param {string} proposal @param {string[]} steps
     * @param {string} preview @param {string} decision @param {string} by
     */
    decision: (session, epoch, proposal, steps, preview, decision, by) =>
        lines("decision", session, epoch, proposal, ...steps, preview, decision, by),
};

/** @param {string} purpose @param {(string | number)[]} rest */
const lines = (purpose, ...rest) => [`svc.relay.v1 ${purpose}`, ...rest].join("\n");

const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };

/** Makes the key of a device: what the host's storage keeps. The page itself uses only `importKey` of it. */
async function makeKey() {
    const pair = await crypto.subtle.generateKey(CURVE, true, ["sign"]);
    return crypto.subtle.exportKey("jwk", pair.privateKey);
}

/** @param {JsonWebKey} jwk */
const importKey = (jwk) => crypto.subtle.importKey("jwk", jwk, CURVE, false, ["sign"]);

/** @param {JsonWebKey} jwk @returns {PublicKey} */
function publicKey(jwk) {
    if (jwk.kty !== "EC" || jwk.crv !== "P-256" || !jwk.x || !jwk.y) throw new TypeError("not a key of P-256");
    return { kty: "EC", crv: "P-256", x: jwk.x, y: jwk.y };
}

/** @param {CryptoKey} key @param {string} text */
const sign = async (key, text) =>
    base64url(new Uint8Array(await crypto.subtle.sign(SIGNATURE, key, new TextEncoder().encode(text))));

/**
 * Whether the signature is that of this key. A key that is no point of the curve signs nothing.
 * @param {PublicKey} jwk @param {string} signature @param {string} text
 */
async function verifies(jwk, signature, text) {
    try {
        const key = await crypto.subtle.importKey("jwk", { ...jwk }, CURVE, false, ["verify"]);
        return await crypto.subtle.verify(SIGNATURE, key, fromBase64url(signature), new TextEncoder().encode(text));
    } catch {
        return false;
    }
}

/** 128 bits of chance, as the frames carry them. */
const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(16)));
