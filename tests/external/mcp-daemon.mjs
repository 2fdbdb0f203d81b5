// Starts and stops the daemon for the suites that speak MCP to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// A port of 127.0.0.1 that was free a moment ago.
export async function freePort() {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address();
    server.close();
    await once(server, "close");
    return port;
}

// A daemon with an empty database in a new folder below `work`, on a port of its own, not yet started.
// `settings` are environment variables beside those that every suite needs.
export async function daemon(svcd, work, settings) {
    const folder = mkdtempSync(join(work, "svcd-"));
    const port = await freePort();
    return new Daemon(svcd, folder, port, {
        SVC_DATABASE: join(folder, "svc.db"),
        SVC_CONTROL_SOCKET: join(folder, "svcd.sock"),
        SVC_PUBLIC_LISTEN: `127.0.0.1:${port}`,
        SVC_MCP: "true",
        ...settings(`http://127.0.0.1:${port}`),
    });
}

class Daemon {
    #svcd;
    #log;
    #process;

    constructor(svcd, folder, port, environment) {
        this.#svcd = svcd;
        this.#log = join(folder, "log");
        this.environment = environment;
        this.origin = `http://127.0.0.1:${port}`;
        this.url = `${this.origin}/mcp`;
    }

    // Returns when it answers. Fails with its log if it ends before, or has not answered in 30 s.
    async start() {
        const log = openSync(this.#log, "a");
        this.#process = spawn(this.#svcd, [], { env: this.environment, stdio: ["ignore", log, log] });
        for (let tries = 0; tries < 300; tries += 1) {
            const answer = await fetch(`${this.origin}/health/live`).catch(() => undefined);
            if (answer?.ok) return;
            if (this.#process.exitCode !== null || this.#process.signalCode !== null) break;
            await sleep(100);
        }
        await this.stop();
        throw new Error(`the daemon did not start:\n${readFileSync(this.#log, "utf8")}`);
    }

    // Returns when the process is gone.
    async stop() {
        if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
        const gone = once(this.#process, "exit");
        this.#process.kill("SIGTERM");
        await gone;
    }
}
