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
