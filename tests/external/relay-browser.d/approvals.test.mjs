// What a person does with cards, by mouse and keyboard, and what does not count as that.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openRoom } from "./room.mjs";

const change = (text = "Sign in") => ["set_text", { node: "title", text }];
const withClock = { prepare: (profile) => profile.clock.install() };

test("a click by a script approves nothing", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call(...change());
    await tab.card();
    await tab.awake("card-accept");
    await tab.frame.evaluate(() => {
        const button = document.getElementById("card-accept");
        button.click();
        for (const [kind, of] of [["pointerdown", PointerEvent], ["pointerup", PointerEvent], ["click", MouseEvent], ["click", PointerEvent]]) {
            button.dispatchEvent(new of(kind, { bubbles: true, cancelable: true }));
        }
        for (const kind of ["keydown", "keyup"]) button.dispatchEvent(new KeyboardEvent(kind, { key: "Enter", bubbles: true }));
    });
    // What comes after them on the same socket says that they were none.
    await tab.press("card-deny");
    assert.equal((await call).state, "denied");
    assert.deepEqual((await tab.sent("decision")).map(({ decision }) => decision), ["denied"]);
    assert.deepEqual(await tab.undo(), []);
});

test("denied: the caller is told, and nothing is changed", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call(...change());
    await tab.card();
    await tab.press("card-deny");
    const denied = await call;
    assert.deepEqual([denied.isError, denied.state, denied.value], [true, "denied", null]);
    await tab.at("card").waitFor({ state: "hidden" });
    assert.deepEqual([await tab.textOf("title"), await tab.undo()], ["Log in", []]);
    // A denial is for this one.
    const next = room.agent.call(...change("Welcome"));
    await tab.approve();
    assert.equal((await next).state, "succeeded");
    assert.equal(await tab.textOf("title"), "Welcome");
});

test("what was approved for one page is not made on another", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const call = room.agent.call("create_rectangle", { x: 1, y: 2, width: 3, height: 4 });
    await tab.card();
    const [page, made] = await Promise.all([tab.plugin.locator("#card-steps dd").last().textContent(), tab.page.evaluate(() => {
        window.fake.page = window.fake.other;
        return window.fake.made.length;
    })]);
    await tab.press("card-accept");
    assert.deepEqual([page, (await call).state], ["“Login”", "stale"]);
    assert.deepEqual([await tab.page.evaluate(() => window.fake.made.length), await tab.undo()], [made, []]);
    await tab.plugin.getByText("Another page or selection is in view, nothing was done").waitFor();
});

test("a card counts as shown once it can be seen, and its button wakes after that", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const frame = (style) => tab.page.evaluate((of) => Object.assign(document.querySelector("iframe").style, of), style);
    const visibility = (state) => tab.frame.evaluate((to) => {
        Object.defineProperty(document, "visibilityState", { value: to, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }, state);
    // Outside the window of the tool, and in a tab behind another.
    for (const [hide, reveal] of [[() => frame({ position: "absolute", left: "-5000px" }), () => frame({ position: "static" })],
        [() => visibility("hidden"), () => visibility("visible")]]) {
        const before = (await tab.sent("shown")).length;
        await hide();
        const call = room.agent.call(...change());
        await tab.plugin.locator("#card:not([hidden])").waitFor({ state: "attached" });
        assert.equal((await tab.sent("shown")).length, before);
        assert.equal(await tab.at("card-accept").getAttribute("aria-disabled"), "true");
        await reveal();
        await tab.happened(({ sent }) => sent?.type === "shown", before + 1);
        await tab.press("card-deny");
        assert.equal((await call).state, "denied");
    }
});

test("an allowance: reads come without a card, writes never, and the person ends it", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const read = () => room.agent.call("get_node", { node: "title" });
    const asked = read();
    await tab.approve();
    assert.equal((await asked).value.node.text, "Log in");

    await tab.frame.evaluate(() => document.getElementById("allowance-60").click());
    await tab.press("allowance-15");
    await tab.at("allowance-end").filter({ hasText: "approved without asking until" }).waitFor();
    assert.deepEqual((await tab.sent("allowance")).map(({ minutes }) => minutes), [15]);
    await room.asked("list_design_sessions", {}, ({ sessions }) => sessions[0].allowanceUntil !== null);
    for (let n = 0; n < 3; n++) assert.equal((await read()).state, "succeeded");
    assert.deepEqual((await tab.sent("decision")).map(({ by }) => by), ["person", "allowance", "allowance", "allowance"]);
    assert.equal((await tab.sent("shown")).length, 1, "no card was shown");

    const write = room.agent.call(...change());
    await tab.card();
    await tab.press("card-deny");
    assert.equal((await write).state, "denied");

    await tab.press("allowance-stop");
    await tab.at("allowance-end").filter({ hasText: "Every read asks first" }).waitFor();
    await room.asked("list_design_sessions", {}, ({ sessions }) => sessions[0].allowanceUntil === null);
    const again = read();
    await tab.approve();
    assert.equal((await again).state, "succeeded");
    assert.equal((await tab.sent("decision")).at(-1).by, "person");
});

