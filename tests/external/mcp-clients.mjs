// The part of mcp-clients that runs the matrix. Arguments: the folder with the packages, the folder with
// svcd and svcctl, a folder for files of a run.
//
// A client is a program that reads lines and prints lines of JSON. Its first line says how to connect:
// `mode` (a key of EXPECTED; modern is pinned to the modern revision), `url` and perhaps `token`, or
// `command`, and `card`, the text of an agent card. It connects, lists the tools, calls both and prints
// `tools` (names) and their results `status` and `card`. At a second line it calls one again, after it
// connected anew if it had to, and prints `status`. At the end of its input it ends. What fails is printed
// as `error`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { daemon } from "./mcp-daemon.mjs";
import { recorder } from "./mcp-recorder.mjs";

const [folder, binaries, work] = process.argv.slice(2);
const jose = createRequire(join(folder, "package.json"))("jose");

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const PATIENCE_MS = 60_000;

// Which revision a client and the daemon agree on, by the client's mode and the daemon's modern era.
const EXPECTED = {
    legacy: { on: LEGACY, off: LEGACY },
    auto: { on: MODERN, off: LEGACY },
    modern: { on: MODERN, off: "refused" },
    // The Rust SDK offers the modern revision in `initialize` unless it is told a legacy one. That revision
    // has no `initialize`, and none is accepted under its name.
    "legacy, default": { on: "refused", off: "refused" },
    "auto, default": { on: MODERN, off: "refused" },
};

const beside = (name) => join(import.meta.dirname, "mcp-clients.d", name);
const everyMode = ["legacy", "auto", "modern"];
const CLIENTS = [
    {
        name: "sdk 1.32.2 (npm)", modes: ["legacy"],
        program: [process.execPath, beside("typescript.mjs"), folder, "sdk"],
    },
    {
        name: "client 2.4.0 (npm)", modes: everyMode,
        program: [process.execPath, beside("typescript.mjs"), folder, "client"],
    },
    {
        name: "mcp 2.3.0 (PyPI)", modes: everyMode,
        program: [join(folder, "python/bin/python"), beside("python.py")],
    },
    {
        name: "rmcp 3.9.0 (crate)", modes: [...everyMode, "legacy, default", "auto, default"],
        program: [join(folder, "rmcp-target/debug/rmcp-client")],
    },
    {
        name: "inspector 2.12.0 (npm)", modes: everyMode,
        program: [process.execPath, beside("inspector.mjs"), folder],
        // Each of its calls is a connection of its own.
        connectsAnew: true,
    },
];

const CARD = JSON.stringify({
    protocolVersion: "1.0", name: "n", description: "d", url: "https://a.example/", version: "1",
});

