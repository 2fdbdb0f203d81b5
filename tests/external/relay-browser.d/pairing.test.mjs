// Pairing, and what it ends with.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openRoom } from "./room.mjs";

test("pair, confirm, and approve by a click: it happens once, in one undo step", async (t) => {
    const room = await openRoom(t);
    const tab = await room.open();
    await tab.pair();
    const call = room.agent.call("set_text", { node: "title", text: "Sign in" });
    await tab.card();
    assert.equal(await tab.textOf("title"), "Log in");
    await tab.press("card-accept");
    const done = await call;
    assert.deepEqual([done.isError, done.state, done.value], [false, "succeeded", { node: "title", old: "Log in" }]);
    assert.equal(await tab.textOf("title"), "Sign in");
    assert.equal((await tab.undo()).length, 1);
});

test("Ready is said after `ready`, and each step before it for what it is", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    // Pings come when their time is.
    const told = (await tab.story()).filter(({ got }) => got?.type !== "ping")
        .flatMap(({ status, got }) => status ?? (got ? `(${got.type})` : []));
    const upTo = told.slice(0, told.indexOf("ready") + 1);
    assert.deepEqual(upTo.filter((one, at) => one !== upTo[at - 1]), [
        "starting", "connecting", "(challenge)", "(pairing)", "code", "(claimed)", "confirm", "connecting", "(ready)", "ready",
    ]);
    assert.equal(await tab.text("where"), "local on Web shop");
});

test("a click by a script does not confirm, and a refusal pairs nothing", async (t) => {
    const room = await openRoom(t);
    const tab = await room.open();
    await tab.says("code");
    await room.agent.call("pair_design_session", { code: await tab.text("code") });
    await tab.awake("claim-accept");
    await tab.frame.evaluate(() => document.getElementById("claim-accept").click());
    await tab.press("claim-refuse");
    await tab.happened(({ sent }) => sent?.type === "confirm");
    await tab.at("claim").waitFor({ state: "hidden" });
    assert.deepEqual((await tab.sent("confirm")).map(({ accept }) => accept), [false]);
    assert.deepEqual((await room.agent.call("list_design_sessions")).sessions, []);
});

test("forgetting the computer revokes its device in every tab, by a person's click only", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    await tab.frame.evaluate(() => document.getElementById("forget").click());
    const call = room.agent.call("set_text", { node: "title", text: "Sign in" });
    await tab.card();
    assert.deepEqual(await tab.sent("bye"), []);
    await tab.press("forget");
    await tab.says("revoked");
    const { state, reason } = await call;
    assert.deepEqual([state, reason, await tab.closes()], ["cancelled", "revoked", [4401]]);
    const { items: [device] } = await room.operate("GET", "devices");
    assert.equal(device.state, "revoked");
    assert.deepEqual(await tab.page.evaluate(() => window.fake.storage.getKeys().filter((name) => name.includes("key"))), []);
});

test("revoked: the page says so, ends what it showed, and offers to pair again with another key", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call("set_text", { node: "title", text: "Sign in" });
    await tab.card();
    const { items: [{ device }] } = await room.operate("GET", "devices");
    await room.operate("DELETE", `devices/${device}`);
    const ended = await call;
    assert.deepEqual([ended.isError, ended.state, ended.reason], [true, "cancelled", "revoked"]);
    await tab.says("revoked");
    await tab.at("card").waitFor({ state: "hidden" });
    assert.equal(await tab.text("status"), "This device was revoked. To go on, pair it again.");
    assert.deepEqual([await tab.closes(), await tab.text("again")], [[4401], "Pair again"]);
    await tab.press("again");
    await tab.pair();
    const [first, second] = await tab.sent("hello");
    assert.notDeepEqual(second.key, first.key);
    assert.deepEqual([await tab.textOf("title"), await tab.undo()], ["Log in", []]);
});
