// The conversation with a daemon that the tests play: pairing, cards, grants, the journal, and every way it can end.
import assert from "node:assert/strict";
import { test } from "node:test";

import { core } from "./load.js";
import { Bench, hash, newId, newKey, sorted, turn } from "./daemon.js";

const rename = (bench, name = "Go", node = "button") => bench.step("rename_node", { node, name });
const nameOf = (bench, id = "button") => bench.fake.known(id).name;
const approved = async (bench, ...steps) => {
    const proposal = await bench.propose(...steps);
    await bench.approve(proposal);
    return proposal;
};

test("pairing: the daemon first, then the code, then a person, and only then ready", async () => {
    const bench = new Bench();
    await bench.conversation.start(bench.address);
    assert.equal(bench.socket.url, "wss://svc.example/relay/v1/connect");
    assert.deepEqual(bench.socket.sent, []);
    const hello = await bench.greet();
    assert.deepEqual([hello.tool, hello.session, hello.actions.length, hello.file], ["penpot", null, 14, { key: "file-1", name: "Web shop", page: "Login" }]);
    assert.equal(hello.key.d, undefined);
    const proof = bench.last("proof");
    assert.deepEqual(proof.journal, []);
    assert.ok(bench.signedByDevice(proof.signature, `svc.relay.v1 device\n${bench.nonce}\n${hash(sorted(hello))}\n${hash("[]")}`));
    const pairing = newId();
    await bench.give({ type: "pairing", pairing, code: "7K2M-9QXV", expiresAt: "2026-11-22T20:00:00Z" });
    assert.deepEqual([bench.view.status, bench.view.code], ["code", "7K2M-9QXV"]);
    // A person takes longer than a page may sleep, and there may be no pings yet.
    bench.pass(60_000);
    await bench.give({ type: "claimed", pairing, account: "ann", client: "agent" });
    assert.deepEqual([bench.view.status, bench.view.account, bench.view.client, bench.view.code], ["confirm", "ann", "agent", null]);
    await bench.conversation.confirm(true);
    await bench.conversation.confirm(true);
    assert.equal(bench.frames("confirm").length, 1);
    assert.ok(bench.signedByDevice(bench.last("confirm").signature, `svc.relay.v1 confirm\n${bench.nonce}\n${pairing}\naccept`));
    assert.ok(bench.views.every(({ status }) => status !== "ready"));
    await bench.makeReady();
    assert.equal(bench.view.status, "ready");
});

test("pairing: a refusal is signed as one", async () => {
    const bench = new Bench();
    await bench.conversation.start(bench.address);
    await bench.greet();
    const pairing = newId();
    await bench.give({ type: "claimed", pairing, account: "ann", client: "agent" });
    await bench.conversation.confirm(false);
    const { accept, signature } = bench.last("confirm");
    assert.equal(accept, false);
    assert.ok(bench.signedByDevice(signature, `svc.relay.v1 confirm\n${bench.nonce}\n${pairing}\nrefuse`));
});

test("a daemon that cannot prove itself gets no proof, nor one with another key", async () => {
    const forged = new Bench();
    await forged.conversation.start(forged.address);
    await forged.greet({ text: "svc.relay.v1 daemon\nsomething else" });
    assert.deepEqual([forged.view.status, forged.frames("proof").length, forged.socket.closed.code], ["stranger", 0, 4403]);

    const bench = await new Bench().start();
    await bench.close(1006);
    await bench.wake();
    await bench.greet({ key: newKey() });
    assert.deepEqual([bench.view.status, bench.frames("proof").length], ["stranger", 0]);
    await bench.wake();
    assert.equal(bench.sockets.length, 2, "it does not come again by itself");
    // A new pairing is a person's decision.
    const before = bench.last("hello").key;
    await bench.conversation.again();
    await bench.greet({ key: newKey() });
    assert.equal(bench.frames("proof").length, 1);
    assert.notDeepEqual(bench.last("hello").key, before);
});

test("the daemon's key outlives the page", async () => {
    const { fake } = await new Bench().start();
    const reloaded = new Bench({ fake });
    await reloaded.conversation.start(reloaded.address);
    await reloaded.greet();
    assert.deepEqual([reloaded.view.status, reloaded.frames("proof").length], ["stranger", 0]);
});

