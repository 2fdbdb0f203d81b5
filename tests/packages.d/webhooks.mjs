// Sends webhooks as the forge does: signed, each on its own connection, with a timeout of 10 s, and without retries.
//
//   send ID     sends one, and prints the status and the outcome
//   load RATE   sends RATE webhooks per second until SIGTERM. Fails if one was not acknowledged, or only after the limit.
//               Then sends all acknowledged ones again: each must be known as a duplicate
//
// Environment: SECRET.
import { createHash, createHmac } from "node:crypto";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const [what, argument] = process.argv.slice(2);
const timeout = 10_000;
const limit = 9_000;
// One in this many pushes is a tag that starts a release. The others are branches, which are recorded and ignored.
const releases = 40;

// Resolves to the status and the outcome, or to the error.
function post(id, body) {
    return new Promise((resolve) => {
        const signature = createHmac("sha256", process.env.SECRET).update(body).digest("hex");
        const sent = request({
            host: "127.0.0.1", port: 7080, method: "POST", path: "/webhooks/forge", agent: false,
            signal: AbortSignal.timeout(timeout),
            headers: {
                "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-github-event": "push",
                "x-github-delivery": id, "x-hub-signature-256": `sha256=${signature}`,
            },
        }, async (response) => {
            try {
                const { outcome } = JSON.parse(Buffer.concat(await response.toArray()));
                resolve(`${response.statusCode} ${outcome}`);
            } catch {
                resolve(`${response.statusCode}, and no body`);
            }
        });
        sent.on("error", (error) => resolve(error.code === "ABORT_ERR" ? "no answer" : error.code));
        sent.end(body);
    });
}

// Uses the repositories of four installations in turn, because the writes of each are limited separately.
function push(ref, commit, number) {
    const repository = 99 + (Math.floor(number / releases) % 4);
    return JSON.stringify({
        ref, before: "0".repeat(40), after: commit, created: true, deleted: false, forced: false,
        head_commit: { id: commit }, commits: [{ id: commit }],
        installation: { id: 4612 + repository, account: { login: "octo-org" } },
        repository: {
            id: repository, name: `app-${repository}`, full_name: `octo-org/app-${repository}`, private: true,
            owner: { login: "octo-org", id: 4712 },
        },
        sender: { login: "someone", id: 1, type: "User" },
    });
}

const commitOf = (text) => createHash("sha1").update(text).digest("hex");

function delivery(number) {
    const ref = number % releases === 0 ? `refs/tags/v0.0.${number}` : `refs/heads/b${number}`;
    return [`load-${number}`, push(ref, commitOf(String(number)), number)];
}

async function load(rate) {
    const problems = [];
    const waiting = new Set();
    const acknowledged = [];
    let [stopped, slowest, number] = [false, 0, 0];
    process.on("SIGTERM", () => { stopped = true; });

    async function one(number) {
        const begin = performance.now();
        const answer = await post(...delivery(number));
        const took = performance.now() - begin;
        slowest = Math.max(slowest, took);
        const at = new Date(Date.now() - took).toISOString();
        const is = /^20[02] /.test(answer);
        if (is) acknowledged.push(number);
        if (!is || took > limit) problems.push(`${at} load-${number}: ${answer} after ${took.toFixed()} ms`);
    }
    const begin = performance.now();
    while (!stopped) {
        const sent = one(number++);
        waiting.add(sent);
        sent.finally(() => waiting.delete(sent));
        await sleep(begin + (number * 1000) / rate - performance.now());
    }
    await Promise.all(waiting);

    async function again() {
        for (let number; (number = left.pop()) !== undefined;) {
            const answer = await post(...delivery(number));
            if (answer !== "200 duplicate") problems.push(`load-${number}: acknowledged, and now ${answer}`);
        }
    }
    const left = [...acknowledged];
    await Promise.all(Array.from({ length: 8 }, again));

    for (const problem of problems.slice(0, 40)) console.error(problem);
    const counts = `${number} webhooks, ${number - acknowledged.length} lost, slowest ${(slowest / 1000).toFixed(1)} s`;
    console.log(problems.length === 0 ? counts : `${counts}, ${problems.length} problems`);
    process.exitCode = problems.length === 0 ? 0 : 1;
}

if (what === "send") {
    console.log(await post(argument, push(`refs/tags/v1.${argument}`, commitOf(argument), 0)));
} else {
    await load(Number(argument));
}