// An issuer of tokens as the daemon sees one: an address, and the public key behind it.
async function issuer() {
    const { privateKey, publicKey } = await jose.generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await jose.exportJWK(publicKey)), kid: "k", alg: "ES256", use: "sig" };
    const server = createServer((_, answer) => {
        answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `http://127.0.0.1:${server.address().port}`;
    return {
        address,
        sign: (audience) => new jose.SignJWT({ scope: "mcp:read mcp:invoke", client_id: "matrix" })
            .setProtectedHeader({ alg: "ES256", kid: "k", typ: "at+jwt" })
            .setIssuer(address).setAudience(audience).setSubject("someone").setJti("1")
            .setIssuedAt().setExpirationTime("1h").sign(privateKey),
        close: () => server.close(),
    };
}

// Messages from their texts. What is none becomes a value that no judgement below takes for one.
function parse(texts) {
    return texts.filter((text) => text !== "").map((text) => {
        try {
            return JSON.parse(text);
        } catch {
            return { unreadable: text };
        }
    });
}

// The messages in the body of an answer over HTTP.
function messages({ reply, got }) {
    const events = got["content-type"]?.startsWith("text/event-stream");
    return parse(events ? [...reply.matchAll(/^data:(.*)$/gm)].map(([, data]) => data.trim()) : [reply]);
}

// A wire over HTTP: the recorder, and what the daemon sent on it.
async function http(server, token) {
    const { exchanges, origin, disconnect, close } = await recorder(server.origin);
    const calls = () => exchanges.filter(({ path, status }) => path === "/mcp" && status !== undefined);
    return {
        target: { url: `${origin}/mcp`, token },
        calls,
        messages: () => calls().flatMap(messages),
        sessions: () => [...new Set(calls().map(({ got }) => got["mcp-session-id"]).filter(Boolean))],
        disconnect,
        close,
    };
}

// A wire over stdio: a program that a client starts, which copies each line before it passes it on, so that
// what a client has read is in the copy.
function stdio(server) {
    const place = mkdtempSync(join(work, "stdio-"));
    const copy = join(place, "copy");
    const command = join(place, "server");
    writeFileSync(command, `#!/bin/sh
export SVC_URL='unix:${server.environment.SVC_CONTROL_SOCKET}'
export MCP_V2_EXPERIMENTAL='${server.environment.MCP_V2_EXPERIMENTAL}'
'${join(binaries, "svcctl")}' mcp stdio | while IFS= read -r line; do
    printf '%s\\n' "$line" >>'${copy}'
    printf '%s\\n' "$line"
done
`);
    chmodSync(command, 0o700);
    return {
        target: { command },
        messages: () => existsSync(copy) ? parse(readFileSync(copy, "utf8").split("\n")) : [],
        disconnect: () => {},
        close: () => {},
    };
}

// A client that has been told how to connect.
function start(program, mode, target) {
    const child = spawn(program[0], program.slice(1), {
        // Nothing that is configured for one of them here.
        env: { PATH: process.env.PATH, HOME: work },
        stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.on("error", () => {});
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ended = once(child, "exit");
    const tell = async (line) => {
        child.stdin.write(`${line}\n`);
        const late = sleep(PATIENCE_MS, { value: '{"error":"no answer"}' }, { ref: false });
        const { value } = await Promise.race([lines.next(), late]);
        return JSON.parse(value ?? '{"error":"ended without a word"}');
    };
    return {
        begin: () => tell(JSON.stringify({ mode, ...target, card: CARD })),
        again: () => tell("again"),
        // Whether it ended by itself.
        end: async () => {
            child.stdin.end();
            const late = sleep(PATIENCE_MS, "late", { ref: false });
            if (await Promise.race([ended, late]) !== "late") return true;
            child.kill("SIGKILL");
            return false;
        },
    };
}

// Whether a message refuses a version in the way of a server without the modern era.
const refusal = ({ error }) =>
    error?.code === -32602 && error.data?.supported?.includes(LEGACY) && !error.data.supported.includes(MODERN);

// What the wire shows a client came to: a revision, `refused`, `401`, or something else in words.
function outcome(wire, said) {
    const calls = wire.calls?.() ?? [];
    const challenged = ({ status, got }) =>
        status === 401 && got["www-authenticate"]?.includes("resource_metadata=");
    if (calls.length > 0 && calls.every(challenged)) return "401";
    const sent = wire.messages();
    const { unreadable } = sent.find(({ unreadable }) => unreadable !== undefined) ?? {};
    if (unreadable !== undefined) return `text that is no message: ${unreadable.slice(0, 200)}`;
    if (said.error !== undefined) {
        const refused = sent.length > 0 && sent.every(refusal) && calls.every(({ status }) => status === 400);
        return refused ? "refused" : said.error;
    }
    const list = sent.find(({ result }) => result?.tools !== undefined);
    if (list?.result.resultType !== undefined) return MODERN;
    return sent.find(({ result }) => result?.protocolVersion !== undefined)?.result.protocolVersion ?? "no era";
}

const succeeded = (result) => result?.isError !== true && result?.content?.length > 0;

// What is wrong with a client's first calls, or nothing.
function wrongAtFirst(wire, said, expected) {
    const found = outcome(wire, said);
    if (found !== expected) return `expected ${expected}, not ${found}`;
    const sessions = wire.sessions?.() ?? [];
    if (expected !== LEGACY && sessions.length > 0) return "a session was made";
    if (said.error !== undefined) return undefined;
    for (const tool of ["service_status", "validate_agent_card"]) {
        if (!said.tools.includes(tool)) return `${tool} is not listed`;
    }
    if (!succeeded(said.status)) return `service_status: ${JSON.stringify(said.status)}`;
    if (!succeeded(said.card) || typeof said.card.structuredContent !== "object") {
        return `validate_agent_card: ${JSON.stringify(said.card)}`;
    }
    return undefined;
}

// What is wrong with a client's call after the restart, or nothing. A session ends with the daemon: the next
// request in it gets 404, and the client begins anew.
function wrongAfterwards(wire, said, expected, before, connectsAnew) {
    if (said.error !== undefined) return `after the restart: ${said.error}`;
    if (!succeeded(said.status)) return `after the restart: ${JSON.stringify(said.status)}`;
    if (expected !== LEGACY || before === undefined) return undefined;
    const lost = wire.calls().some(({ asked, method, status }) =>
        method === "POST" && before.includes(asked["mcp-session-id"]) && status === 404);
    if (!lost && !connectsAnew) return "after the restart: the old session did not get 404";
    return wire.sessions().length > before.length ? undefined : "after the restart: no new session";
}

// Runs every client against one daemon. Returns rows: client, mode, way and what was wrong.
async function column(flag, ways, settings) {
    const server = await daemon(join(binaries, "svcd"), work, (origin) => ({
        MCP_V2_EXPERIMENTAL: String(flag === "on"),
        ...settings(origin),
    }));
    await server.start();
    const cells = [];
    try {
        for (const { name, modes, program, connectsAnew } of CLIENTS) {
            for (const mode of modes) {
                for (const [way, { open, only }] of Object.entries(ways)) {
                    const wire = await open(server);
                    const client = start(program, mode, wire.target);
                    const expected = only ?? EXPECTED[mode][flag];
                    const said = await client.begin();
                    const wrong = wrongAtFirst(wire, said, expected);
                    const before = wire.sessions?.();
                    cells.push({ name, mode, way, wire, client, expected, before, wrong, said, connectsAnew });
                }
            }
        }
        await server.stop();
        cells.forEach(({ wire }) => wire.disconnect());
        await server.start();
        for (const cell of cells) {
            const { wire, client, expected, before, connectsAnew } = cell;
            if (cell.wrong === undefined && cell.said.error === undefined) {
                cell.wrong = wrongAfterwards(wire, await client.again(), expected, before, connectsAnew);
            }
            if (!(await client.end())) cell.wrong ??= "did not end";
            wire.close();
        }
    } finally {
        await server.stop();
    }
    return cells;
}

const keys = await issuer();
const local = { http: { open: (server) => http(server) }, stdio: { open: stdio } };
const guarded = {
    token: { open: async (server) => http(server, await keys.sign(server.url)) },
    "no token": { open: (server) => http(server), only: "401" },
};
const cells = [];
for (const flag of ["on", "off"]) {
    const found = [
        ...await column(flag, local, () => ({})),
        ...await column(flag, guarded, (origin) => ({
            SVC_PUBLIC_URL: origin,
            SVC_MCP_ORIGINS: "https://client.example",
            SVC_MCP_ISSUER: keys.address,
            SVC_MCP_JWKS_URL: `${keys.address}/jwks`,
        })),
    ];
    cells.push(...found.map((cell) => ({ ...cell, flag })));
}
keys.close();

const ways = [...Object.keys(local), ...Object.keys(guarded)];
for (const flag of ["on", "off"]) {
    console.log(`\n${`modern era ${flag}`.padEnd(41)}${ways.map((way) => way.padEnd(12)).join("")}`);
    for (const { name, modes } of CLIENTS) {
        for (const mode of modes) {
            const row = ways.map((way) => {
                const cell = cells.find((cell) => cell.flag === flag && cell.name === name
                    && cell.mode === mode && cell.way === way);
                return (cell.wrong === undefined ? cell.expected : "FAIL").padEnd(12);
            });
            console.log(`${name.padEnd(24)}${mode.padEnd(17)}${row.join("")}`);
        }
    }
}
const failed = cells.filter(({ wrong }) => wrong !== undefined);
for (const { name, mode, way, flag, wrong } of failed) {
    console.log(`\n${name}, ${mode}, ${way}, modern era ${flag}: ${wrong}`);
}
console.log(`\n${cells.length - failed.length} of ${cells.length} are as expected`);
process.exit(failed.length === 0 ? 0 : 1);
