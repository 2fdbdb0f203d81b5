// The plugin's end of `svc.relay.v1`: one socket after another, pairing, cards, and grants. It knows no document: all
// that it needs is passed in, so that tests can simulate the daemon, the host, and the clocks.
"use strict";

/**
 * @typedef {object} Socket as a WebSocket has it
 * @property {(text: string) => void} send
 * @property {(code: number, reason?: string) => void} close
 * @property {(() => void) | null} onopen
 * @property {((message: {data: unknown}) => void) | null} onmessage
 * @property {((closed: {code: number}) => void) | null} onclose
 */

/**
 * @typedef {object} World
 * @property {(address: string) => Socket} open
 * @property {(question: Question, limitMs: number | null) => Promise<Answer>} ask the host; rejects with a `Refused`
 * @property {() => Moment} now
 * @property {() => number} random
 * @property {(what: () => void, ms: number) => void} later
 * @property {() => boolean} isVisible the tab is
 * @property {(proposal: string) => boolean} isSeen its card can be seen now
 * @property {() => Promise<boolean>} mayReachLoopback
 * @property {(view: View) => void} show
 */

/** @typedef {{socket: Socket, phase: "opening" | "greeted" | "proved" | "pairing" | "claimed" | "moving" | "ready",
 *     over: boolean, opened: boolean, isLeaving: boolean, pinged: boolean, heard: Moment, readyAt: number, hello: string, helloNonce: string,
 *     file: OpenFile, key: PublicKey | null, nonce: string, queue: Promise<void>}} Line */

/** @typedef {{status: Status, detail: string, code: string | null, account: string | null, client: string | null,
 *     file: string, card: {proposal: string, card: Card, expiresAt: string} | null, behind: number,
 *     running: {title: string, step: number, of: number, proposal: string} | null, allowance: Allowance,
 *     log: string[]}} View */

const LOG_MAX = 20;
const LOOK_MS = 10_000;

// The script in the design tool says no; the message is a stable word.
class Refused extends Error {}

class Conversation {
    /** @param {World} world @param {{tool: "penpot" | "figma" | "test", plugin: string}} self */
    constructor(world, self) {
        this.world = world;
        this.self = self;
        this.instance = crypto.randomUUID();
        this.storage = {
            /** @param {string} name */
            load: async (name) => {
                const text = await world.ask({ ask: "load", name }, LOOK_MS);
                return typeof text === "string" ? text : null;
            },
            /** @param {string} name @param {string} text */
            save: (name, text) => world.ask({ ask: "save", name, text }, LOOK_MS),
            /** @param {string} name */
            remove: (name) => world.ask({ ask: "remove", name }, LOOK_MS),
            names: async () => /** @type {string[]} */ (await world.ask({ ask: "names" }, LOOK_MS)),
        };
        this.journal = new Journal(this.storage);
        this.address = "";
        /** @type {OpenFile} */
        this.file = { key: null, name: "", page: "" };
        /** @type {CryptoKey | null} */
        this.key = null;
        /** @type {PublicKey | null} */
        this.device = null;
        /** @type {PublicKey | null} */
        this.pinned = null;
        /** @type {string | null} */
        this.session = null;
        this.epoch = 0;
        /** @type {Line | null} */
        this.line = null;
        this.failures = 0;
        this.attempt = 0;
        /** @type {Status} */
        this.status = "starting";
        this.detail = "";
        /** @type {Pairing | null} */
        this.pairing = null;
        /** @type {Claimed | null} */
        this.claim = null;
        this.account = /** @type {string | null} */ (null);
        /** @type {string[]} */
        this.log = [];
        this.approvals = new Approvals(this);
    }

    // ---- Connecting, closing, connecting again ----

    /** @param {string} address of the daemon, as `https://host` */
    async start(address) {
        const attempt = ++this.attempt;
        this.hangUp(1000);
        this.address = address;
        const place = socketAddress(address);
        if ("wrong" in place) return this.say(place.wrong);
        if (!globalThis.crypto?.subtle) return this.say("https");
        this.say("starting");
        try {
            this.file = /** @type {OpenFile} */ (await this.world.ask({ ask: "file" }, LOOK_MS));
            await this.journal.load();
            await this.loadKey();
            this.pinned = /** @type {PublicKey | null} */ (parsed(await this.storage.load(this.name("daemon"))));
            await this.loadSession();
        } catch (error) {
            return attempt === this.attempt ? this.say(error instanceof Refused ? "host" : "storage") : undefined;
        }
        if (attempt === this.attempt) this.connect();
    }