test("the page keeps its key and session over a reload, and a file without a session has none", async () => {
    const { fake, key, session } = await new Bench().start();
    const again = new Bench({ fake, key });
    await again.conversation.start(again.address);
    const hello = await again.greet();
    assert.equal(hello.session, session);
    const elsewhere = new Bench({ fake, key, address: "https://other.example" });
    await elsewhere.conversation.start(elsewhere.address);
    const other = await elsewhere.greet();
    assert.equal(other.session, null);
    assert.notEqual(other.key.x, hello.key.x);
    assert.notEqual(other.instance, hello.instance);
});

test("a card is shown, approved, run once, and told", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    const proposal = await bench.propose(step);
    const { card } = bench.view.card;
    assert.deepEqual([card.client, card.steps[0].title, card.steps[0].rows], ["agent", "Rename rectangle “Button”", [{ label: "Name", old: "“Button”", now: "“Go”" }]]);
    assert.equal(nameOf(bench), "Button");
    const { previewSha256 } = bench.last("shown");
    await bench.approve(proposal);
    await bench.approve(proposal);
    assert.equal(bench.frames("decision").length, 1);
    const decision = bench.last("decision");
    assert.deepEqual([decision.decision, decision.by, decision.previewSha256], ["approved", "person", previewSha256]);
    const text = ["svc.relay.v1 decision", bench.session, bench.epoch, proposal.proposal, step.argumentsSha256, previewSha256, "approved", "person"].join("\n");
    assert.ok(bench.signedByDevice(decision.signature, text));
    assert.equal(nameOf(bench), "Button", "an approval alone does nothing");
    const { grant } = await bench.execute(step);
    assert.equal(nameOf(bench), "Go");
    assert.deepEqual(bench.last("result"), { type: "result", grant, outcome: "succeeded", value: { node: "button", old: "Button" } });
    assert.deepEqual(bench.journal(), [[grant, "succeeded"]]);
    await bench.give({ type: "settled", grant });
    assert.deepEqual(bench.journal(), []);
    assert.match(bench.view.log[0], /^Done, undo with Ctrl\+Z/);
});

test("a grant is run once: the same again, or another for the same, closes 4403", async () => {
    for (const again of [(grant) => ({ grant }), () => ({})]) {
        const bench = await new Bench().start();
        const step = rename(bench);
        await approved(bench, step);
        const { grant } = await bench.execute(step);
        bench.fake.known("button").name = "Since";
        await bench.execute(step, again(grant));
        assert.deepEqual([bench.socket.closed.code, bench.view.status, nameOf(bench)], [4403, "refused", "Since"]);
        assert.equal(bench.asked.filter(({ ask }) => ask === "act").length, 1);
    }
});

test("what was not approved closes 4403 and is not run", async () => {
    const cases = {
        "never proposed": async (bench) => bench.execute(rename(bench)),
        "shown only": async (bench) => {
            const step = rename(bench);
            await bench.propose(step);
            await bench.execute(step);
        },
        "denied": async (bench) => {
            const step = rename(bench);
            const { proposal } = await bench.propose(step);
            await bench.conversation.approvals.decide(proposal, "denied");
            await bench.execute(step);
        },
        "another digest": async (bench) => {
            const step = rename(bench);
            await approved(bench, step);
            await bench.execute(step, { argumentsSha256: rename(bench, "Else").argumentsSha256 });
        },
        "out of order": async (bench) => {
            const steps = [rename(bench, "One"), rename(bench, "Two")];
            await approved(bench, ...steps);
            await bench.execute(steps[1]);
        },
    };
    for (const [name, play] of Object.entries(cases)) {
        const bench = await new Bench().start();
        await play(bench);
        assert.deepEqual([bench.socket.closed?.code, nameOf(bench), bench.frames("result").length], [4403, "Button", 0], name);
    }
});

test("a proposal that lies about its digest or effect, or comes twice, closes 4400", async () => {
    const lies = [
        (bench) => bench.step("rename_node", { node: "button", name: "Go" }, { argumentsSha256: "0".repeat(64) }),
        (bench) => bench.step("delete_node", { node: "button" }, { effect: "read" }),
    ];
    for (const lie of lies) {
        const bench = await new Bench().start();
        await bench.propose(lie(bench));
        assert.deepEqual([bench.socket.closed.code, bench.view.card], [4400, null]);
    }
    const bench = await new Bench().start();
    const frame = await bench.propose(rename(bench));
    await bench.give(frame);
    assert.equal(bench.socket.closed.code, 4400);
});

