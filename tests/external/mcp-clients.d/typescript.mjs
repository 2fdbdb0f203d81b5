// A client made with one of the two TypeScript SDKs. Arguments: the folder with the packages, and `sdk` or
// `client`, the package it is made with. What it reads and prints is described in ../mcp-clients.mjs.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, name] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const load = (path) => require(`@modelcontextprotocol/${path}`);
const { Client, StreamableHTTPClientTransport, StdioClientTransport } = name === "sdk"
    ? {
        ...load("sdk/client/index.js"),
        ...load("sdk/client/streamableHttp.js"),
        ...load("sdk/client/stdio.js"),
    }
    : { ...load("client"), ...load("client/stdio") };

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const cell = JSON.parse((await lines.next()).value);

let client;
let transport;

async function connect() {
    transport = cell.command === undefined
        ? new StreamableHTTPClientTransport(new URL(cell.url), {
            requestInit: { headers: cell.token === undefined ? {} : { authorization: `Bearer ${cell.token}` } },
        })
        : new StdioClientTransport({ command: cell.command });
    // The first SDK knows only the legacy era, and ignores what to negotiate.
    const mode = cell.mode === "modern" ? { pin: "2026-07-28" } : cell.mode;
    client = new Client({ name: "matrix", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transport);
}

try {
    await connect();
    const { tools } = await client.listTools();
    const status = await client.callTool({ name: "service_status", arguments: {} });
    const card = await client.callTool({ name: "validate_agent_card", arguments: { card: cell.card } });
    say({ tools: tools.map(({ name }) => name), status, card });
    if (!(await lines.next()).done) {
        let status;
        try {
            status = await client.callTool({ name: "service_status", arguments: {} });
        } catch {
            await client.close();
            await connect();
            status = await client.callTool({ name: "service_status", arguments: {} });
        }
        say({ status });
    }
    await transport.terminateSession?.();
    await client.close();
} catch (error) {
    say({ error: String(error) });
}
process.exit();