test("an allowance ends by itself, and the page says so", async (t) => {
    const room = await openRoom(t, withClock);
    const tab = await room.openPaired();
    await tab.press("allowance-15");
    await tab.at("allowance-end").filter({ hasText: "approved without asking until" }).waitFor();
    assert.equal((await room.agent.call("list_pages")).state, "succeeded");
    await room.profile.clock.fastForward(15 * 60_000);
    await tab.at("allowance-end").filter({ hasText: "Every read asks first" }).waitFor();
    // By its clock the page was asleep. It connects anew, and then asks.
    await tab.happened(({ got }) => got?.type === "ready", 2);
    const read = room.agent.call("get_selection");
    await tab.approve();
    assert.equal((await read).state, "succeeded");
    assert.deepEqual((await tab.sent("decision")).map(({ by }) => by), ["allowance", "person"]);
});

test("twenty steps on one card: one click, twenty undo steps, in their order", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const made = { step: 0 };
    const steps = [
        { action: "create_frame", arguments: { x: 0, y: 0, width: 100, height: 100, name: "Panel" } },
        { action: "set_text", arguments: { node: "title", text: "First" } },
        ...Array.from({ length: 17 }, (_, n) => ({ action: "rename_node", arguments: { node: made, name: `Panel ${n}` } })),
        { action: "set_text", arguments: { node: "title", text: "Last" } },
    ];
    const call = room.agent.call("propose_design_steps", { steps });
    await tab.card();
    assert.equal(await tab.plugin.locator("#card-steps > li").count(), 20);
    await tab.press("card-accept");
    const done = await call;
    assert.deepEqual([done.isError, done.steps.map(({ state }) => state)], [false, Array(20).fill("succeeded")]);
    assert.deepEqual([(await tab.sent("decision")).length, (await tab.sent("result")).length, (await tab.undo()).length], [1, 20, 20]);
    assert.equal(await tab.textOf("title"), "Last");
    assert.equal(await tab.page.evaluate((id) => window.fake.known(id).name, done.steps[0].value.node), "Panel 16");
});

test("the accept button wakes 500 ms after its card", async (t) => {
    const room = await openRoom(t, withClock);
    const { clock } = room.profile;
    const tab = await room.openPaired();
    await clock.pauseAt(await tab.page.evaluate(() => Date.now() + 1000));
    const accept = tab.at("card-accept");
    const early = room.agent.call(...change());
    const first = await tab.card();
    // The time begins when the card can be seen.
    await tab.happened(({ sent }) => sent?.type === "shown", 1);
    await accept.click({ force: true });
    await clock.runFor(499);
    assert.equal(await accept.getAttribute("aria-disabled"), "true");
    await accept.click({ force: true });
    // Pressed before, let go after.
    await accept.hover({ force: true });
    await tab.page.mouse.down();
    await clock.runFor(1);
    assert.equal(await accept.getAttribute("aria-disabled"), null);
    await tab.page.mouse.up();
    await tab.press("card-deny");
    assert.equal((await early).state, "denied");
    assert.deepEqual((await tab.sent("decision")).map(({ decision }) => decision), ["denied"]);

    // Each card has its own.
    const call = room.agent.call(...change());
    await tab.card(first);
    await tab.happened(({ sent }) => sent?.type === "shown", 2);
    assert.equal(await accept.getAttribute("aria-disabled"), "true");
    await clock.runFor(500);
    await tab.press("card-accept");
    assert.equal((await call).state, "succeeded");
});

test("by keyboard: Tab reaches the buttons, Enter approves, and a held Enter does not", async (t) => {
    const room = await openRoom(t);
    const tab = await room.openPaired();
    const { keyboard } = tab.page;
    const focused = () => tab.frame.evaluate(() => document.activeElement.id);
    const held = room.agent.call(...change());
    const first = await tab.card();
    assert.equal(await focused(), "card-title", "not on a button, where a key may be coming down");
    const card = tab.plugin.getByRole("group", { name: "local wants to change the file" });
    assert.deepEqual(await card.getByRole("button").allTextContents(), ["Approve once", "Deny"]);
    await tab.at("card-title").click();
    await keyboard.down("Enter");
    await keyboard.press("Tab");
    assert.equal(await focused(), "card-accept");
    await tab.awake("card-accept");
    for (let n = 0; n < 3; n++) await keyboard.down("Enter");
    await keyboard.up("Enter");
    await keyboard.press("Tab");
    assert.equal(await focused(), "card-deny");
    await keyboard.press("Enter");
    assert.equal((await held).state, "denied");
    assert.deepEqual((await tab.sent("decision")).map(({ decision }) => decision), ["denied"]);

    const call = room.agent.call(...change());
    await tab.card(first);
    assert.equal(await focused(), "card-title");
    await keyboard.press("Tab");
    await tab.awake("card-accept");
    await keyboard.press("Enter");
    assert.equal((await call).state, "succeeded");
});