test("what cannot be shown is denied by the plugin, with the reason, and no card", async () => {
    const cases = [["no_such_node", "rename_node", { node: "nowhere", name: "x" }], ["page_not_active", "delete_node", { node: "old" }],
        ["bad_arguments", "rename_node", { node: "button" }], ["unknown_action", "run_code", { code: "1" }], ["bad_reference", "delete_node", { node: { step: 0 } }]];
    const bench = await new Bench().start();
    for (const [reason, action, args] of cases) {
        const step = bench.step(action, args);
        const { proposal } = await bench.propose(step);
        const decision = bench.last("decision");
        assert.deepEqual([decision.proposal, decision.decision, decision.by, decision.reason], [proposal, "denied", "plugin", reason]);
        assert.ok(bench.signedByDevice(decision.signature, ["svc.relay.v1 decision", bench.session, 1, proposal, step.argumentsSha256, decision.previewSha256, "denied", "plugin"].join("\n")));
        assert.equal(bench.view.card, null);
    }
    assert.equal(bench.frames("shown").length, 0);
});

test("cards stand one after the other, and a withdrawn one goes", async () => {
    const bench = await new Bench().start();
    const first = await bench.propose(rename(bench, "One"));
    const second = await bench.propose(rename(bench, "Two"));
    assert.deepEqual([bench.view.card.proposal, bench.view.behind, bench.frames("shown").length], [first.proposal, 1, 1]);
    await bench.conversation.approvals.decide(second.proposal, "approved");
    assert.equal(bench.frames("decision").length, 0, "what was not on the screen cannot be approved");
    await bench.give({ type: "withdraw", proposal: first.proposal, reason: "cancelled" });
    assert.deepEqual([bench.view.card.proposal, bench.view.behind, bench.last("shown").proposal], [second.proposal, 0, second.proposal]);
    await bench.conversation.approvals.decide(first.proposal, "approved");
    assert.equal(bench.frames("decision").length, 0);
});

test("an approved card that is withdrawn goes, with the reason, and is not run", async () => {
    for (const [reason, words] of [["cancelled", "Cancelled by the client"], ["expired", "Expired"], ["denied_by_operator", "Denied by an operator"]]) {
        const bench = await new Bench().start();
        const step = rename(bench);
        const { proposal } = await approved(bench, step);
        assert.equal(bench.view.running.proposal, proposal);
        await bench.give({ type: "withdraw", proposal, reason });
        assert.deepEqual([bench.view.running, bench.view.card, bench.view.log[0]], [null, null, `${words}: Rename rectangle “Button”`]);
        // The order may have been on its way.
        const { grant } = await bench.execute(step);
        assert.deepEqual(bench.last("result"), { type: "result", grant, outcome: "failed", error: { code: "stopped" } });
        assert.deepEqual([nameOf(bench), bench.socket.closed], ["Button", null]);
    }
});

test("what is withdrawn behind a step at work is what has not begun", async () => {
    const bench = await new Bench().start();
    const steps = [rename(bench, "One"), bench.step("delete_node", { node: "title" })];
    const { proposal } = await approved(bench, ...steps);
    let go = () => {};
    bench.answers = ({ ask }) => (ask === "act" ? new Promise((next) => { go = next; }) : undefined);
    await bench.execute(steps[0]);
    await bench.give({ type: "withdraw", proposal, reason: "cancelled" });
    assert.deepEqual([bench.view.running.title, bench.view.log[0]], ["Rename rectangle “Button”", "Cancelled by the client: Delete text “Title”"]);
    go();
    await turn();
    assert.deepEqual([bench.last("result").outcome, nameOf(bench), bench.view.running], ["succeeded", "One", null]);
});

test("steps behind one that is half done are not shown as at work", async () => {
    const bench = await new Bench().start();
    const steps = [bench.step("create_rectangle", { x: 0, y: 0, width: 5, height: 5 }), rename(bench)];
    await approved(bench, ...steps);
    bench.fake.breaks = "resize";
    const changing = bench.fake.changing.bind(bench.fake);
    bench.fake.changing = (what) => {
        if (what === "remove") throw new Error("no");
        changing(what);
    };
    await bench.execute(steps[0]);
    assert.deepEqual([bench.frames("result").length, bench.view.running], [0, null]);
    await bench.execute(steps[1]);
    assert.deepEqual([bench.last("result").error.code, nameOf(bench)], ["stopped", "Button"]);
});