    /** @param {string} what */
    name(what) {
        return `${what} ${this.address}`;
    }

    async loadKey() {
        const name = this.name("key");
        let text = await this.storage.load(name);
        if (text === null) {
            await this.storage.save(name, JSON.stringify(await makeKey()));
            // Read again: another tab may have stored its own in the meantime, and there is one device only.
            text = await this.storage.load(name);
        }
        const jwk = /** @type {JsonWebKey} */ (JSON.parse(text ?? ""));
        this.device = publicKey(jwk);
        this.key = await importKey(jwk);
    }

    // A file without a key cannot be recognized, so its session is not kept beyond this page.
    async loadSession() {
        this.session = this.file.key === null ? this.session : await this.storage.load(`${this.name("session")} ${this.file.key}`);
        if (!fits(ID, this.session)) this.session = null;
    }

    connect() {
        const place = socketAddress(this.address);
        if ("wrong" in place) return this.say(place.wrong);
        this.attempt++;
        this.hangUp(1000);
        const now = this.world.now();
        const socket = this.world.open(place.socket);
        /** @type {Line} */
        const line = {
            socket, phase: "opening", over: false, opened: false, isLeaving: false, pinged: false, heard: now, readyAt: 0, hello: "",
            helloNonce: nonce(), file: this.file, key: null, nonce: "", queue: Promise.resolve(),
        };
        this.line = line;
        if (this.status !== "asleep") this.say("connecting");
        socket.onopen = () => this.greet(line);
        socket.onmessage = ({ data }) => this.hear(line, data);
        socket.onclose = ({ code }) => void this.closed(line, code);
    }

    /** Ends the present socket, if there is one, with its state. @param {number} code @param {string} [reason] */
    hangUp(code, reason) {
        const { line } = this;
        if (!line) return;
        line.over = true;
        this.line = null;
        line.socket.close(code, reason);
        this.drop();
    }

    // The state of the socket: the daemon proposes again what waits, and gives up what was approved.
    drop() {
        this.approvals.drop();
        this.pairing = null;
        this.claim = null;
    }

    /** @param {Line} line @param {number} code */
    async closed(line, code) {
        if (line.over) return;
        line.over = true;
        this.line = null;
        this.drop();
        const next = afterClose(code);
        if (line.phase === "ready" && this.world.now().steady - line.readyAt >= STEADY_MS) this.failures = 0;
        if (next.forget) await this.forget(next.forget);
        if (this.line) return;
        const place = socketAddress(this.address);
        const local = "loopback" in place && place.loopback && code === 1006 && !line.opened;
        const attempt = this.attempt;
        // With the problem that the daemon reported, if any.
        this.say(local && !(await this.world.mayReachLoopback()) ? "permission" : next.status, this.detail);
        if (next.again === null || attempt !== this.attempt) return;
        const chance = this.world.random();
        const wait = next.again === "crowded" ? crowded(chance) : backoff(this.failures, chance);
        this.failures++;
        this.world.later(() => {
            if (attempt === this.attempt && !this.line) this.connect();
        }, wait);
    }

    /** Says why, ends the socket, and does not reconnect automatically. @param {Line} line @param {number} code @param {string} why */
    refuse(line, code, why) {
        if (line.over) return;
        this.hangUp(code, why);
        this.attempt++;
        this.say(code === 4403 ? "refused" : "disagreed", why);
    }

    /** @param {"session" | "device"} what */
    async forget(what) {
        const { session } = this;
        this.session = null;
        this.approvals.allowance = null;
        if (session) await this.journal.forgetSession(session);
        if (this.file.key !== null) await this.storage.remove(`${this.name("session")} ${this.file.key}`);
        if (what === "device") {
            await this.storage.remove(this.name("key"));
            await this.storage.remove(this.name("daemon"));
        }
    }

