// The part of mcp-conformance that runs the suite and judges what it wrote. It is stricter than the suite:
// a warning is a recommendation that was not followed, and what was skipped proves nothing, so both fail a
// scenario. What the suite writes is in `results` beside it until the next run. Arguments: the folder with
// the suite, the daemon, a folder for the daemon's files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { daemon } from "./mcp-daemon.mjs";
import { recorder } from "./mcp-recorder.mjs";

const [folder, svcd, work] = process.argv.slice(2);
const suite = join(folder, "node_modules/@modelcontextprotocol/conformance");
const { parse: parseYaml } = createRequire(join(suite, "package.json"))("yaml");

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

// A scenario that the suite lists and has not written yet: it skips its only check, whatever the server does.
const UNWRITTEN = "tasks-status-notifications";

// The scenarios that a revision requires of a server, and those that the suite runs beside them.
function requirements(revision) {
    const set = parseYaml(readFileSync(join(suite, `requirements/${revision}.yaml`), "utf8"));
    const others = set.not_scored.filter(({ leg }) => leg === "server");
    const [extension, rest] = [true, false].map((isExtension) =>
        others.filter(({ reason }) => (reason === "extension") === isExtension).map(({ scenario }) => scenario));
    return { scored: set.server, others: rest, extension };
}

// Runs a whole set. Returns for each scenario what it checked and when it began (Unix milliseconds).
async function run(name, revision, url) {
    const results = join(folder, "results", name);
    rmSync(results, { recursive: true, force: true });
    mkdirSync(results, { recursive: true });
    const runner = spawn(process.execPath, [
        join(suite, "dist/index.js"), "server", "--url", url, "--requirements", revision, "-o", results,
    ]);
    const log = createWriteStream(join(folder, "results", `${name}.log`));
    runner.stdout.pipe(log, { end: false });
    runner.stderr.pipe(log, { end: false });
    // The files say more than its exit code.
    await once(runner, "close");
    const scenarios = new Map();
    for (const entry of readdirSync(results)) {
        const [, scenario, date, hour, minute, rest] =
            entry.match(/^server-(.+)-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d-\d{3}Z)$/);
        const began = Date.parse(`${date}${hour}:${minute}:${rest.replace("-", ".")}`);
        const file = join(results, entry, "checks.json");
        // A scenario that ended with an exception has none.
        const checks = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
        scenarios.set(scenario, { began, checks });
    }
    return scenarios;
}

// What is said of a scenario that passes.
function noteOf(scenario, result) {
    return scenario === UNWRITTEN ? "skipped by the suite, which asks nothing" : `${result?.checks.length} checks`;
}

// What is wrong with a scenario that has to pass, or nothing.
function failure(scenario, result) {
    if (result === undefined) return "did not run";
    if (scenario === UNWRITTEN) {
        return result.checks.every(({ status }) => status === "SKIPPED") ? undefined : "is written now: judge it";
    }
    const bad = result.checks.find(({ status }) => status !== "SUCCESS" && status !== "INFO");
    if (bad !== undefined) return `${bad.status} ${bad.id}: ${bad.errorMessage ?? ""}`;
    const own = result.checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
    return own.length === 0 ? "nothing was checked" : undefined;
}

// What is wrong with an exchange of the modern era at a server without it, or nothing. Several modern
// scenarios pass at a server that answers nothing but errors, and the suite's files do not have every answer,
// so each is looked at. A Host that is not ours is refused before the version is looked at.
function unlikeRefusal({ own, asked, body, status, got, reply }) {
    const shown = `HTTP ${status} ${reply.slice(0, 200)}`;
    if (got["mcp-session-id"] !== undefined) return `a session, and ${shown}`;
    if (!own) return status >= 400 && status < 500 ? undefined : shown;
    const { id, params } = JSON.parse(body);
    const claimed = [asked["mcp-protocol-version"], params?._meta?.["io.modelcontextprotocol/protocolVersion"]];
    let answer;
    try {
        answer = JSON.parse(reply);
    } catch {
        return shown;
    }
    const { code, data } = answer.error ?? {};
    const names = data?.supported?.includes(LEGACY) && !data.supported.includes(MODERN);
    return status === 400 && code === -32602 && answer.id === id && names && claimed.includes(data.requested)
        ? undefined : shown;
}

let differences = 0;
const sums = [];

// Prints one line for each scenario, and keeps the sum for the end.
function report(title, scenarios, judge) {
    console.log(`\n${title}`);
    let good = 0;
    for (const scenario of scenarios) {
        const { wrong, note } = judge(scenario);
        if (wrong === undefined) good += 1;
        console.log(`  ${wrong === undefined ? "ok  " : "FAIL"}  ${scenario.padEnd(46)} ${wrong ?? note}`);
    }
    differences += scenarios.length - good;
    sums.push(`${String(good).padStart(3)} of ${String(scenarios.length).padStart(2)}  ${title}`);
}

// Runs a set whose every scenario has to pass.
async function passes(flag, revision, url) {
    const results = await run(`${flag}-${revision}`, revision, url);
    const judge = (scenario) => {
        const result = results.get(scenario);
        return { wrong: failure(scenario, result), note: noteOf(scenario, result) };
    };
    const { scored, others, extension } = requirements(revision);
    report(`${revision}, modern era ${flag}, scored`, scored, judge);
    report(`${revision}, modern era ${flag}, not scored`, others, judge);
    if (extension.length > 0) report(`${revision}, modern era ${flag}, tasks extension`, extension, judge);
}

// Runs the modern set against a server without the modern era.
async function refuses(upstream) {
    const { origin, exchanges, close } = await recorder(upstream);
    const results = await run(`off-${MODERN}`, MODERN, `${origin}/mcp`);
    close();
    const begins = [...results.values()].map(({ began }) => began).sort((a, b) => a - b);
    const judge = (scenario) => {
        const began = results.get(scenario)?.began;
        if (began === undefined) return { wrong: "did not run" };
        const ends = begins.find((other) => other > began) ?? Infinity;
        const mine = exchanges.filter((exchange) => exchange.began >= began && exchange.began < ends);
        const wrong = mine.length === 0 ? "nothing was asked" : mine.map(unlikeRefusal).find(Boolean);
        return { wrong, note: `${mine.length} refused` };
    };
    const { scored, others, extension } = requirements(MODERN);
    const all = [...scored, ...others, ...extension.filter((scenario) => scenario !== UNWRITTEN)];
    report(`${MODERN}, modern era off, every request refused`, all, judge);
}

for (const flag of ["on", "off"]) {
    // The suite asks faster than one client may.
    const server = await daemon(svcd, work, () => ({
        MCP_V2_EXPERIMENTAL: String(flag === "on"),
        SVC_MCP_PEER_RATE: "1000",
        SVC_MCP_SUBJECT_RATE: "1000",
    }));
    await server.start();
    try {
        await passes(flag, LEGACY, server.url);
        await (flag === "on" ? passes(flag, MODERN, server.url) : refuses(server.origin));
    } finally {
        await server.stop();
    }
}
console.log(`\n${sums.join("\n")}`);
process.exit(differences === 0 ? 0 : 1);