test("a card that no person can see is not said to be shown, and not approved", async () => {
    const bench = await new Bench().start();
    bench.isSeen = false;
    const step = rename(bench);
    const proposal = await bench.propose(step);
    await bench.approve(proposal);
    assert.deepEqual([bench.view.card.proposal, bench.frames("shown").length, bench.frames("decision").length], [proposal.proposal, 0, 0]);
    bench.isSeen = true;
    bench.conversation.approvals.tellShown();
    bench.conversation.approvals.tellShown();
    assert.deepEqual(bench.frames("shown").map(({ proposal: of }) => of), [proposal.proposal]);
    await bench.approve(proposal);
    assert.equal(bench.last("decision").decision, "approved");
    // The card before it is still in view while its decision is signed.
    const [first, second] = [await bench.propose(rename(bench, "One")), await bench.propose(rename(bench, "Two"))];
    const denied = bench.conversation.approvals.decide(first.proposal, "denied");
    bench.conversation.approvals.tellShown();
    assert.equal(bench.last("shown").proposal, first.proposal);
    await denied;
    assert.equal(bench.last("shown").proposal, second.proposal);
});

test("a file that changed since the card is stale, and nothing is done", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    bench.fake.known("button").x += 1;
    const { grant } = await bench.execute(step);
    assert.deepEqual(bench.last("result"), { type: "result", grant, outcome: "stale", error: { code: "target_changed" } });
    assert.deepEqual([nameOf(bench), bench.journal()], ["Button", [[grant, "stale"]]]);
});

test("what was approved for one page is not made on another", async () => {
    const bench = await new Bench().start();
    const steps = [1, 2].map((x) => bench.step("create_rectangle", { x, y: 0, width: 5, height: 5 }));
    await approved(bench, ...steps);
    const [login, made] = [bench.fake.page, bench.fake.made.length];
    assert.deepEqual(bench.views.findLast(({ card }) => card).card.card.steps.map(({ rows }) => rows.at(-1)), Array(2).fill({ label: "Page", old: null, now: "“Login”" }));
    await bench.execute(steps[0]);
    bench.fake.page = bench.fake.other;
    await bench.conversation.changed({ key: "file-1", name: "Web shop", page: "Archive" });
    const { grant } = await bench.execute(steps[1]);
    assert.deepEqual(bench.last("result"), { type: "result", grant, outcome: "stale", error: { code: "view_changed" } });
    assert.deepEqual([bench.fake.made.length, login.top.held.length, bench.fake.other.top.held.length], [made + 1, 2, 1]);
    assert.match(bench.view.log[0], /^Another page or selection is in view, nothing was done: Create a rectangle$/);
});

test("the journal says begun before the act, and the outcome before the result", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    const seen = [];
    bench.answers = ({ ask }) => {
        if (ask === "act") seen.push([ask, bench.journal()[0]?.[1], bench.frames("result").length]);
        if (ask === "save") seen.push([ask, bench.journal()[0]?.[1], bench.frames("result").length]);
    };
    await bench.execute(step);
    assert.deepEqual(seen, [["save", undefined, 0], ["act", "begun", 0], ["save", "begun", 0]]);
    assert.equal(bench.frames("result").length, 1);
});

test("without a journal nothing is run", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    bench.answers = ({ ask }) => {
        if (ask === "save") throw new Error("the storage is full");
    };
    await bench.execute(step);
    assert.deepEqual([bench.last("result").outcome, bench.last("result").error.code, nameOf(bench)], ["failed", "no_storage", "Button"]);
});

test("a page that dies in the middle leaves begun, and the next page says so with its proof", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    bench.answers = ({ ask }) => (ask === "act" ? new Promise(() => {}) : undefined);
    const { grant } = await bench.execute(step);
    const next = new Bench({ fake: bench.fake, key: bench.key });
    await next.conversation.start(next.address);
    const hello = await next.greet();
    const { journal, signature } = next.last("proof");
    assert.deepEqual(journal, [{ grant, outcome: "begun" }]);
    assert.ok(next.signedByDevice(signature, `svc.relay.v1 device\n${next.nonce}\n${hash(sorted(hello))}\n${hash(sorted(journal))}`));
    await next.give({ type: "settled", grant });
    assert.deepEqual(next.journal(), []);
});

test("a result that ends while the socket is away is told by the next one, once", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    let go = () => {};
    bench.answers = ({ ask }) => (ask === "act" ? new Promise((next) => { go = next; }) : undefined);
    const { grant } = await bench.execute(step);
    await bench.close(1006);
    await bench.wake();
    await bench.greet();
    assert.deepEqual(bench.last("proof").journal, [{ grant, outcome: "begun" }]);
    go();
    await turn();
    assert.equal(bench.frames("result").length, 0);
    await bench.makeReady();
    assert.deepEqual(bench.frames("result").map(({ grant: of, outcome }) => [of, outcome]), [[grant, "succeeded"]]);
    assert.equal(nameOf(bench), "Go");
});