    /** @param {Status} status @param {string} [detail] */
    say(status, detail = "") {
        this.status = status;
        this.detail = detail;
        this.show();
    }

    /** @param {string} text */
    note(text) {
        this.log = [text, ...this.log].slice(0, LOG_MAX);
        this.show();
    }

    show() {
        this.world.show({
            status: this.status,
            detail: visible(this.detail),
            code: this.pairing?.code ?? null,
            account: this.claim?.account ?? this.account,
            client: this.claim?.client ?? null,
            file: visible(this.file.name),
            ...this.approvals.view(),
            log: this.log,
        });
        this.approvals.tellShown();
    }

    /** Frames go out in their canonical form, so that a digest of the text is one of the value. @param {Line} line @param {JsonObject} frame */
    send(line, frame) {
        if (!line.over) line.socket.send(canonical(frame));
    }

    // ---- Frames ----

    /** @param {Line} line */
    greet(line) {
        if (line.over || !this.device) return;
        line.opened = true;
        line.phase = "greeted";
        line.heard = this.world.now();
        line.file = this.file;
        const hello = {
            type: "hello",
            nonce: line.helloNonce,
            instance: this.instance,
            tool: this.self.tool,
            plugin: this.self.plugin,
            key: { ...this.device },
            session: this.session,
            file: { ...line.file },
            actions: Object.keys(ACTIONS),
        };
        line.hello = canonical(hello);
        this.send(line, hello);
    }

    /** @param {Line} line @param {unknown} data */
    hear(line, data) {
        if (line.over) return;
        const now = this.world.now();
        // Before `ready` nothing can be run, and without pings a gap means nothing.
        if ((line.pinged || line.phase === "ready") && slept(line.heard, now)) {
            this.hangUp(1000, "asleep");
            this.say("asleep");
            this.connect();
            return;
        }
        line.heard = now;
        const frame = frameOf(data);
        if (!frame) return this.refuse(line, 4400, "bad_frame");
        if (frame.type === "ping") {
            if (line.phase === "opening" || line.phase === "greeted") return this.refuse(line, 4400, "wrong_order");
            line.pinged = true;
            // Answered here, not in a turn: a long look at the file must not make the session seem frozen.
            return this.send(line, { type: "pong", n: frame.n, visible: this.world.isVisible() });
        }
        line.queue = line.queue.then(async () => {
            if (!line.over) await this.handle(line, frame, now);
        }).catch((error) => {
            if (!(error instanceof Refused)) return this.refuse(line, 4400, "not_handled");
            // The design tool did not keep what must be kept.
            if (line.over) return;
            this.hangUp(1000, "storage");
            this.attempt++;
            this.say("storage");
        });
    }

    /** @param {Line} line @param {Exclude<Frame, Ping>} frame @param {Moment} heard */
    async handle(line, frame, heard) {
        const { phase } = line;
        if (frame.type === "problem") {
            this.detail = frame.message;
            return this.show();
        }
        if (frame.type === "challenge" && phase === "greeted") return this.challenge(line, frame);
        const proved = ["proved", "pairing", "claimed", "moving", "ready"].includes(phase);
        if (proved && frame.type === "settled") return this.journal.forget(frame.grant);
        if (frame.type === "pairing" && proved && phase !== "ready") {
            line.phase = "pairing";
            this.pairing = frame;
            this.claim = null;
            return this.say("code");
        }
        if (frame.type === "claimed" && proved) {
            if (phase === "ready") this.drop();
            line.phase = "claimed";
            this.pairing = null;
            this.claim = frame;
            return this.say("confirm");
        }
        if (frame.type === "ready" && proved && phase !== "ready") return this.ready(line, frame);
        if (phase === "ready" || phase === "moving") {
            if (frame.type === "withdraw") return this.approvals.withdraw(frame);
            if (frame.type === "execute") return this.approvals.execute(line, frame, heard);
            // What was proposed for the file before ends at the daemon, by the `context` that is on its way.
            if (frame.type === "propose") return phase === "ready" ? this.approvals.propose(line, frame) : undefined;
        }
        this.refuse(line, 4400, "wrong_order");
    }

