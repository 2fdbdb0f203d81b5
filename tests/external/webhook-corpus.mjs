// Sends the published examples and checks the answers. Arguments: the folder with the packages, the
// URL of the intake, the file with the secret.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, url, secretFile] = process.argv.slice(2);
const require = createRequire(join(folder, "from-here.js"));
const examples = require("@octokit/webhooks-examples");
const methods = join(folder, "node_modules/@octokit/webhooks-methods/dist-node/index.js");
const { sign } = await import(pathToFileURL(methods));
const secret = readFileSync(secretFile, "utf8").trim();

// Events about what we do. What is published besides must be taken in too, and ignored.
const ours = new Set([
  "check_run", "check_suite", "installation", "installation_repositories", "ping", "push",
  "release", "repository", "workflow_dispatch", "workflow_job", "workflow_run",
]);
const expected = { ours: 80, all: 329 };

const answers = new Map();
const failures = [];

async function send(what, event, id, signature, body, allowed) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": id,
      "x-hub-signature-256": signature,
    },
    body,
  });
  const answer = `${response.status} ${(await response.json()).outcome}`;
  const key = `${what}: ${answer}`;
  answers.set(key, (answers.get(key) ?? 0) + 1);
  if (!allowed.includes(answer)) {
    failures.push(`${event} ${id}: ${what} was answered ${answer}, not ${allowed.join(" or ")}`);
  }
}

// Another last letter keeps the length and the JSON, so that only the signature can tell.
function changed(body) {
  const at = body.lastIndexOf('"') - 1;
  return body.slice(0, at) + (body[at] === "x" ? "y" : "x") + body.slice(at + 1);
}

const sent = { ours: 0, all: 0 };
for (const { name, examples: payloads } of examples) {
  for (const payload of payloads) {
    const body = JSON.stringify(payload);
    const signature = await sign(secret, body);
    const id = randomUUID();
    const isOurs = ours.has(name);
    const who = isOurs ? "ours" : "others";
    const forged = ["401 unauthenticated"];
    await send(`${who}, forged`, name, id, signature, changed(body), forged);
    const taken = isOurs ? ["202 accepted", "200 ignored"] : ["200 ignored"];
    await send(`${who}, first`, name, id, signature, body, taken);
    await send(`${who}, again`, name, id, signature, body, ["200 duplicate"]);
    sent.all += 1;
    sent.ours += isOurs ? 1 : 0;
  }
}

for (const who of Object.keys(expected)) {
  if (sent[who] !== expected[who]) {
    failures.push(`${who}: ${sent[who]} examples were found, not ${expected[who]}`);
  }
}
if (![...answers.keys()].includes("ours, first: 202 accepted")) {
  failures.push("not one example became a job");
}

console.log(`${sent.all} examples, ${sent.ours} of events about what we do; each forged, first, again`);
for (const [key, count] of [...answers].sort()) console.log(`  ${String(count).padStart(4)}  ${key}`);
for (const failure of failures.slice(0, 20)) console.error(failure);
if (failures.length > 0) {
  console.error(`${failures.length} failures`);
  process.exit(1);
}
