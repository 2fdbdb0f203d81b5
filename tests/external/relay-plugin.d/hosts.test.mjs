// The two adapters, each in a fake of its host: the fourteen actions, one undo step each, and what stops them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeFigma } from "./figma.js";
import { core, startFigma, startPenpot } from "./load.js";
import { FakePenpot } from "./penpot.js";

const hosts = {
    penpot: () => {
        const fake = new FakePenpot();
        return { fake, ...startPenpot(fake), ids: { frame: "board", text: "title", button: "button", old: "old" } };
    },
    figma: () => {
        const fake = new FakeFigma();
        return { fake, ...startFigma(fake), ids: { frame: "1:1", text: "1:2", button: "1:3", old: "2:1" } };
    },
};

for (const [tool, start] of Object.entries(hosts)) {
    const prepared = async () => {
        const host = start();
        const look = (action, args) => host.ask({ ask: "look", action, arguments: args });
        // Looks, and acts on what it saw, as the page does.
        const run = async (action, args, { meanwhile = () => {}, until = Date.now() + 60_000, watch = [] } = {}) => {
            assert.ok(core.fits(core.ACTIONS[action].arguments, args), action);
            const { targets, where } = await look(action, args);
            meanwhile();
            return host.ask({ ask: "act", action, arguments: args, expect: Object.values(targets), where, watch, until });
        };
        const printOf = async (node) => (await look("get_node", { node })).targets.node;
        return { ...host, look, run, printOf };
    };

    test(`${tool}: it tells the file, keeps texts, and finds them again`, async () => {
        const { ask } = await prepared();
        const file = await ask({ ask: "file" });
        assert.deepEqual([file.name, file.page, typeof file.key], ["Web shop", "Login", tool === "penpot" ? "string" : "object"]);
        assert.equal(await ask({ ask: "load", name: "key" }), null);
        await ask({ ask: "save", name: "key", text: "kept" });
        assert.equal(await ask({ ask: "load", name: "key" }), "kept");
        assert.deepEqual(await ask({ ask: "names" }), ["key"]);
        await ask({ ask: "remove", name: "key" });
        assert.deepEqual(await ask({ ask: "names" }), []);
    });

    test(`${tool}: reads`, async () => {
        const { run, ids, fake } = await prepared();
        assert.deepEqual((await run("list_pages", {})).value.pages.map(({ name }) => name), ["Login", "Archive"]);
        assert.deepEqual((await run("get_selection", {})).value.nodes, [{ id: ids.text, name: "Title", kind: "text" }]);
        const shallow = (await run("get_node", { node: ids.frame, depth: 0 })).value;
        assert.deepEqual([shallow.node.kind, shallow.node.children, shallow.truncated], ["frame", [], false]);
        const deep = (await run("get_node", { node: ids.frame })).value.node;
        assert.deepEqual(deep.children.map(({ name, text, fill, opacity }) => [name, text, fill, opacity]),
            [["Title", "Log in", tool === "penpot" ? "#000000" : null, tool === "penpot" ? 1 : null], ["Button", null, "#ff0000", 0.5]]);
        assert.deepEqual((await run("find_nodes", { name: "TITLE" })).value.nodes.map(({ id }) => id), [ids.text]);
        assert.deepEqual((await run("find_nodes", { kind: "rectangle" })).value.nodes.map(({ id }) => id), [ids.button, ids.old]);
        assert.deepEqual((await run("find_nodes", { kind: "rectangle", page: "Archive" })).value.nodes.map(({ id }) => id), [ids.old]);
        const one = (await run("find_nodes", { limit: 1 })).value;
        assert.deepEqual([one.nodes.length, one.truncated], [1, true]);
        const image = await run("export_image", { node: ids.old, format: "jpeg" });
        assert.deepEqual([image.value, image.bytes.length], [{ mimeType: "image/jpeg" }, 8]);
        assert.deepEqual(fake.undo, [], "reads leave no undo step");
    });

    test(`${tool}: each write is one undo step, and says what was before`, async () => {
        const { run, ids, fake, printOf } = await prepared();
        const undone = () => fake.undo.length;
        const text = await run("set_text", { node: ids.text, text: "Sign in" });
        assert.deepEqual(text.value, { node: ids.text, old: "Log in" });
        assert.equal((await printOf(ids.text)).text, "Sign in");
        assert.deepEqual((await run("set_fill", { node: ids.button, color: "#00ff00", opacity: 0.25 })).value.old, "#ff0000");
        const filled = await printOf(ids.button);
        assert.deepEqual([filled.fill, filled.opacity], ["#00ff00", 0.25]);
        await run("resize_node", { node: ids.button, width: 20, height: 30 });
        await run("rename_node", { node: ids.button, name: "Go" });
        await run("move_node", { node: ids.button, x: 7, y: 8 });
        const button = await printOf(ids.button);
        assert.deepEqual([button.name, button.box], ["Go", { x: 7, y: 8, width: 20, height: 30 }]);
        assert.deepEqual([undone(), fake.undo.slice(0, 3)], tool === "penpot" ? [5, ["", "fills", "resize"]] : [3, ["characters", "fills", "resize"]]);
        const made = await run("create_frame", { x: 1, y: 2, width: 30, height: 40, name: "Panel", fill: "#0000ff", parent: ids.frame });
        const panel = await printOf(made.value.node);
        assert.deepEqual([panel.name, panel.parent, panel.box, panel.fill], ["Panel", ids.frame, { x: 1, y: 2, width: 30, height: 40 }, "#0000ff"]);
        await run("create_rectangle", { x: 1, y: 2, width: 3, height: 4 });
        const words = await run("create_text", { x: 1, y: 2, text: "Hello", fontSize: 20 });
        assert.equal((await printOf(words.value.node)).text, "Hello");
        await run("move_node", { node: ids.button, x: 1, y: 1, parent: made.value.node });
        assert.equal((await printOf(ids.button)).parent, made.value.node);
        const gone = await run("delete_node", { node: ids.frame });
        assert.deepEqual(gone.value, { node: ids.frame, deleted: 4 });
        await assert.rejects(printOf(ids.frame), /no_such_node/);
        const rest = fake.undo.slice(-5);
        assert.deepEqual(rest, tool === "penpot"
            ? ["create+insert+resize", "create+resize", "create", "insert", "remove"]
            : ["create+insert+resize", "create+resize", "create+characters", "insert", "remove"]);
    });

    test(`${tool}: a changed target is stale, and nothing is done`, async () => {
        const { run, ids, fake, printOf } = await prepared();
        const changes = [
            (node) => { node.name = "Other"; }, (node) => { node.x += 1; }, (node) => { node.width += 1; },
            (node) => {
                node.remove();
                node.removed = false;
                const top = fake.page.top ?? fake.page;
                top.held.push(node);
                node.holder = top;
            },
        ];
        for (const change of changes) {
            const ended = await run("rename_node", { node: ids.button, name: "Changed" }, { meanwhile: () => change(fake.known(ids.button)) });
            assert.equal(ended.outcome, "stale");
            assert.notEqual((await printOf(ids.button)).name, "Changed");
        }
        // What is inside a node counts for the node.
        const inside = await run("delete_node", { node: ids.frame }, { meanwhile: () => fake.known(ids.text).remove() });
        assert.equal(inside.outcome, "stale");
        const gone = await run("rename_node", { node: ids.button, name: "Changed" }, { meanwhile: () => fake.known(ids.button).remove() });
        assert.equal(gone.outcome, "stale");
    });

    test(`${tool}: a deletion that would take along more or less than the card said is stale`, async () => {
        const { run, ids, fake } = await prepared();
        const ended = await run("delete_node", { node: ids.frame }, { meanwhile: () => fake.known(ids.button).remove() });
        assert.equal(ended.outcome, "stale");
    });

    test(`${tool}: another page in view than the card was made for is stale, whatever the action, and nothing is done`, async () => {
        const { run, ids, fake } = await prepared();
        const [login, archive] = [fake.page, fake.other];
        const turnPage = () => { fake.page = fake.page === login ? archive : login; };
        const size = { x: 1, y: 2, width: 3, height: 4 };
        const writes = {
            create_rectangle: size, create_frame: { ...size, parent: ids.frame }, create_text: { x: 1, y: 2, text: "Hello" },
            set_text: { node: ids.text, text: "x" }, set_fill: { node: ids.button, color: "#00ff00" }, move_node: { node: ids.button, x: 0, y: 0 },
            resize_node: { node: ids.button, width: 1, height: 1 }, rename_node: { node: ids.button, name: "x" }, delete_node: { node: ids.button },
        };
        assert.deepEqual(Object.keys(writes).sort(), Object.keys(core.ACTIONS).filter((action) => !["read", "export"].includes(core.ACTIONS[action].effect)).sort());
        const made = fake.made.length;
        for (const [action, args] of Object.entries(writes)) {
            const ended = await run(action, args, { meanwhile: turnPage });
            assert.deepEqual([ended.outcome, ended.code], ["stale", "view_changed"], action);
            turnPage();
        }
        assert.deepEqual([fake.made.length, fake.undo], [made, []]);
        // What is read by its own id is where it was.
        assert.equal((await run("get_node", { node: ids.text }, { meanwhile: turnPage })).outcome, "succeeded");
        // A page of another name is still the same page.
        assert.equal((await run("create_rectangle", size, { meanwhile: () => { fake.page.name = "Renamed"; } })).outcome, "succeeded");
    });

    test(`${tool}: the selection that is read is the one on the card`, async () => {
        const { look, run, ids, fake } = await prepared();
        fake.selected = [ids.text, ids.button];
        const { where } = await look("get_selection", {});
        assert.deepEqual([where.page.name, where.selection.map(({ kind, name }) => [kind, name])], ["Login", [["text", "Title"], ["rectangle", "Button"]]]);
        for (const selected of [[ids.text], [], [ids.text, ids.frame]]) {
            const ended = await run("get_selection", {}, { meanwhile: () => { fake.selected = selected; } });
            assert.deepEqual([ended.outcome, ended.code, ended.value], ["stale", "view_changed", null]);
            fake.selected = [ids.text, ids.button];
        }
        // No tool promises an order.
        assert.equal((await run("get_selection", {}, { meanwhile: () => { fake.selected = [ids.button, ids.text]; } })).outcome, "succeeded");
    });

    test(`${tool}: what was not shown is not touched, and what comes too late neither`, async () => {
        const { ask, run, look, ids, printOf } = await prepared();
        const args = { node: ids.button, name: "Changed" };
        const { where } = await look("rename_node", args);
        const none = await ask({ ask: "act", action: "rename_node", arguments: args, expect: [], where, watch: [], until: Date.now() + 60_000 });
        assert.equal(none.outcome, "stale");
        const made = { x: 0, y: 0, width: 5, height: 5 };
        const nowhere = await ask({ ask: "act", action: "create_frame", arguments: made, expect: [], where: null, watch: [], until: Date.now() + 60_000 });
        assert.deepEqual([nowhere.outcome, nowhere.code], ["stale", "view_changed"]);
        const late = await run("rename_node", args, { until: Date.now() - 1 });
        assert.deepEqual([late.outcome, late.code], ["failed", "too_late"]);
        const unknown = await ask({ ask: "act", action: "constructor", arguments: {}, expect: [], where: null, watch: [], until: Date.now() + 60_000 });
        assert.deepEqual([unknown.outcome, unknown.code], ["failed", "unknown_action"]);
        assert.equal((await printOf(ids.button)).name, "Button");
    });

    test(`${tool}: what fails in the middle is put back; what cannot be is unknown`, async () => {
        const { run, ids, fake, printOf } = await prepared();
        const before = fake.made.length;
        fake.breaks = "resize";
        const failed = await run("create_rectangle", { x: 0, y: 0, width: 5, height: 5 });
        assert.deepEqual([failed.outcome, failed.code], ["failed", "host"]);
        assert.equal(fake.made[before].holder, null, "the half-made node is gone");
        fake.breaks = "insert";
        const moved = await run("move_node", { node: ids.button, x: 1, y: 1, parent: (await run("create_frame", { x: 0, y: 0, width: 5, height: 5 })).value?.node ?? ids.frame });
        assert.equal(moved.outcome, "failed");
        assert.deepEqual((await printOf(ids.button)).parent, ids.frame);
        fake.breaks = "resize";
        const remove = fake.known(ids.button).constructor.prototype.remove;
        fake.known(ids.button).constructor.prototype.remove = () => { throw new Error("no"); };
        try {
            assert.equal((await run("create_rectangle", { x: 0, y: 0, width: 5, height: 5 })).outcome, "unknown");
        } finally {
            fake.known(ids.button).constructor.prototype.remove = remove;
        }
    });

    test(`${tool}: what cannot be shown says why`, async () => {
        const { look, ids, fake } = await prepared();
        const cases = [
            ["no_such_node", "rename_node", { node: "nowhere", name: "x" }],
            ["page_not_active", "rename_node", { node: ids.old, name: "x" }],
            ["not_a_text", "set_text", { node: ids.button, text: "x" }],
            ["not_a_container", "move_node", { node: ids.text, x: 0, y: 0, parent: ids.button }],
            ["inside_itself", "move_node", { node: ids.frame, x: 0, y: 0, parent: ids.frame }],
            ["no_such_node", "delete_node", { node: tool === "penpot" ? "root-of-page-1" : "0:1" }],
        ];
        for (const [why, action, args] of cases) await assert.rejects(look(action, args), { message: why }, why);
        fake.known(ids.button)[tool === "penpot" ? "blocked" : "locked"] = true;
        await assert.rejects(look("rename_node", { node: ids.button, name: "x" }), { message: "node_locked" });
    });

    test(`${tool}: half a character in the file, or where a text is cut, leaves everything with a canonical form`, async () => {
        const { run, ids, fake, printOf } = await prepared();
        fake.known(ids.frame).name = "\ud800";
        const text = fake.known(ids.text);
        text[tool === "penpot" ? "characters" : "words"] = `${"x".repeat(19_999)}😀`;
        const print = await printOf(ids.text);
        assert.equal(print.text.length, 20_000);
        for (const value of [print, await printOf(ids.frame), (await run("get_node", { node: ids.frame })).value]) core.canonical(value);
        assert.equal((await run("rename_node", { node: ids.frame, name: "Whole" })).value.old, "\ufffd");
    });

    test(`${tool}: after an act it tells how the watched nodes and the new one are now`, async () => {
        const { run, ids, printOf } = await prepared();
        const made = await run("create_rectangle", { x: 0, y: 0, width: 5, height: 5, parent: ids.frame }, { watch: [ids.frame, "nowhere"] });
        assert.deepEqual(made.after.map(({ id, inside }) => [id, inside]), [[ids.frame, 3], [made.value.node, 0]]);
        assert.deepEqual(made.after[0], await printOf(ids.frame));
    });
}

