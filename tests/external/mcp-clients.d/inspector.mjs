// The command line of the MCP inspector: each step is a process of its own, which connects anew. Argument:
// the folder with the packages. What this reads and prints is described in ../mcp-clients.mjs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

const [folder] = process.argv.slice(2);
const inspector = join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const cell = JSON.parse((await lines.next()).value);

const server = cell.command === undefined
    ? ["--transport", "http", "--server-url", cell.url]
    : ["--transport", "stdio", cell.command];
if (cell.token !== undefined) server.push("--header", `Authorization: Bearer ${cell.token}`);

async function step(...request) {
    const options = ["--protocol-era", cell.mode, "--format", "json", "-q", "--stored-auth-only"];
    const child = spawn(process.execPath, [inspector, "--cli", ...server, ...options, ...request], {
        stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await ended;
    if (code !== 0) throw new Error(err);
    return JSON.parse(out).result;
}

const call = (tool, values) =>
    step("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(values));

try {
    // Strict: the schemas of the tools are also those that other clients can read.
    const { tools } = await step("--method", "tools/list", "--strict");
    const status = await call("service_status", {});
    const card = await call("validate_agent_card", { card: cell.card });
    say({ tools: tools.map(({ name }) => name), status, card });
    if (!(await lines.next()).done) say({ status: await call("service_status", {}) });
} catch (error) {
    say({ error: String(error) });
}