    /** @param {Line} line @param {Challenge} frame */
    async challenge(line, frame) {
        const hello = await sha256(line.hello);
        const genuine = await verifies(frame.key, frame.signature, signed.daemon(line.helloNonce, frame.nonce, hello));
        const known = this.pinned === null || (this.pinned.x === frame.key.x && this.pinned.y === frame.key.y);
        if (line.over) return;
        if (!genuine || !known || !this.key) {
            this.hangUp(4403, "stranger");
            this.attempt++;
            return this.say("stranger");
        }
        line.key = frame.key;
        line.nonce = frame.nonce;
        // Read after the last wait: what is begun from here on must be in it or not begin.
        const journal = this.journal.of(this.session).slice(-JOURNAL_MAX);
        line.phase = "proved";
        const signature = await sign(this.key, signed.device(frame.nonce, hello, await digestOf(journal)));
        this.send(line, { type: "proof", signature, journal });
    }

    /** @param {Line} line @param {Ready} frame */
    async ready(line, frame) {
        // The daemon's key is known once a person has confirmed a pairing with it.
        if (this.pinned === null && line.key) {
            await this.storage.save(this.name("daemon"), JSON.stringify(line.key));
            this.pinned = line.key;
        }
        if (line.over) return;
        if (this.session !== frame.session) {
            this.approvals.allowance = null;
            this.session = frame.session;
            if (this.file.key !== null) await this.storage.save(`${this.name("session")} ${this.file.key}`, frame.session);
        }
        if (line.over) return;
        this.epoch = frame.epoch;
        this.account = frame.account;
        this.pairing = null;
        this.claim = null;
        line.phase = "ready";
        line.readyAt = this.world.now().steady;
        this.say("ready");
        for (const { session, frame: result } of this.approvals.untold.splice(0)) {
            if (session === this.session) this.send(line, result);
        }
        if (canonical({ ...line.file }) !== canonical({ ...this.file })) this.tellFile(line);
    }

    /** Another file, another name, or another page is in view. @param {OpenFile} file */
    async changed(file) {
        const other = file.key !== this.file.key || (file.key === null && file.name !== this.file.name);
        this.file = file;
        const { line } = this;
        if (!other) {
            if (line?.phase === "ready") this.tellFile(line);
            return this.show();
        }
        this.drop();
        this.approvals.allowance = null;
        this.session = null;
        if (line?.phase === "ready") {
            line.phase = "moving";
            this.say("moving");
            return this.tellFile(line);
        }
        // Not there yet: a new greeting says which file it is. Who stopped stays stopped.
        if (line || ["away", "crowded", "permission"].includes(this.status)) return this.start(this.address);
        this.show();
    }

    /** @param {Line} line */
    tellFile(line) {
        line.file = this.file;
        this.send(line, { type: "context", file: { ...this.file } });
    }

    // ---- What a person does ----

    /** The answer to "who may work on this file". @param {boolean} accept */
    async confirm(accept) {
        const { line, claim, key } = this;
        if (!line || !claim || !key || line.phase !== "claimed") return;
        this.claim = null;
        this.say("connecting");
        const signature = await sign(key, signed.confirm(line.nonce, claim.pairing, accept));
        this.send(line, { type: "confirm", pairing: claim.pairing, accept, signature });
    }

    /** The one button of the status line. */
    async again() {
        if (this.status === "stranger") await this.forget("device");
        this.failures = 0;
        await this.start(this.address);
    }

    /** Ends the session. To come back, a person confirms the file again. */
    async leave() {
        const { line } = this;
        if (line) this.send(line, { type: "bye", reason: "person" });
        this.hangUp(1000);
        this.attempt++;
        await this.forget("session");
        this.say("left");
    }

    /** Revokes this device. The daemon answers by closing the sockets of all its pages, which then forget the key. */
    forgetDevice() {
        const { line } = this;
        if (line?.phase !== "ready" || line.isLeaving) return;
        line.isLeaving = true;
        this.send(line, { type: "bye", reason: "forget" });
    }

    /** The page goes away. */
    unload() {
        if (this.line) this.send(this.line, { type: "bye", reason: "closing" });
        this.hangUp(1000);
        this.attempt++;
    }

}