test("a socket that ends while the journal is written ends the run before the act", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    let go = () => {};
    bench.answers = ({ ask }) => (ask === "save" ? new Promise((next) => { go = next; }) : undefined);
    const { grant } = await bench.execute(step);
    await bench.close(1006);
    bench.answers = null;
    go();
    await turn();
    assert.deepEqual([nameOf(bench), bench.journal()], ["Button", [[grant, "failed"]]]);
});

test("a page that stood still runs nothing of what it had not read", async () => {
    for (const freeze of [(bench) => bench.pass(25_001), (bench) => { bench.wall += 25_001; }, (bench) => { bench.steady += 25_001; }]) {
        const bench = await new Bench().start();
        const step = rename(bench);
        await approved(bench, step);
        freeze(bench);
        const { socket } = bench;
        await bench.execute(step);
        await bench.give({ type: "ping", n: 1 }, socket);
        assert.deepEqual([nameOf(bench), socket.closed.code, bench.frames("pong", socket).length], ["Button", 1000, 0]);
        assert.equal(bench.sockets.length, 2, "it comes again at once");
        assert.ok(bench.views.some(({ status }) => status === "asleep"));
    }
    // From the first ping on, a gap means the same before `ready`.
    const pairing = new Bench();
    await pairing.conversation.start(pairing.address);
    await pairing.greet();
    await pairing.give({ type: "ping", n: 1 });
    pairing.pass(25_001);
    await pairing.give({ type: "claimed", pairing: newId(), account: "ann", client: "agent" });
    assert.deepEqual([pairing.sockets.length, pairing.views.some(({ status }) => status === "confirm")], [2, false]);
    const awake = await new Bench().start();
    for (let n = 0; n < 5; n++) {
        awake.pass(20_000);
        await awake.give({ type: "ping", n });
    }
    assert.deepEqual([awake.frames("pong").length, awake.sockets.length], [5, 1]);
    assert.deepEqual(awake.last("pong"), { type: "pong", n: 4, visible: true });
});

test("a page that stood still between reading and acting does not act", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    await approved(bench, step);
    bench.answers = ({ ask }) => {
        if (ask === "save") bench.pass(30_001);
        bench.answers = null;
    };
    await bench.execute(step);
    assert.deepEqual([bench.last("result").outcome, bench.last("result").error.code, nameOf(bench)], ["failed", "too_late", "Button"]);

    // Nor when the order waited behind another frame, for which the page looked at the file.
    const queued = await new Bench().start();
    const waiting = rename(queued);
    await approved(queued, waiting);
    let go = () => {};
    queued.answers = ({ ask }) => (ask === "look" ? new Promise((next) => { go = next; }) : undefined);
    await queued.propose(rename(queued, "Other"));
    await queued.execute(waiting);
    queued.pass(25_001);
    queued.answers = null;
    go();
    await turn();
    assert.deepEqual([queued.last("result").outcome, queued.last("result").error.code, nameOf(queued)], ["failed", "too_late", "Button"]);
});

test("what is half done is not said to have failed", async () => {
    const bench = await new Bench().start();
    const step = bench.step("create_rectangle", { x: 0, y: 0, width: 5, height: 5 });
    await approved(bench, step);
    bench.fake.breaks = "resize";
    const changing = bench.fake.changing.bind(bench.fake);
    bench.fake.changing = (what) => {
        if (what === "remove") throw new Error("no");
        changing(what);
    };
    const { grant } = await bench.execute(step);
    assert.deepEqual([bench.frames("result").length, bench.journal()], [0, [[grant, "begun"]]]);
    assert.match(bench.view.log[0], /^Look at the file/);
});

test("steps run in order, later ones on what earlier ones made and changed", async () => {
    const bench = await new Bench().start();
    const steps = [
        bench.step("create_frame", { x: 1, y: 2, width: 30, height: 40, parent: "board" }),
        bench.step("move_node", { node: "button", x: 3, y: 4, parent: { step: 0 } }),
        rename(bench, "Moved"),
        bench.step("rename_node", { node: { step: 0 }, name: "Panel" }),
    ];
    await approved(bench, ...steps);
    for (const step of steps) await bench.execute(step);
    assert.deepEqual(bench.frames("result").map(({ outcome }) => outcome), ["succeeded", "succeeded", "succeeded", "succeeded"]);
    assert.deepEqual([nameOf(bench), bench.fake.known("button").holder.name], ["Moved", "Panel"]);
    assert.equal(bench.fake.undo.length, 4, "one undo step each");
    assert.equal(bench.view.running, null);
});

