// The part of the proxies that runs them. Arguments: nginx, caddy, svcd, a folder for files of a run, which has
// key.pem and certificate.pem of svc.example.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as plainRequest } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { daemon, freePort } from "./mcp-daemon.mjs";

const [nginx, caddy, svcd, work] = process.argv.slice(2);
const HOST = "svc.example";
const PATIENCE_MS = 30_000;
const certificate = readFileSync(join(work, "certificate.pem"));

// The one block of a page in a language that has a word.
function block(page, language, word) {
    const blocks = [...readFileSync(page, "utf8").matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
    const found = blocks.filter(([, its, text]) => its === language && text.includes(word));
    assert.equal(found.length, 1, `${page} has ${found.length} blocks of ${language} with ${word}`);
    return found[0][2];
}

// Puts a place of this machine where the guide has another.
function replaced(text, there, here) {
    assert.ok(text.includes(there), `the guide does not have ${there}`);
    return text.replaceAll(there, here);
}

// An issuer of tokens: an address with its key, and what signs. It runs until the process ends.
async function issuer() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" };
    const server = createServer((_, response) => {
        response.setHeader("Content-Type", "application/json").end(JSON.stringify({ keys: [jwk] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    server.unref();
    const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = (claims) => {
        const signed = `${encoded({ alg: "ES256", kid: "k", typ: "at+jwt" })}.${encoded(claims)}`;
        const key = { key: privateKey, dsaEncoding: "ieee-p1363" };
        return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
    };
    return { url: `http://127.0.0.1:${server.address().port}/keys`, token };
}

// The settings of the guide, with keys that can be fetched here.
function settings(jwksUrl) {
    const lines = block("docs/mcp.md", "sh", "SVC_MCP_ISSUER=").split("\n").filter((line) => /^\w+=/.test(line));
    const named = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)));
    assert.equal(named.SVC_PUBLIC_URL, `https://${HOST}`);
    return { ...named, SVC_MCP_JWKS_URL: jwksUrl };
}

// What runs a proxy with the configuration of the guide at a port, in front of svcd at another: the arguments, and
// whether it sends the length of a body that came without.
const proxies = {
    nginx(port, svcdPort) {
        let server = replaced(block("docs/proxy.md", "nginx", "proxy_pass"), "listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`);
        server = replaced(server, `/etc/nginx/${HOST}.pem`, join(work, "certificate.pem"));
        server = replaced(server, `/etc/nginx/${HOST}.key`, join(work, "key.pem"));
        server = replaced(server, "http://127.0.0.1:7080", `http://127.0.0.1:${svcdPort}`);
        const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        // svcd says of a stream itself that it is not buffered. Here the guide has to.
        const file = written("nginx.conf", `
            daemon off;
            master_process off;
            pid ${work}/nginx.pid;
            error_log ${work}/nginx.log;
            events {}
            http {
                access_log off;
                ${kinds.map((kind) => `${kind}_temp_path ${work}/${kind};`).join("\n")}
                proxy_ignore_headers X-Accel-Buffering;
                ${server}
            }`);
        return { command: nginx, arguments: ["-p", work, "-e", join(work, "nginx.log"), "-c", file], sendsLengths: true };
    },
    caddy(port, svcdPort) {
        const certificate = `tls ${join(work, "certificate.pem")} ${join(work, "key.pem")}`;
        let site = replaced(block("docs/proxy.md", "caddy", "reverse_proxy"), `${HOST} {`, `https://${HOST}:${port} {\n\tbind 127.0.0.1\n\t${certificate}`);
        site = replaced(site, "127.0.0.1:7080", `127.0.0.1:${svcdPort}`);
        const file = written("Caddyfile", `{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\toutput file ${work}/caddy.log\n\t}\n}\n${site}`);
        return { command: caddy, arguments: ["run", "--config", file, "--adapter", "caddyfile"], sendsLengths: false };
    },
};

function written(name, text) {
    const file = join(work, name);
    writeFileSync(file, text);
    return file;
}

// Starts a proxy, and returns how to end it.
async function start(name, run, port) {
    const child = spawn(run.command, run.arguments, { env: { HOME: work }, stdio: ["ignore", "inherit", "ignore"] });
    const ended = once(child, "exit");
    for (let tries = 0; child.exitCode === null; tries += 1) {
        // Always from the same address, for there are not so many; a refusal is an answer as well.
        const is_up = await ask({ port, from: "127.0.0.1" }, "GET", "/health/live").catch(() => undefined);
        if (is_up) return () => (child.kill("SIGTERM"), ended);
        if (tries === 300) break;
        await sleep(100);
    }
    child.kill("SIGTERM");
    throw new Error(`${name} did not start:\n${readFileSync(join(work, `${name}.log`), "utf8")}`);
}

// Every request comes from another address unless it says which: the rate is too low for several of one.
let clients = 1;
const anotherClient = () => `127.0.1.${(clients += 1)}`;

// Sends a request to a proxy and returns the answer with its head, its body still to come.
async function open({ port, from = anotherClient(), host = HOST }, method, path, headers = {}, body = undefined) {
    const sent = request({
        host: "127.0.0.1", port, localAddress: from, servername: HOST, ca: certificate, method, path,
        headers: { Host: host, ...headers }, agent: false,
    });
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error(`${method} ${path}: nothing came in time`)));
    const answered = once(sent, "response");
    sent.end(body);
    const [answer] = await answered;
    return answer;
}

// Asks for a WebSocket; returns the protocol that was agreed.
async function upgraded({ port }, path, headers) {
    const sent = request({
        host: "127.0.0.1", port, localAddress: anotherClient(), servername: HOST, ca: certificate, path,
        headers: { Host: HOST, ...headers }, agent: false,
    });
    sent.end();
    const [answer, socket] = await Promise.race([
        once(sent, "upgrade"),
        once(sent, "response").then(([refusal]) => assert.fail(`${path}: ${refusal.statusCode}`)),
    ]);
    socket.destroy();
    return answer.headers["sec-websocket-protocol"];
}

async function ask(...how) {
    const answer = await open(...how);
    const chunks = await answer.toArray();
    const text = Buffer.concat(chunks).toString();
    return { status: answer.statusCode, headers: answer.headers, text, json: () => JSON.parse(text) };
}

const patiently = (what, promise) => {
    const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => assert.fail(`${what} did not come in time`));
    return Promise.race([promise, late]);
};