test("penpot: only the page that was opened may ask", async () => {
    const { fake } = hosts.penpot();
    let answers = 0;
    fake.toPage = () => { answers++; };
    await fake.toScript({ relay: "ask", token: "", n: 1, question: { ask: "names" } });
    await fake.toScript({ relay: "ask", token: "guess", n: 1, question: { ask: "names" } });
    await fake.toScript(null);
    assert.equal(answers, 0);
    const token = new URL(fake.url, "https://svc.example").hash.slice(1);
    assert.ok(token.length > 20);
    await fake.toScript({ relay: "ask", token, n: 1, question: { ask: "names" } });
    assert.equal(answers, 1);
});

test("penpot: another page or file is told", () => {
    const { fake, changes } = hosts.penpot();
    fake.page.name = "Second";
    fake.listeners.get("pagechange")();
    fake.listeners.get("filechange")();
    assert.deepEqual(changes.map(({ page }) => page), ["Second", "Second"]);
});

test("figma: the page is put together whole", () => {
    const { fake } = hosts.figma();
    assert.doesNotMatch(fake.html, /<script src|<link|undefined<\//);
    assert.match(fake.html, /<body data-tool="figma">/);
    assert.equal(fake.html.split("<script>").length, 9);
    assert.ok(fake.html.includes("class Conversation"));
});