test("after a step that did not succeed no later one is run", async () => {
    const bench = await new Bench().start();
    const steps = [rename(bench, "One"), rename(bench, "Two", "title")];
    await approved(bench, ...steps);
    bench.fake.known("button").x += 1;
    await bench.execute(steps[0]);
    await bench.execute(steps[1]);
    assert.deepEqual(bench.frames("result").map(({ outcome }) => outcome), ["stale", "failed"]);
    assert.equal(nameOf(bench, "title"), "Title");
});

test("a person can stop what has not begun", async () => {
    const bench = await new Bench().start();
    const steps = [rename(bench, "One"), rename(bench, "Two", "title")];
    const { proposal } = await approved(bench, ...steps);
    await bench.execute(steps[0]);
    await bench.conversation.approvals.stop(proposal);
    assert.deepEqual(bench.frames("decision").map(({ decision }) => decision), ["approved", "denied"]);
    await bench.execute(steps[1]);
    assert.deepEqual([bench.last("result").outcome, bench.last("result").error.code, nameOf(bench, "title"), bench.socket.closed], ["failed", "stopped", "Title", null]);
});

test("an allowance covers reads until its end, and no picture and no write", async () => {
    const bench = await new Bench().start();
    await bench.conversation.approvals.allow(15);
    const { minutes, signature } = bench.last("allowance");
    assert.equal(minutes, 15);
    assert.ok(bench.signedByDevice(signature, `svc.relay.v1 allowance\n${bench.nonce}\n${bench.session}\n${bench.epoch}\n15`));
    assert.equal(bench.view.allowance.until, bench.wall + 900_000);
    const read = () => bench.step("get_node", { node: "button" });
    const step = read();
    await bench.propose(step);
    assert.deepEqual([bench.last("decision").by, bench.view.card, bench.frames("shown").length], ["allowance", null, 0]);
    await bench.execute(step);
    assert.equal(bench.last("result").value.node.id, "button");
    for (const other of [bench.step("export_image", { node: "button" }), rename(bench)]) {
        const { proposal } = await bench.propose(read(), other);
        assert.equal(bench.view.card.proposal, proposal);
        await bench.conversation.approvals.decide(proposal, "denied");
    }
    for (let spent = 0; spent < 900_000; spent += 20_000) {
        bench.pass(20_000);
        await bench.give({ type: "ping", n: 1 });
    }
    await bench.propose(read());
    assert.deepEqual([bench.view.allowance, bench.frames("shown").length], [null, 3]);
    await bench.conversation.approvals.allow(60);
    await bench.conversation.approvals.allow(0);
    assert.deepEqual([bench.last("allowance").minutes, bench.view.allowance], [0, null]);
    await bench.propose(read());
    assert.equal(bench.frames("decision").filter(({ by }) => by === "allowance").length, 1);
});

test("another file takes the cards, the approvals, the allowance, and says so", async () => {
    const bench = await new Bench().start();
    await bench.conversation.approvals.allow(60);
    const step = rename(bench);
    await approved(bench, step);
    await bench.propose(rename(bench, "Waiting"));
    const file = { key: "file-2", name: "Other", page: "Home" };
    await bench.conversation.changed(file);
    assert.deepEqual([bench.last("context").file, bench.view.status, bench.view.card, bench.view.allowance], [file, "moving", null, null]);
    await bench.execute(step);
    assert.deepEqual([bench.last("result").outcome, nameOf(bench), bench.socket.closed], ["stale", "Button", null]);
    await bench.give({ type: "claimed", pairing: newId(), account: "ann", client: "agent" });
    assert.equal(bench.view.status, "confirm");
    bench.session = newId();
    await bench.makeReady();
    assert.equal(bench.view.status, "ready");
    assert.equal(bench.fake.storage.kept.get("svc.relay session https://svc.example file-2"), bench.session);
});

test("another page in view is told, and takes nothing", async () => {
    const bench = await new Bench().start();
    await bench.propose(rename(bench));
    await bench.conversation.changed({ key: "file-1", name: "Web shop", page: "Archive" });
    assert.deepEqual([bench.last("context").file.page, bench.view.status, bench.view.card === null], ["Archive", "ready", false]);
});

