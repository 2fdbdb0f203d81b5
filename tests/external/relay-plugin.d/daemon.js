// The daemon's end of `svc.relay.v1`, played by a test, with clocks that only the test moves. Its digests and keys are
// Node's own, not those of the plugin.
import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";

import { core, startPenpot } from "./load.js";
import { FakePenpot } from "./penpot.js";

export const hash = (text) => createHash("sha256").update(text).digest("hex");
// Sorted members are all that RFC 8785 adds to what JSON.stringify does for what tests send.
export const sorted = (value) => JSON.stringify(value, (_, one) =>
    (one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one));

let ids = 0;
export const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;

// Only the cryptography leaves the thread. All else has settled when none of it is under way for a few turns.
let underWay = 0;
for (const name of ["digest", "sign", "verify", "importKey", "exportKey", "generateKey"]) {
    const real = crypto.subtle[name].bind(crypto.subtle);
    const counted = (...args) => {
        underWay++;
        return real(...args).finally(() => { underWay--; });
    };
    Object.defineProperty(crypto.subtle, name, { value: counted });
}
export async function turn() {
    for (let quiet = 0; quiet < 4; quiet = underWay === 0 ? quiet + 1 : 0) await new Promise((next) => setImmediate(next));
}

export const newKey = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
    return { privateKey, jwk: { kty, crv, x, y } };
};

// A plugin in a fake Penpot, and what it reaches.
export class Bench {
    // The adapter has a clock of its own, which only says when it is too late to begin; it is never ahead of this one.
    constructor({ fake = new FakePenpot(), key = newKey(), address = "https://svc.example" } = {}) {
        Object.assign(this, { fake, key, address, sockets: [], later: [], views: [], asked: [], wall: Date.now(), steady: 0, answers: null });
        this.mayReach = true;
        this.isSeen = true;
        this.chance = 0;
        this.session = newId();
        this.epoch = 0;
        this.penpot = startPenpot(fake);
        this.conversation = new core.Conversation({
            open: (url) => {
                const socket = { url, sent: [], closed: null, send: (text) => socket.sent.push(JSON.parse(text)), close: (code, reason) => { socket.closed ??= { code, reason }; } };
                this.sockets.push(socket);
                return socket;
            },
            ask: async (question) => {
                this.asked.push(question);
                await this.answers?.(question);
                return this.penpot.ask(question);
            },
            now: () => ({ wall: this.wall, steady: this.steady }),
            random: () => this.chance,
            later: (what, ms) => this.later.push({ what, ms }),
            isVisible: () => true,
            isSeen: (proposal) => this.isSeen && this.view.card?.proposal === proposal,
            mayReachLoopback: async () => this.mayReach,
            show: (view) => this.views.push(view),
        }, { tool: "penpot", plugin: "under test" });
    }

    get socket() { return this.sockets.at(-1); }
    get view() { return this.views.at(-1); }
    frames(type, socket = this.socket) { return socket.sent.filter((frame) => frame.type === type); }
    last(type) { return this.frames(type).at(-1); }

    pass(ms) {
        this.wall += ms;
        this.steady += ms;
    }

    async give(frame, socket = this.socket) {
        socket.onmessage({ data: typeof frame === "string" ? frame : JSON.stringify(frame) });
        await turn();
    }

    // Whether the device signed exactly this.
    signedByDevice(signature, text) {
        const { key } = this.frames("hello", this.sockets[0])[0];
        const publicKey = createPublicKey({ key: this.last("hello")?.key ?? key, format: "jwk" });
        return verify("sha256", Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
    }

    // Opens the socket and proves the daemon, up to the plugin's own proof.
    async greet({ key = this.key, text = null } = {}) {
        this.socket.onopen();
        await turn();
        const hello = this.last("hello");
        this.nonce = randomBytes(16).toString("base64url");
        const said = text ?? `svc.relay.v1 daemon\n${hello.nonce}\n${this.nonce}\n${hash(sorted(hello))}`;
        const signature = sign("sha256", Buffer.from(said), { key: key.privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
        await this.give({ type: "challenge", nonce: this.nonce, key: key.jwk, signature });
        return hello;
    }

    async makeReady() {
        await this.give({ type: "ready", session: this.session, epoch: ++this.epoch, account: "ann" });
    }

    async start() {
        await this.conversation.start(this.address);
        await turn();
        await this.greet();
        await this.makeReady();
        assert.equal(this.view.status, "ready");
        return this;
    }

    step(action, args, change = {}) {
        const { effect } = core.ACTIONS[action] ?? { effect: "write" };
        return { invocation: newId(), action, effect, arguments: args, argumentsSha256: hash(sorted({ action, arguments: args, v: 1 })), ...change };
    }

    async propose(...steps) {
        const frame = { type: "propose", proposal: newId(), client: "agent", expiresAt: "2026-11-22T20:00:00Z", steps };
        await this.give(frame);
        await turn();
        return frame;
    }

    async execute(step, change = {}) {
        const frame = { type: "execute", grant: newId(), invocation: step.invocation, argumentsSha256: step.argumentsSha256, deadlineMs: 30_000, ...change };
        await this.give(frame);
        await turn();
        return frame;
    }

    async approve({ proposal }) {
        await this.conversation.approvals.decide(proposal, "approved");
        await turn();
    }

    async close(code) {
        this.socket.onclose({ code });
        await turn();
    }

    // Runs what waits for its time.
    async wake() {
        for (const { what } of this.later.splice(0)) what();
        await turn();
    }

    journal() {
        return [...this.fake.storage.kept].filter(([name]) => name.includes("journal ")).map(([name, text]) => [name.split("journal ")[1], JSON.parse(text).outcome]);
    }
}
