// A page whose scripts do not run, as in a tab that the browser has frozen: its socket stays open, and the browser
// answers for it, but nothing that it gets is read.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { openRoom } from "./room.mjs";

const change = ["set_text", { node: "title", text: "Sign in" }];

async function debuggerOf({ profile }, { frame }) {
    const debug = await profile.newCDPSession(frame);
    await debug.send("Debugger.enable");
    return { debug, paused: new Promise((stopped) => debug.once("Debugger.paused", stopped)) };
}

// Both wait for heartbeats most of the time.
describe("a page that stands still", { concurrency: true }, () => {
    test("callers hear it at once, and it comes back by itself", async (t) => {
        const room = await openRoom(t);
        const tab = await room.openPaired();
        const { debug, paused } = await debuggerOf(room, tab);
        await debug.send("Debugger.pause");
        await paused;
        await room.asked("list_design_sessions", {}, ({ sessions }) => sessions[0].state === "suspended");
        const call = await room.agent.call(...change);
        assert.deepEqual([call.isError, call.code], [true, "session_suspended"]);
        await debug.send("Debugger.disable");
        await room.asked("list_design_sessions", {}, ({ sessions }) => sessions[0].state === "connected");
        // Nothing was kept for later.
        assert.deepEqual([await tab.got("propose"), await tab.undo()], [[], []]);
        await tab.says("ready");
        const next = room.agent.call(...change);
        await tab.approve();
        assert.equal((await next).state, "succeeded");
    });

    test("an order that it had not read is not run when it wakes", async (t) => {
        const room = await openRoom(t);
        const tab = await room.openPaired();
        const { debug, paused } = await debuggerOf(room, tab);
        const lines = await tab.frame.evaluate(async () => (await (await fetch("conversation.js")).text()).split("\n"));
        const lineNumber = lines.findIndex((line) => line.includes("hear(line, data) {")) + 1;
        const { locations } = await debug.send("Debugger.setBreakpointByUrl", {
            url: `${room.service.origin}/relay/plugin/penpot/conversation.js`,
            lineNumber,
            condition: `data.includes('"execute"')`,
        });
        assert.equal(locations.length, 1);
        const call = room.agent.call(...change);
        // The page stops before it answers to the click.
        const approved = tab.approve();
        await paused;
        const unknown = await call;
        assert.deepEqual([unknown.isError, unknown.state], [true, "unknown"]);
        await debug.send("Debugger.disable");
        await approved;
        const { invocation } = unknown;
        const settled = await room.asked("get_invocation", { invocation }, ({ state }) => state !== "unknown");
        assert.deepEqual([settled.state, settled.reason, settled.settledLate], ["failed", "not_delivered", true]);
        assert.ok(tab.events.some(({ status }) => status === "asleep"));
        await tab.says("ready");
        assert.deepEqual([await tab.textOf("title"), await tab.undo(), await tab.sent("result")], ["Log in", [], []]);
    });
});