test("frames that are none, or come out of order, close 4400, and it does not come again", async () => {
    const ready = { type: "ready", session: newId(), epoch: 1, account: "ann" };
    for (const frame of ["{", "[]", { type: "ready" }, { ...ready, more: 1 }, ready, { type: "challenge", nonce: "A".repeat(22), key: newKey().jwk, signature: "A".repeat(86) }]) {
        const bench = await new Bench().start();
        await bench.give(frame);
        await bench.wake();
        assert.deepEqual([bench.socket.closed?.code, bench.view.status, bench.sockets.length], [4400, "disagreed", 1], JSON.stringify(frame));
    }
    const early = new Bench();
    await early.conversation.start(early.address);
    early.socket.onopen();
    await early.give(ready);
    assert.deepEqual([early.socket.closed.code, early.frames("proof").length], [4400, 0]);
    const pinged = new Bench();
    await pinged.conversation.start(pinged.address);
    pinged.socket.onopen();
    await pinged.give({ type: "ping", n: 1 });
    assert.deepEqual([pinged.socket.closed.code, pinged.frames("pong").length], [4400, 0]);
});

test("each way to be closed is said in words, and comes again only where it may", async () => {
    const cases = [[1006, "away", 1000], [1012, "away", 1000], [4408, "away", 1000], [4429, "crowded", 60_000], [4401, "revoked", null],
        [4404, "ended", null], [4409, "elsewhere", null], [4410, "expired", null], [4426, "old", null], [4403, "refused", null], [4400, "disagreed", null]];
    for (const [code, status, wait] of cases) {
        const bench = await new Bench().start();
        await bench.close(code);
        assert.deepEqual([bench.view.status, bench.later[0]?.ms ?? null], [status, wait], code);
        await bench.wake();
        assert.equal(bench.sockets.length, wait === null ? 1 : 2, code);
        if (wait !== null) continue;
        await bench.conversation.again();
        const hello = await bench.greet();
        assert.equal(hello.session, ["revoked", "ended"].includes(status) ? null : bench.session, code);
        const [first] = bench.frames("hello", bench.sockets[0]);
        assert.equal(hello.key.x === first.key.x, status !== "revoked", code);
    }
});

test("pages that were turned away together do not come again together", async () => {
    for (const [code, most] of [[4429, 120_000], [1012, 2000], [4408, 2000]]) {
        const bench = await new Bench().start();
        bench.chance = 1;
        await bench.close(code);
        assert.equal(bench.later[0].ms, most, code);
    }
});

test("the wait grows until a session has lasted", async () => {
    const bench = await new Bench().start();
    const failures = () => bench.conversation.failures;
    for (let at = 1; at <= 3; at++) {
        await bench.close(1006);
        assert.equal(failures(), at);
        await bench.wake();
        await bench.greet();
        await bench.makeReady();
        bench.pass(20_000);
    }
    await bench.give({ type: "ping", n: 1 });
    bench.pass(20_000);
    await bench.close(1006);
    assert.equal(failures(), 1);
});

test("an old wait does not open a second socket", async () => {
    const bench = await new Bench().start();
    await bench.close(1006);
    await bench.conversation.again();
    await turn();
    await bench.wake();
    assert.equal(bench.sockets.length, 2);
});

test("a socket to this computer that never opened asks about the permission", async () => {
    for (const [mayReach, status] of [[false, "permission"], [true, "away"]]) {
        const bench = new Bench({ address: "http://127.0.0.1:7080" });
        bench.mayReach = mayReach;
        await bench.conversation.start(bench.address);
        await bench.close(1006);
        assert.equal(bench.view.status, status);
    }
    const plain = new Bench({ address: "http://svc.example" });
    await plain.conversation.start(plain.address);
    assert.deepEqual([plain.view.status, plain.sockets.length], ["https", 0]);
});

test("a broken connection drops the cards; the daemon shows them again", async () => {
    const bench = await new Bench().start();
    const frame = await bench.propose(rename(bench));
    const waiting = rename(bench, "Approved");
    await bench.close(1006);
    assert.deepEqual([bench.view.card, bench.view.status], [null, "away"]);
    await bench.conversation.approvals.decide(frame.proposal, "approved");
    assert.equal(bench.frames("decision").length, 0);
    await bench.wake();
    await bench.greet();
    await bench.makeReady();
    await bench.give(frame);
    await turn();
    assert.equal(bench.view.card.proposal, frame.proposal);
    await bench.execute(waiting);
    assert.equal(bench.socket.closed.code, 4403);
});

