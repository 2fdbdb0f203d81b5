// What both ends must compute alike, against values that were not made by the code under test.
import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { core } from "./load.js";

const hash = (text) => createHash("sha256").update(text).digest("hex");

test("the canonical form is that of RFC 8785", () => {
    // The example of its section 3.2.2 and 3.2.3, with what it prints.
    const value = JSON.parse('{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
        + '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}');
    assert.equal(core.canonical(value), '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        + '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}');
    // Order by UTF-16 units: a surrogate pair comes before U+FB33.
    const keys = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
    assert.equal(core.canonical(keys), '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
    assert.equal(core.canonical(-0), "0");
});

test("what has no canonical form is refused", () => {
    let deep = 1;
    for (let at = 0; at < 40; at++) deep = [deep];
    for (const value of [NaN, Infinity, "\ud800", { "\udc00": 1 }, undefined, { a: undefined }, 1n, deep]) {
        assert.throws(() => core.canonical(value), TypeError);
    }
});

test("numbers are rounded to three decimals, everywhere inside", () => {
    assert.deepEqual(core.rounded({ a: 1.00049, b: [0.1 + 0.2, -0.0015, "1.23456"], c: { d: 1e-9 } }),
        { a: 1, b: [0.3, -0.001, "1.23456"], c: { d: 0 } });
    const once = core.rounded(12345.6789);
    assert.equal(core.rounded(once), once);
});

test("both ends compute the digests of the published examples", async () => {
    const file = new URL("../../data/relay/vectors.json", import.meta.url);
    const vectors = JSON.parse(readFileSync(file, "utf8"));
    assert.ok(vectors.arguments.length > 20);
    for (const { what, action, given, canonical, sha256 } of vectors.arguments) {
        const rounded = core.rounded(JSON.parse(given));
        assert.equal(core.canonical({ action, arguments: rounded, v: 1 }), canonical, what);
        assert.equal(await core.digestOfArguments(action, JSON.parse(given)), sha256, what);
    }
});

test("the digest of arguments binds action and arguments, rounded", async () => {
    const expected = hash('{"action":"move_node","arguments":{"node":"a","x":0.3,"y":-2},"v":1}');
    assert.equal(await core.digestOfArguments("move_node", { y: -2.0000001, x: 0.1 + 0.2, node: "a" }), expected);
    assert.notEqual(await core.digestOfArguments("resize_node", { y: -2, x: 0.3, node: "a" }), expected);
    assert.notEqual(await core.digestOfArguments("move_node", { y: -2, x: 0.301, node: "a" }), expected);
});

test("the signed texts are those of the protocol", () => {
    const { signed } = core;
    assert.equal(signed.daemon("N", "M", "H"), "svc.relay.v1 daemon\nN\nM\nH");
    assert.equal(signed.device("M", "H", "J"), "svc.relay.v1 device\nM\nH\nJ");
    assert.equal(signed.confirm("M", "P", true), "svc.relay.v1 confirm\nM\nP\naccept");
    assert.equal(signed.confirm("M", "P", false), "svc.relay.v1 confirm\nM\nP\nrefuse");
    assert.equal(signed.allowance("M", "S", 7, 15), "svc.relay.v1 allowance\nM\nS\n7\n15");
    assert.equal(signed.decision("S", 7, "P", ["A", "B"], "V", "approved", "person"),
        "svc.relay.v1 decision\nS\n7\nP\nA\nB\nV\napproved\nperson");
});

test("a signature verifies outside, and only its own text and key", async () => {
    const jwk = await core.makeKey();
    const key = await core.importKey(jwk);
    assert.equal(key.extractable, false);
    const signature = await core.sign(key, "text");
    assert.match(signature, /^[A-Za-z0-9_-]{86}$/);
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    const outside = await webcrypto.subtle.importKey("jwk", core.publicKey(jwk), algorithm, false, ["verify"]);
    const bytes = Buffer.from(signature, "base64url");
    assert.ok(await webcrypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, outside, bytes, Buffer.from("text")));
    assert.equal(core.publicKey(jwk).d, undefined);
    assert.ok(await core.verifies(core.publicKey(jwk), signature, "text"));
    assert.equal(await core.verifies(core.publicKey(jwk), signature, "texts"), false);
    assert.equal(await core.verifies(core.publicKey(await core.makeKey()), signature, "text"), false);
    const noPoint = { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) };
    assert.equal(await core.verifies(noPoint, signature, "text"), false);
    assert.match(core.nonce(), /^[A-Za-z0-9_-]{22}$/);
});

