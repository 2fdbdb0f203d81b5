// The pure decisions of the page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { core, read } from "./load.js";

test("the wait grows, is jittered over its whole range, and stays between 1 and 30 seconds", () => {
    assert.equal(core.backoff(0, 0), 1000);
    assert.equal(core.backoff(0, 1), 2000);
    assert.equal(core.backoff(2, 0.5), 4500);
    assert.equal(core.backoff(3, 0), 1000);
    assert.equal(core.backoff(4, 1), 30_000);
    assert.equal(core.backoff(5000, 1), 30_000);
});

test("each close code says whether to come again, and what to forget", () => {
    for (const code of [1000, 1001, 1006, 1011, 1012, 1013, 4408]) assert.equal(core.afterClose(code).again, "backoff", code);
    assert.deepEqual(core.afterClose(4429), { again: "crowded", forget: null, status: "crowded" });
    const stops = { 4400: "disagreed", 4403: "refused", 4413: "disagreed", 4426: "old", 4409: "elsewhere", 4410: "expired", 4999: "disagreed" };
    for (const [code, status] of Object.entries(stops)) {
        assert.deepEqual(core.afterClose(Number(code)), { again: null, forget: null, status }, code);
    }
    assert.deepEqual(core.afterClose(4401), { again: null, forget: "device", status: "revoked" });
    assert.deepEqual(core.afterClose(4404), { again: null, forget: "session", status: "ended" });
});

test("a page slept when more than 25 seconds passed by either clock", () => {
    const from = { wall: 1_000_000, steady: 500 };
    const after = (wall, steady) => core.slept(from, { wall: from.wall + wall, steady: from.steady + steady });
    assert.equal(after(25_000, 25_000), false);
    assert.equal(after(25_001, 100), true);
    assert.equal(after(-60_000, 25_001), true);
    assert.equal(after(-60_000, 10_000), false);
});

test("only a person's press counts, half a second after the card, and no held key", () => {
    const press = { trusted: true, held: false, pressedAt: 1500, shownAt: 1000, now: 1600 };
    assert.ok(core.accepts(press));
    assert.ok(core.accepts({ ...press, pressedAt: null, now: 1500 }));
    for (const change of [{ trusted: false }, { held: true }, { pressedAt: 1499 }, { shownAt: null }, { pressedAt: 900, now: 9000 },
        { pressedAt: null, now: 1499 }]) {
        assert.equal(core.accepts({ ...press, ...change }), false, JSON.stringify(change));
    }
});

test("an allowance covers reads, before its end, and nothing else", () => {
    const until = { until: 100 };
    assert.ok(core.allowed(until, 99, ["read", "read"]));
    assert.equal(core.allowed(until, 100, ["read"]), false);
    assert.equal(core.allowed(null, 0, ["read"]), false);
    for (const effect of ["export", "write", "destructive"]) assert.equal(core.allowed(until, 0, ["read", effect]), false, effect);
});

test("the socket goes to an origin, encrypted unless to this computer", () => {
    assert.deepEqual(core.socketAddress("https://svc.example"), { socket: "wss://svc.example/relay/v1/connect", loopback: false });
    assert.deepEqual(core.socketAddress("http://127.0.0.1:7080/"), { socket: "ws://127.0.0.1:7080/relay/v1/connect", loopback: true });
    assert.deepEqual(core.socketAddress("http://svc.example"), { wrong: "https" });
    assert.deepEqual(core.socketAddress("http://localhost.svc.example"), { wrong: "https" });
    for (const address of ["", "svc.example", "ftp://svc.example", "https://a:b@svc.example", "https://svc.example/x", "https://svc.example?x"]) {
        assert.deepEqual(core.socketAddress(address), { wrong: "address" }, address);
    }
});

test("no status but ready says ready, and each that stops has a button", () => {
    for (const [name, { text, tone, button }] of Object.entries(core.STATUS)) {
        assert.equal(tone === "good", name === "ready", name);
        assert.equal(/\bready\b/i.test(text), name === "ready", name);
        if (["revoked", "ended", "elsewhere", "expired", "old", "refused", "disagreed", "stranger", "left"].includes(name)) assert.ok(button, name);
    }
});