test("an approval that was lost with its socket is asked for again, and counts", async () => {
    const bench = await new Bench().start();
    const step = rename(bench);
    const frame = await bench.propose(step);
    await bench.approve(frame);
    await bench.close(1006);
    await bench.wake();
    await bench.greet();
    await bench.makeReady();
    await bench.give(frame);
    await turn();
    await bench.approve(frame);
    await bench.execute(step);
    assert.deepEqual([bench.last("result").outcome, nameOf(bench)], ["succeeded", "Go"]);
});

test("what is approved and waits for its turn leaves room for cards, and cards for nobody without end", async () => {
    const bench = await new Bench().start();
    for (let count = 0; count < 20; count++) await approved(bench, rename(bench, `Name ${count}`));
    assert.equal(bench.frames("decision").length, 20);
    for (let count = 0; count < 29; count++) await bench.propose(rename(bench, `Card ${count}`));
    assert.deepEqual([bench.view.behind, bench.socket.closed], [28, null]);
    await bench.propose(rename(bench, "One more"));
    assert.deepEqual([bench.socket.closed.code, bench.view.detail], [4400, "too_many_proposals"]);
});

test("a proof tells only of its own session, and a session that is forgotten leaves nothing", async () => {
    const bench = await new Bench().start();
    const [own, other] = [newId(), newId()];
    await bench.conversation.journal.write(own, bench.session, "succeeded", 1);
    await bench.conversation.journal.write(other, newId(), "succeeded", 1);
    await bench.close(1012);
    await bench.wake();
    await bench.greet();
    assert.deepEqual(bench.last("proof").journal, [{ grant: own, outcome: "succeeded" }]);
    await bench.makeReady();
    await bench.close(4404);
    assert.deepEqual(bench.journal(), [[other, "succeeded"]]);
});

test("what the daemon says is the problem is shown with the close", async () => {
    const bench = await new Bench().start();
    await bench.give({ type: "problem", code: "bad_frame", message: "the frame has no type\u202e" });
    await bench.close(4400);
    assert.deepEqual([bench.view.status, bench.view.detail], ["disagreed", "the frame has no type\\u{202e}"]);
});

test("leaving says bye and forgets the session", async () => {
    const bench = await new Bench().start();
    await bench.conversation.leave();
    assert.deepEqual([bench.last("bye"), bench.view.status, bench.socket.closed.code], [{ type: "bye", reason: "person" }, "left", 1000]);
    await bench.wake();
    assert.equal(bench.sockets.length, 1);
    await bench.conversation.again();
    assert.equal((await bench.greet()).session, null);
});

test("forgetting the computer revokes the device, and its key goes when the daemon has done so", async () => {
    const bench = await new Bench().start();
    const kept = (what) => bench.fake.storage.kept.has(`svc.relay ${what} https://svc.example`);
    bench.conversation.forgetDevice();
    bench.conversation.forgetDevice();
    assert.deepEqual([bench.frames("bye"), bench.view.status, kept("key")], [[{ type: "bye", reason: "forget" }], "ready", true]);
    await bench.close(4401);
    assert.deepEqual([bench.view.status, kept("key"), kept("daemon")], ["revoked", false, false]);
    await bench.wake();
    assert.equal(bench.sockets.length, 1);
});

test("a design tool that keeps nothing, or does not answer, is said", async () => {
    const bench = new Bench();
    bench.answers = ({ ask }) => {
        if (ask === "save") throw new Error("refused");
    };
    await bench.conversation.start(bench.address);
    assert.deepEqual([bench.view.status, bench.sockets.length], ["storage", 0]);
    // The same when it stops keeping things later.
    const later = new Bench();
    await later.conversation.start(later.address);
    await later.greet();
    later.answers = ({ ask }) => {
        if (ask === "save") throw new core.Refused("host");
    };
    await later.makeReady();
    assert.deepEqual([later.view.status, later.socket.closed.code], ["storage", 1000]);
});

test("a journal that is full runs nothing more", async () => {
    const bench = await new Bench().start();
    for (let at = 0; at < 64; at++) await bench.conversation.journal.write(newId(), bench.session, "succeeded", 1);
    const step = rename(bench);
    await approved(bench, step);
    await bench.execute(step);
    assert.deepEqual([bench.last("result").error.code, nameOf(bench)], ["journal_full", "Button"]);
    const next = new Bench({ fake: bench.fake, key: bench.key });
    await next.conversation.start(next.address);
    assert.equal(next.journal().length, 32, "a new page makes room");
});
