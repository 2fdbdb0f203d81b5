// The part of card-sdks that makes cards with the JavaScript SDK and asks svcctl about all of them.
// Arguments: the folder with the packages, svcctl, the folder with the cards, the versions of the SDK.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , from, svcctl, work, ...versions] = process.argv;

const plain = {
    name: "n", description: "d", version: "1", capabilities: { streaming: true },
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
    skills: [{ id: "i", name: "n", description: "d", tags: ["t"] }],
};
const url = "https://a.example/";
const provider = { organization: "o", url: "https://o.example/" };

// Before 1.0 a card is a plain object, which the SDK's handler serves.
async function before1(version, { DefaultRequestHandler }) {
    const full = {
        ...plain, url, provider,
        capabilities: { streaming: true, pushNotifications: false },
        securitySchemes: { k: { type: "apiKey", in: "header", name: "X" }, o: { type: "oauth2", flows: {} } },
        security: [{ k: [] }],
        supportsAuthenticatedExtendedCard: false,
    };
    const numbered = version.startsWith("0.3") ? { protocolVersion: "0.3.0" } : {};
    for (const [name, card] of Object.entries({ plain: { ...plain, url }, full })) {
        const handler = new DefaultRequestHandler({ ...numbered, ...card }, {}, {});
        write(version, name, version.startsWith("0.3") ? "a2a-0.3" : "a2a-0.2", await handler.getAgentCard());
    }
}

// Since 1.0 the SDK reads and writes cards itself.
function since1(version, { AgentCard }) {
    const endpoint = (protocolBinding) => ({ url, protocolBinding, protocolVersion: "1.0", tenant: "" });
    const full = {
        ...plain, provider, supportedInterfaces: [endpoint("HTTP+JSON"), endpoint("JSONRPC")],
        capabilities: { streaming: true, extensions: [{ uri: url, required: true }] },
        securitySchemes: { k: { apiKeySecurityScheme: { location: "header", name: "X" } } },
        securityRequirements: [{ schemes: { k: { list: [] } } }],
        signatures: [{ protected: "e30", signature: "x" }],
    };
    const cards = {
        plain: { ...plain, supportedInterfaces: [endpoint("JSONRPC")] },
        grpc: { ...plain, supportedInterfaces: [endpoint("GRPC")] },
        full,
    };
    for (const [name, card] of Object.entries(cards)) {
        write(version, name, "a2a-1.x", AgentCard.toJSON(AgentCard.fromJSON(card)));
    }
}

function write(version, name, kind, card) {
    writeFileSync(join(work, `javascript-${version}-${name}.${kind}.json`), JSON.stringify(card, null, 2));
}

for (const version of versions) {
    const folder = resolve(from, "node_modules", `sdk-${version}`);
    const { main, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    // The first releases have one entry for everything.
    const load = (entry) => import(pathToFileURL(join(folder, exports?.[entry].import ?? main)));
    if (version.startsWith("0.")) {
        await before1(version, await load("./server"));
    } else {
        since1(version, await load("."));
    }
}

const run = (...words) => spawnSync(svcctl, ["cards", ...words], { encoding: "utf8" });
const wrong = [];
let count = 0;
for (const name of readdirSync(work).filter((name) => name.endsWith(".json"))) {
    const file = join(work, name);
    const kind = name.match(/\.([^.]+(?:\.[^.]+)?)\.json$/)[1].replace(/^.*(a2a-.*|hybrid)$/, "$1");
    const explained = JSON.parse(run("explain", "--output", "json", file).stdout);
    if (explained.dialect !== kind) {
        wrong.push(`${name}: ${explained.dialect}, but it is ${kind}`);
    }
    if (!explained.evidence.some(({ supports }) => supports)) {
        wrong.push(`${name}: nothing speaks for what it is said to be`);
    }
    const version = explained.report.findings.find(({ pointer }) => pointer === "/protocolVersion");
    if (version !== undefined && !version.suggestion?.includes('"1.0"')) {
        wrong.push(`${name}: the advice about protocolVersion is ${version.suggestion}`);
    }
    // What is said about converting is what happens.
    const { stdout } = run("explain", file);
    const advised = stdout.match(/^to convert it.*: svcctl cards (convert --to current( --lossy)?) /m);
    const converted = run(...(advised?.[1] ?? "convert --to current --lossy").split(" "), file);
    if ((converted.status === 0) !== (advised !== null)) {
        wrong.push(`${name}: converting ended with ${converted.status}: ${converted.stderr}${stdout}`);
    }
    if (advised !== null && JSON.parse(converted.stdout).protocolVersion !== "1.0") {
        wrong.push(`${name}: it became ${converted.stdout}`);
    }
    count += 1;
}
if (wrong.length > 0) throw new Error(`${wrong.length} of ${count}:\n${wrong.join("\n")}`);
if (count < 80) throw new Error(`only ${count} cards`);
console.log(`${count} cards of SDKs are explained and converted as they should be`);