test("base64 is that of everybody else, over piece borders too", () => {
    const bytes = Uint8Array.from({ length: 20_001 }, (_, at) => (at * 7919) % 256);
    assert.equal(core.base64(bytes), Buffer.from(bytes).toString("base64"));
    assert.equal(core.base64url(bytes), Buffer.from(bytes).toString("base64url"));
    assert.deepEqual(core.fromBase64url(core.base64url(bytes)), bytes);
});

const id = "00000000-0000-4000-8000-000000000000";
const sha = "a".repeat(64);
const step = { invocation: id, action: "get_node", effect: "read", arguments: {}, argumentsSha256: sha };
const key = { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) };
const good = {
    challenge: { type: "challenge", nonce: "A".repeat(22), key, signature: "A".repeat(86) },
    pairing: { type: "pairing", pairing: id, code: "7K2M-9QXV", expiresAt: "2026-11-22T20:00:00Z" },
    claimed: { type: "claimed", pairing: id, account: "ann", client: "agent" },
    ready: { type: "ready", session: id, epoch: 1, account: "ann" },
    propose: { type: "propose", proposal: id, client: "agent", expiresAt: "2026-11-22T20:00:00.123Z", steps: [step] },
    withdraw: { type: "withdraw", proposal: id, reason: "expired" },
    execute: { type: "execute", grant: id, invocation: id, argumentsSha256: sha, deadlineMs: 30000 },
    settled: { type: "settled", grant: id },
    ping: { type: "ping", n: 0 },
    problem: { type: "problem", code: "bad_frame", message: "why" },
};

test("every frame of the daemon is taken, and none with a member more, less, or of another kind", () => {
    assert.deepEqual(Object.keys(good).sort(), Object.keys(core.FRAMES).sort());
    for (const frame of Object.values(good)) {
        assert.deepEqual(core.frameOf(JSON.stringify(frame)), frame);
        assert.equal(core.frameOf(JSON.stringify({ ...frame, more: 1 })), null, `${frame.type} with more`);
        for (const name of Object.keys(frame)) {
            const { [name]: _gone, ...rest } = frame;
            assert.equal(core.frameOf(JSON.stringify(rest)), null, `${frame.type} without ${name}`);
            assert.equal(core.frameOf(JSON.stringify({ ...frame, [name]: false })), null, `${frame.type}.${name} false`);
        }
    }
    const bad = [
        "", "{", "[]", "null", "7", '{"type":"__proto__"}', '{"type":"hello"}', new ArrayBuffer(2),
        JSON.stringify({ ...good.ready, epoch: 0 }), JSON.stringify({ ...good.ready, epoch: 1.5 }),
        JSON.stringify({ ...good.propose, steps: [] }), JSON.stringify({ ...good.propose, steps: Array(21).fill(step) }),
        JSON.stringify({ ...good.execute, deadlineMs: 120001 }), JSON.stringify({ ...good.pairing, code: "7K2M-9QXU" }),
        JSON.stringify({ ...good.problem, message: "x".repeat(301) }),
    ];
    for (const message of bad) assert.equal(core.frameOf(message), null, String(message));
});

test("arguments are held to the schema of their action", () => {
    const fits = (action, args) => core.fits(core.ACTIONS[action].arguments, args);
    const area = { x: 0, y: 0, width: 1, height: 1 };
    for (const [action, args] of [["list_pages", {}], ["get_node", { node: "a", depth: 6 }], ["create_frame", { ...area, parent: { step: 18 } }],
        ["set_text", { node: "a", text: "" }], ["find_nodes", { kind: "text" }], ["export_image", { node: "a", scale: 0.5 }],
        ["set_text", { node: "a", text: "😀".repeat(10_000) }]]) {
        assert.ok(fits(action, args), `${action} ${JSON.stringify(args).slice(0, 80)}`);
    }
    for (const [action, args] of [["list_pages", { a: 1 }], ["get_node", {}], ["get_node", { node: "" }], ["get_node", { node: "a", depth: 1.5 }],
        ["get_node", { node: { step: 19 } }], ["get_node", { node: { step: 1, more: 1 } }], ["create_frame", { ...area, width: 0 }],
        ["create_frame", { ...area, x: 1_000_001 }], ["create_frame", { ...area, fill: "#FF0000" }], ["create_text", { x: 0, y: 0, text: "" }],
        ["export_image", { node: "a", scale: 4 }], ["set_text", { node: "a", text: "x".repeat(10_001) }],
        ["get_node", JSON.parse('{"node":"a","__proto__":1}')]]) {
        assert.equal(fits(action, args), false, `${action} ${JSON.stringify(args).slice(0, 80)}`);
    }
    assert.equal(Object.keys(core.ACTIONS).length, 14);
});