const keys = await issuer();
const server = await daemon(svcd, work, () => ({
    ...settings(keys.url),
    SVC_MCP_BODY_BYTES: "4194304",
    SVC_MCP_PEER_RATE: "1",
    SVC_RELAY: "true",
    // All addresses are of this machine here; what is in front is the proxy.
    SVC_TRUSTED_PROXIES: "127.0.0.1/32",
}));
await server.start();
for (const [place, [name, configure]] of Object.entries(proxies).entries()) {
    const port = await freePort();
    const run = configure(port, new URL(server.origin).port);
    console.log(name);
    try {
        const stop = await start(name, run, port);
        await check(port, run.sendsLengths, place + 2).finally(stop);
    } catch (error) {
        await server.stop();
        throw error;
    }
}
await server.stop();

// What clients see through a proxy at a port, from addresses of a network that no other part uses.
async function check(port, sendsLengths, network) {
    const now = Math.floor(Date.now() / 1000);
    const bearer = {
        Authorization: `Bearer ${keys.token({
            iss: "https://issuer.example", aud: `https://${HOST}/mcp`, sub: "someone", client_id: "nginx",
            scope: "mcp:read", iat: now, exp: now + 600,
        })}`,
    };
    const message = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const rpc = (id, method, params) => JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const initialize = rpc(1, "initialize", {
        protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "nginx", version: "1" },
    });
    const forwardingHeaders = async () => {
        const sent = plainRequest({ socketPath: server.environment.SVC_CONTROL_SOCKET, path: "/api/v1/mcp", headers: { Host: "localhost" } });
        sent.end();
        const [answer] = await once(sent, "response");
        return JSON.parse(Buffer.concat(await answer.toArray())).forwardingHeaders;
    };

    // A client without a token learns where to get one.
    const refused = await ask({ port }, "POST", "/mcp", message, initialize);
    assert.equal(refused.status, 401);
    const metadataUrl = `https://${HOST}/.well-known/oauth-protected-resource/mcp`;
    assert.ok(refused.headers["www-authenticate"].includes(`resource_metadata="${metadataUrl}"`));
    assert.equal(refused.headers["strict-transport-security"], "max-age=31536000");
    const metadata = await ask({ port }, "GET", new URL(metadataUrl).pathname);
    assert.equal(metadata.status, 200);
    assert.equal(metadata.json().resource, `https://${HOST}/mcp`);
    console.log("ok  the challenge and the metadata");

    // One with a token begins a session and calls a tool.
    const begun = await ask({ port }, "POST", "/mcp", { ...message, ...bearer }, initialize);
    assert.equal(begun.status, 200, begun.text);
    const session = { ...bearer, "Mcp-Session-Id": begun.headers["mcp-session-id"] };
    const call = rpc(2, "tools/call", { name: "service_status", arguments: {} });
    const called = await ask({ port }, "POST", "/mcp", { ...message, ...session }, call);
    assert.equal(called.json().result.structuredContent.store, "ok", called.text);
    const chunked = await ask({ port }, "POST", "/mcp", { ...message, ...session, "Transfer-Encoding": "chunked" }, call);
    assert.equal(chunked.status, sendsLengths ? 200 : 411);
    assert.ok((await forwardingHeaders()).includes("x-forwarded-for"));
    console.log("ok  initialize and tools/call");

    // The name that clients use is the one that svcd checks; also behind a proxy there is no other.
    const other = await ask({ port, host: "other.example" }, "POST", "/mcp", { ...message, ...bearer }, initialize);
    // nginx asks svcd, which refuses it; Caddy has no such site.
    assert.equal(other.headers["mcp-session-id"], undefined);
    const page = await ask({ port }, "POST", "/mcp", { ...message, ...bearer, Origin: "https://app.example" }, initialize);
    assert.equal(page.status, 200);
    assert.equal(page.headers["access-control-allow-origin"], "https://app.example");
    console.log("ok  the host and a page");

    // A long message gets through: bodies of webhooks pass, which are longer.
    const long = rpc(3, "ping", { padding: "x".repeat(2 << 20) });
    const taken = await ask({ port }, "POST", "/mcp", { ...message, ...session }, long);
    assert.deepEqual(taken.json().result, {});
    console.log("ok  a long message");

    // The first event of a stream arrives while the stream lasts.
    const stream = await open({ port }, "GET", "/mcp", { Accept: "text/event-stream", ...session });
    assert.equal(stream.statusCode, 200);
    assert.equal(stream.headers["content-type"], "text/event-stream");
    let heard = "";
    stream.setEncoding("utf8").on("data", (text) => (heard += text));
    const end = once(stream, "end");
    const first = async () => {
        while (!heard.includes("\n\n")) await once(stream, "data");
    };
    await patiently("the first event", first());
    assert.match(heard, /^id: \S+\nretry: 1000\ndata: \n\n$/);
    const ended = await ask({ port }, "DELETE", "/mcp", session);
    assert.equal(ended.status, 204);
    await patiently("the end of the stream", end);
    console.log("ok  a stream is not buffered, and ends with its session");

    // A plugin's WebSocket gets through.
    const upgrade = { Connection: "Upgrade", Upgrade: "websocket", Origin: `https://${HOST}`,
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Protocol": "svc.relay.v1" };
    assert.equal(await patiently("the upgrade", upgraded({ port }, "/relay/v1/connect", upgrade)), "svc.relay.v1");
    console.log("ok  a WebSocket");

    // Each client has a rate of its own, whatever it says of itself.
    const claiming = (from, number) =>
        ask({ port, from }, "POST", "/mcp", { ...message, "X-Forwarded-For": `192.0.2.${number}` }, initialize);
    let status = 0;
    for (let number = 1; number <= 200 && status !== 429; number += 1) {
        status = (await claiming(`127.0.${network}.1`, number)).status;
    }
    assert.equal(status, 429, "a client that names other addresses has no other rate");
    assert.equal((await claiming(`127.0.${network}.2`, 1)).status, 401, "another client has its own");
    console.log("ok  each client has a rate of its own");
}