const print = (change = {}) => ({
    id: "a", name: "Title", kind: "text", parent: null, box: { x: 1, y: 2, width: 3, height: 4 }, text: "Log in", fill: "#000000", opacity: 1,
    inside: 0, ...change,
});
const step = (action, effect, args) => ({ invocation: "i", action, effect, arguments: args, argumentsSha256: "" });
const where = (change = {}) => ({ page: { id: "p", name: "Login" }, selection: null, ...change });
// The rows of a card for an action.
const rowsOf = (action, args, look) => core.cardStep(step(action, "write", args), { targets: {}, where: null, ...look }, null).rows.map(({ label, now }) => [label, now]);

test("a card says old and new, and what a deletion takes along", () => {
    const text = core.cardStep(step("set_text", "write", { node: "a", text: "Sign in" }), { targets: { node: print() }, where: null }, null);
    assert.equal(text.title, "Change the text of text “Title”");
    assert.deepEqual(text.rows, [{ label: "Text", old: "Log in", now: "Sign in" }]);
    const fill = core.cardStep(step("set_fill", "write", { node: "a", color: "#ff0000", opacity: 0.5 }), { targets: { node: print() }, where: null }, null);
    assert.deepEqual(fill.rows, [{ label: "Fill", old: "#000000", now: "#ff0000, 50 %" }]);
    const gone = core.cardStep(step("delete_node", "destructive", { node: "a" }), { targets: { node: print({ inside: 12 }) }, where: null }, null);
    assert.deepEqual(gone.rows, [{ label: "Goes with it", old: null, now: "12 nodes inside it" }]);
    const moved = core.cardStep(step("move_node", "write", { node: { step: 0 }, x: 5, y: 6, parent: "p" }), { targets: { parent: print({ name: "Form" }) }, where: null }, null);
    assert.equal(moved.title, "Move what step 1 makes");
    assert.deepEqual(moved.rows.map(({ now }) => now), ["5, 6", "text “Form”"]);
    assert.equal(core.cardOf("agent", [text, gone, fill]).effect, "destructive");
});

test("every action has a card that names each of its arguments", () => {
    const args = {
        list_pages: {}, get_selection: {}, get_node: { node: "a", depth: 4 }, find_nodes: { page: "PAGE", name: "NAME", kind: "group", limit: 17 },
        export_image: { node: "a", format: "jpeg", scale: 3 }, set_text: { node: "a", text: "TEXT" }, set_fill: { node: "a", color: "#abcdef", opacity: 0.25 },
        create_rectangle: { x: 11, y: 12, width: 13, height: 14, name: "NAME", fill: "#abcdef", parent: "a" },
        create_frame: { x: 11, y: 12, width: 13, height: 14, name: "NAME", fill: "#abcdef", parent: "a" },
        create_text: { x: 11, y: 12, text: "TEXT", fontSize: 31, name: "NAME", parent: "a" },
        move_node: { node: "a", x: 11, y: 12, parent: "a" }, resize_node: { node: "a", width: 13, height: 14 }, rename_node: { node: "a", name: "NAME" },
        delete_node: { node: "a" },
    };
    assert.deepEqual(Object.keys(args).sort(), Object.keys(core.ACTIONS).sort());
    for (const [action, given] of Object.entries(args)) {
        assert.ok(core.fits(core.ACTIONS[action].arguments, given), action);
        const card = core.cardStep(step(action, "write", given), { targets: { node: print(), parent: print() }, where: null }, null);
        const words = JSON.stringify([card.title, card.rows.map(({ label, now }) => [label, now])]);
        for (const [name, value] of Object.entries(given)) {
            const shown = name === "node" || name === "parent" ? "Title" : name === "opacity" ? "25 %" : String(value);
            assert.ok(words.includes(shown), `${action} does not show ${name}: ${words}`);
        }
    }
});

test("a step that names no node of the file says on which page it is, and a read of the selection what is selected", () => {
    const size = { x: 1, y: 2, width: 3, height: 4 };
    const page = ["Page", "“Lo\\u{202e}gin”"];
    const untrusted = where({ page: { id: "p", name: "Lo\u202egin" } });
    for (const [action, args] of [["create_rectangle", size], ["create_frame", size], ["create_text", { x: 1, y: 2, text: "TEXT" }],
        ["create_frame", { ...size, parent: { step: 0 } }], ["rename_node", { node: { step: 0 }, name: "NAME" }]]) {
        assert.deepEqual(rowsOf(action, args, { where: untrusted }).at(-1), page, action);
    }
    for (const [action, args, targets] of [["create_rectangle", { ...size, parent: "a" }, { parent: print() }], ["rename_node", { node: "a", name: "NAME" }, { node: print() }]]) {
        assert.ok(rowsOf(action, args, { targets, where: where() }).every(([label]) => label !== "Page"), action);
    }
    const named = (count) => Array.from({ length: count }, (_, n) => ({ id: `n${n}`, name: `N${n}`, kind: "text" }));
    const selected = (count) => rowsOf("get_selection", {}, { where: where({ selection: named(count) }) });
    assert.deepEqual(selected(0), [["Selected", "nothing"], ["Page", "“Login”"]]);
    assert.deepEqual(selected(2)[0], ["Selected", "text “N0”, text “N1”"]);
    assert.deepEqual(selected(7)[0], ["Selected", "text “N0”, text “N1”, text “N2”, text “N3”, text “N4”, and 2 more"]);
});

