// The frames that the plugin's page runs in: Penpot's, Figma's, and those of pages that it must not run in.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openRoom } from "./room.mjs";

const change = ["set_text", { node: "title", text: "Sign in" }];

test("Penpot's frame: another site's, sandboxed, with a key that the tool keeps for it", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    assert.equal(await tab.frame.evaluate(() => self.origin), room.service.origin);
    // Only a frame of another process has a session of its own.
    await (await room.profile.newCDPSession(tab.frame)).detach();
    const kept = await tab.page.evaluate(() => Object.keys(localStorage));
    for (const what of ["key", "daemon", "session"]) assert.ok(kept.some((name) => name.startsWith(`penpot svc.relay ${what} `)), what);
    await tab.page.reload();
    await tab.says("ready");
    const [first, second] = (await tab.sent("hello"));
    assert.deepEqual([second.key, second.session], [first.key, (await tab.got("ready"))[0].session]);
    assert.notEqual(second.instance, first.instance);
    assert.equal((await tab.got("pairing")).length, 1);
});

test("framed by a stranger: the browser refuses, and nothing runs", async (t) => {
    const room = await openRoom(t);
    const page = await room.profile.newPage();
    const refusal = page.waitForEvent("console", (message) => /frame-ancestors/.test(message.text()));
    await page.goto(`http://127.0.0.1:${room.pages.port}/stranger`);
    const of = `${room.service.origin}/relay/plugin/penpot/ui.html`;
    await page.evaluate((src) => {
        const frame = document.createElement("iframe");
        frame.src = src;
        document.body.append(frame);
        return new Promise((loaded) => frame.addEventListener("load", loaded));
    }, of);
    await refusal;
    assert.equal(page.frames()[1].url(), "chrome-error://chromewebdata/");
    assert.equal(await page.frames()[1].locator("#status").count(), 0);
    // The same page in the design tool's.
    await (await room.open()).says("code");
});

test("another window's messages are ignored", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const reached = tab.frame.evaluate(() => new Promise((heard) => {
        addEventListener("message", ({ source }) => source !== parent && heard());
    }));
    // Beside the plugin's frame, from the design tool's own origin.
    await tab.page.evaluate(() => new Promise((loaded) => {
        const other = document.createElement("iframe");
        other.src = "/stranger";
        other.addEventListener("load", loaded);
        document.body.append(other);
    }));
    const changed = (page) => ({ relay: "changed", file: { key: "file-1", name: "Web shop", page } });
    await tab.page.frames()[2].evaluate((message) => parent.frames[0].postMessage(message, "*"), changed("Forged"));
    await reached;
    await tab.page.evaluate((message) => window.fake.toPage(message), changed("Genuine"));
    await room.asked("list_design_sessions", {}, ({ sessions }) => sessions[0].page === "Genuine");
    assert.deepEqual((await tab.sent("context")).map(({ file }) => file.page), ["Genuine"]);
});

// Enters the daemon's address, as in a tool whose plugins come from a folder.
async function enterAddress(room, tab) {
    await tab.says("address");
    await tab.at("address-input").fill(room.service.origin);
    await tab.press("address-save");
}

test("Figma's frame: an opaque origin without storage, and an address that a person enters", async (t) => {
    const room = await openRoom(t, { tool: "figma" });
    const tab = await room.open();
    await enterAddress(room, tab);
    await tab.pair();
    const inside = await tab.frame.evaluate(() => {
        try {
            return localStorage.length;
        } catch ({ name }) {
            return [self.origin, name];
        }
    });
    assert.deepEqual(inside, ["null", "SecurityError"]);
    const call = room.agent.call("set_text", { node: "1:2", text: "Sign in" });
    await tab.approve();
    assert.equal((await call).state, "succeeded");
    assert.deepEqual([await tab.textOf("1:2"), await tab.undo()], ["Sign in", ["characters"]]);
    // The tool keeps the address too.
    await tab.page.reload();
    await tab.says("ready");
    assert.equal((await tab.got("pairing")).length, 1);
});

test("loopback without permission: the page says what to click", async (t) => {
    const room = await openRoom(t, { tool: "figma", flags: (port) => [`--ip-address-space-overrides=127.0.0.1:${port}=public`] });
    const tab = await room.open();
    await enterAddress(room, tab);
    await tab.says("permission");
    assert.match(await tab.text("status"), /In the site settings of the design tool, allow access to the local network/);
    assert.deepEqual([await tab.closes(), await tab.sent("hello")], [[1006], []]);
    await tab.press("again");
    await tab.happened(({ closed }) => closed === 1006, 2);
    await tab.says("permission");
});
