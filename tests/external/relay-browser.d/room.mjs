// What each test has to itself: a daemon, a profile of a browser with a design tool open in it, and an agent.
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { daemon } from "../mcp-daemon.mjs";
import { Agent } from "./agent.mjs";
import { designTool } from "./tools.mjs";

const {
    RELAY_BROWSER_PACKAGES: packages, RELAY_BROWSER_BINARIES: binaries, RELAY_BROWSER_WORK: work,
    RELAY_BROWSER_CHROMIUM: chromium,
} = process.env;
const playwright = createRequire(join(packages, "package.json"))("playwright-core");
// Longer than anything takes that is waited for; what is past it has failed.
const PATIENCE_MS = 60_000;

const browsers = [];
export async function launch(...flags) {
    // A sandbox needs user namespaces, which containers and root often have not.
    const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", ...flags] });
    browsers.push(browser);
    return browser;
}
after(() => Promise.all(browsers.map((browser) => browser.close())));
let shared = null;

// Opens a room, which is closed when the test ends. `tool` is the design tool; `flags` are the browser's, which is then
// not shared with other tests; `prepare` gets the profile before any page is opened.
export async function openRoom(t, { tool = "penpot", flags = () => [], prepare = async () => {} } = {}) {
    const pages = await designTool();
    t.after(() => pages.close());
    const tokenFile = join(work, `operator-${randomUUID()}`);
    writeFileSync(tokenFile, randomBytes(24).toString("base64"), { mode: 0o600 });
    const service = await daemon(join(binaries, "svcd"), work, (origin) => ({
        SVC_RELAY: "true",
        SVC_RELAY_LOCAL: "true",
        SVC_RELAY_ORIGINS: `${origin},null`,
        SVC_RELAY_TOOL_ORIGINS: pages.origin,
        SVC_RELAY_WAIT_SECONDS: "55",
        SVC_OPERATOR_API_TOKEN_FILE: tokenFile,
        SVC_OPERATOR_ACTOR_ID: "ops:test",
    }));
    await service.start();
    t.after(() => service.stop());
    const own = flags(pages.port);
    const browser = await (own.length > 0 ? launch(...own) : shared ??= launch());
    const profile = await browser.newContext();
    t.after(() => profile.close());
    profile.setDefaultTimeout(PATIENCE_MS);
    const room = new Room({ tool, pages, service, profile });
    await profile.exposeBinding("tellTest", ({ page }, event) => room.note(page, event));
    await profile.addInitScript({ path: join(import.meta.dirname, "recording.js") });
    await prepare(profile);
    room.agent = await new Agent(service.url).begin();
    // Of every test, whatever it is about.
    t.after(() => room.tabs.forEach(saysReadyOnlyWhenItIs));
    return room;
}

class Room {
    constructor({ tool, pages, service, profile }) {
        Object.assign(this, { tool, pages, service, profile, tabs: [] });
    }

    // The manifest's address is what a person gives to Penpot.
    url(path = this.tool) {
        const manifest = `${this.service.origin}/relay/plugin/penpot/manifest.json`;
        return `${this.pages.origin}/${path}?manifest=${encodeURIComponent(manifest)}`;
    }

    // Opens the design tool with the plugin in another tab of the same profile.
    async open() {
        const page = await this.profile.newPage();
        const tab = new Tab(this, page);
        this.tabs.push(tab);
        await page.goto(this.url());
        return tab;
    }

    // Opens the first tab, and pairs it.
    async openPaired() {
        const tab = await this.open();
        await tab.pair();
        return tab;
    }

    note(page, event) {
        if (process.env.RELAY_BROWSER_STORY) console.log(JSON.stringify(event));
        this.tabs.find((tab) => tab.page === page)?.events.push(event);
    }

    // Asks the operators' API, at the daemon's control socket.
    async operate(method, path) {
        const { SVC_CONTROL_SOCKET: socketPath, SVC_OPERATOR_API_TOKEN_FILE: tokenFile } = this.service.environment;
        const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8")}` };
        const asked = request({ socketPath, method, path: `/api/v1/operator/relay/${path}`, headers, agent: false }).end();
        const [answer] = await once(asked, "response");
        const body = await text(answer);
        assert.ok(answer.statusCode < 300, `${answer.statusCode} ${body}`);
        return body === "" ? null : JSON.parse(body);
    }

    // Asks until the answer satisfies `is`, which is given it.
    asked(name, args, is) { return answered(() => this.agent.call(name, args), is); }
    operated(path, is) { return answered(() => this.operate("GET", path), is); }
}

// A page of the design tool, with the plugin's page in it.
class Tab {
    constructor(room, page) {
        this.room = room;
        this.page = page;
        this.plugin = page.frameLocator("iframe");
        // What the plugin's page sent, got and said, over all its loads.
        this.events = [];
    }

    get frame() { return this.page.frames()[1]; }
    at(id) { return this.plugin.locator(`#${id}`); }
    // A button is pressed once it says that it works.
    press(id) { return this.at(id).click(); }
    says(status) { return this.plugin.locator(`#status[data-status="${status}"]`).waitFor(); }
    text(id) { return this.at(id).textContent(); }

    // Waits until an accept button says that it works.
    awake(id) { return this.plugin.locator(`#${id}:not([aria-disabled])`).waitFor(); }

    async pair() {
        await this.says("code");
        const claim = await this.room.agent.call("pair_design_session", { code: await this.text("code") });
        assert.equal(claim.isError, false, JSON.stringify(claim));
        await this.press("claim-accept");
        await this.says("ready");
    }

    // Waits for a card other than `before`; returns the id of its proposal.
    async card(before = "") {
        const card = this.plugin.locator(`#card:not([data-proposal="${before}"])`);
        await card.waitFor();
        return card.getAttribute("data-proposal");
    }

    async approve() {
        const proposal = await this.card();
        await this.press("card-accept");
        return proposal;
    }

    // What was done in the file, a text for each undo step.
    undo() { return this.page.evaluate(() => window.fake.undo); }
    textOf(node) { return this.page.evaluate((id) => window.fake.known(id).characters, node); }

    // What happened up to now. Each of these waits for what the page has told and is still on its way here.
    async story() {
        await this.frame.evaluate(() => {});
        return this.events;
    }
    async sent(type) { return (await this.story()).filter(({ sent }) => sent?.type === type).map(({ sent }) => sent); }
    async got(type) { return (await this.story()).filter(({ got }) => got?.type === type).map(({ got }) => got); }
    async closes() { return (await this.story()).flatMap(({ closed }) => (closed === undefined ? [] : [closed])); }

    // Waits until so many events are such.
    happened(is, count = 1) {
        return patiently(() => this.events.filter(is).length >= count, () => this.events);
    }
}

async function answered(ask, is) {
    let answer;
    await patiently(async () => is(answer = await ask()), () => answer);
    return answer;
}

// Looks again and again until it is so. What it looked at last is said when it never is.
async function patiently(isSo, seen) {
    const until = Date.now() + PATIENCE_MS;
    while (!await isSo()) {
        assert.ok(Date.now() < until, `it stays at ${JSON.stringify(seen())}`);
        await sleep(50);
    }
}

function saysReadyOnlyWhenItIs({ events }) {
    let accepted = false;
    for (const event of events) {
        if (event.got?.type === "ready") accepted = true;
        if (event.socket === "opening" || event.closed !== undefined) accepted = false;
        assert.ok(event.status !== "ready" || accepted, `it says Ready and is not: ${JSON.stringify(events.map(Object.entries))}`);
        assert.equal(/\bready\b/i.test(event.text ?? ""), event.status === "ready", event.text);
    }
}