test("hidden characters are shown, so that no name passes for another", () => {
    assert.equal(core.visible("a\u202eb\u200b\u0007\nc"), "a\\u{202e}b\\u{200b}\\u{7}\nc");
    const renamed = core.cardStep(step("rename_node", "write", { node: "a", name: "x\u202ey" }), { targets: { node: print() }, where: null }, null);
    assert.ok(!JSON.stringify(renamed).includes("\u202e"));
});

test("the preview is of all that stands on the card and of the fingerprints", async () => {
    const of = (args, target, picture = null, client = "agent", there = where()) =>
        core.previewOf(core.cardOf(client, [core.cardStep(step("set_text", "write", args), { targets: { node: target }, where: there }, picture)]));
    const args = { node: "a", text: "Sign in" };
    const plain = await of(args, print());
    assert.equal(plain, await of(args, print()));
    const others = await Promise.all([
        of({ ...args, text: "x" }, print()), of(args, print({ text: "x" })), of(args, print({ box: { x: 9, y: 2, width: 3, height: 4 } })),
        of(args, print({ inside: 1 })), of(args, print({ kind: "frame" })), of(args, print({ id: "b" })), of(args, print(), "AAAA"), of(args, print(), null, "b"),
        of(args, print(), null, "agent", where({ page: { id: "q", name: "Login" } })), of(args, print(), null, "agent", where({ selection: [{ id: "b", name: "B", kind: "text" }] })),
    ]);
    assert.equal(new Set([plain, ...others]).size, others.length + 1);
});

test("a step refers only to one before it that makes something", () => {
    const make = step("create_frame", "write", { x: 0, y: 0, width: 1, height: 1 });
    const move = (at) => step("move_node", "write", { node: { step: at }, x: 0, y: 0 });
    assert.equal(core.refusalOf([make, move(0)], 1), null);
    assert.equal(core.refusalOf([make, move(1)], 1), "bad_reference");
    assert.equal(core.refusalOf([make, move(2), make], 1), "bad_reference");
    assert.equal(core.refusalOf([make, move(0), move(1)], 2), "bad_reference");
    assert.equal(core.refusalOf([step("run_code", "write", {})], 0), "unknown_action");
    assert.equal(core.refusalOf([step("toString", "write", {})], 0), "unknown_action");
    assert.equal(core.refusalOf([step("get_node", "read", {})], 0), "bad_arguments");
});

test("results are bounded", () => {
    const done = (value, bytes = null) => ({ outcome: "succeeded", code: null, value, bytes, after: [] });
    assert.equal(core.resultFrame("g", done({ mimeType: "image/png" }, new Uint8Array(6 * 1024 * 1024 + 1)), "export").error.code, "result_too_large");
    assert.equal(core.resultFrame("g", done({ nodes: ["x".repeat(9_000_000)] }), "read").outcome, "failed");
    assert.deepEqual(core.resultFrame("g", done({ mimeType: "image/png" }, Uint8Array.of(1, 2, 3)), "export").value, { mimeType: "image/png", data: "AQID" });
    assert.deepEqual(core.resultFrame("g", core.failure("failed", "A person's text"), "read").error, { code: "failed" });
});

test("the page has what the browser suite takes hold of, and loads nothing but its own files", () => {
    const page = read("core/ui.html");
    for (const id of ["status", "code", "claim-accept", "claim-refuse", "card", "card-accept", "card-deny", "allowance-15", "allowance-60", "allowance-stop", "running-stop", "again", "leave", "forget"]) {
        assert.equal(page.split(`id="${id}"`).length, 2, id);
    }
    assert.match(page, /id="status" role="status" aria-live="polite"/);
    assert.doesNotMatch(page, /<script>|<style>|style=|onclick|https?:\/\/(?!svc\.example)/);
});
