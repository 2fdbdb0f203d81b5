// What survives a reload, another tab, and a restart of the daemon; and what does not.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openRoom } from "./room.mjs";

const change = ["set_text", { node: "title", text: "Sign in" }];

test("a reload with a card on the screen: the card comes back, and is approved once", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call(...change);
    const before = await tab.card();
    await tab.page.reload();
    assert.equal(await tab.card(), before);
    await tab.press("card-accept");
    assert.equal((await call).state, "succeeded");
    assert.equal(await tab.textOf("title"), "Sign in");
    assert.deepEqual([(await tab.undo()).length, (await tab.got("pairing")).length, (await tab.got("ready")).length], [1, 1, 2]);
});

test("a reload after an approval: what had not begun expires, and what had is unknown", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    // The tool does not end with the first, so the second waits for its turn.
    const begun = room.agent.call("export_image", { node: "button" });
    const first = await tab.card();
    await tab.page.evaluate(() => { window.fake.known("button").export = () => new Promise(() => {}); });
    await tab.press("card-accept");
    await tab.at("running").waitFor();
    const waiting = room.agent.call(...change);
    await tab.card(first);
    await tab.press("card-accept");
    await tab.at("card").waitFor({ state: "hidden" });
    await tab.happened(({ sent }) => sent?.type === "decision", 2);
    await tab.page.reload();
    const [unknown, expired] = await Promise.all([begun, waiting]);
    assert.deepEqual([expired.isError, expired.state, expired.reason], [true, "expired", "disconnected"]);
    assert.deepEqual([unknown.isError, unknown.state], [true, "unknown"]);
    await tab.says("ready");
    assert.deepEqual([await tab.textOf("title"), await tab.undo(), (await tab.got("execute")).length], ["Log in", [], 1]);
});

test("two tabs: the newer one is active, the older one says so, and is used again by a click", async (t) => {
    const room = await openRoom(t);
    const older = await room.openPaired();
    const newer = await room.open();
    await newer.says("ready");
    await older.says("elsewhere");
    assert.equal(await older.text("status"), "Active in another tab. This tab does nothing.");
    assert.deepEqual([await older.closes(), await older.text("again")], [[4409], "Use here"]);
    // A click by a script does not take over.
    await older.frame.evaluate(() => document.getElementById("again").click());
    await older.press("again");
    await older.says("ready");
    await newer.says("elsewhere");
    const call = room.agent.call(...change);
    await older.approve();
    assert.equal((await call).state, "succeeded");
    assert.deepEqual([await older.textOf("title"), await newer.textOf("title")], ["Sign in", "Log in"]);
    assert.deepEqual([await newer.closes(), await newer.got("propose")], [[4409], []]);
    // Neither fights for the file by itself.
    const sockets = async (tab) => (await tab.story()).filter(({ socket }) => socket).length;
    assert.deepEqual([await sockets(older), await sockets(newer)], [2, 1]);
});

test("a plugin of another version than the daemon's says so, with what to do, and does not come again", async (t) => {
    const prepare = (profile) => profile.addInitScript(() => {
        const { WebSocket } = globalThis;
        globalThis.WebSocket = class extends WebSocket {
            constructor(address) { super(address, "svc.relay.v2"); }
        };
    });
    const room = await openRoom(t, { prepare });
    const tab = await room.open();
    await tab.says("old");
    assert.match(await tab.text("status"), /different versions.*[Rr]eload.*update/);
    assert.deepEqual([await tab.closes(), await tab.text("again")], [[4426], "Try again"]);
    assert.equal((await tab.story()).filter(({ socket }) => socket).length, 1);
});

test("the daemon restarts: the page comes back by itself, with the card that waited", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call(...change);
    const before = await tab.card();
    // Within a second it is recorded that the card was shown.
    await room.operated("invocations", ({ items: [{ state }] }) => state === "shown");
    await room.service.stop();
    const { state, status, invocation } = await call;
    assert.deepEqual([state, status], ["shown", "approval_pending"], "the caller is not left waiting");
    await tab.says("away");
    assert.deepEqual(await tab.closes(), [1012]);
    await tab.at("card").waitFor({ state: "hidden" });
    await room.service.start();
    assert.equal(await tab.card(), before);
    await tab.says("ready");
    // The same call again is the same card.
    await room.agent.begin();
    const again = room.agent.call(...change);
    await tab.press("card-accept");
    const done = await again;
    assert.deepEqual([done.state, done.invocation], ["succeeded", invocation]);
    assert.deepEqual([(await tab.undo()).length, (await tab.got("ready")).map(({ epoch }) => epoch)], [1, [1, 2]]);
});
