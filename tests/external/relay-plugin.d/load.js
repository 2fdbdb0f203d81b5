// Loads the plain scripts of the plugin as the pages and hosts do: in order, into one scope, in this realm.
import { readFileSync } from "node:fs";

const folder = new URL("../../../packaging/relay-plugin/", import.meta.url);
export const read = (name) => readFileSync(new URL(name, folder), "utf8");

// The scripts of the page but the last, which needs a document; in the order of the page itself.
const page = read("core/ui.html");
export const scripts = [...page.matchAll(/<script src="(\w+)\.js">/g)].map(([, name]) => name);

const names = ["canonical", "rounded", "base64", "base64url", "fromBase64url", "sha256", "digestOf", "digestOfArguments",
    "signed", "makeKey", "importKey", "publicKey", "sign", "verifies", "nonce", "fits", "frameOf", "FRAMES", "ACTIONS",
    "backoff", "afterClose", "slept", "accepts", "allowed", "socketAddress", "STATUS", "visible", "cardStep", "cardOf",
    "refusalOf", "previewOf", "Journal", "Conversation", "Refused", "resultFrame", "failure"];
const text = scripts.filter((name) => name !== "ui").map((name) => read(`core/${name}.js`)).join("\n");
export const core = new Function(`${text}\nreturn { ${names.join(", ")} };`)();

const asker = (fake, token) => {
    let n = 0;
    const waiting = new Map();
    const changes = [];
    fake.toPage = (sent) => {
        // What passes between windows is cloned.
        const message = structuredClone(sent);
        if (message.relay === "changed") return changes.push(message.file);
        const { answer, refuse } = waiting.get(message.n);
        if (message.refused === undefined) answer(message.answer);
        else refuse(new core.Refused(message.refused));
    };
    const ask = (question) => new Promise((answer, refuse) => {
        waiting.set(++n, { answer, refuse });
        fake.toScript(structuredClone({ relay: "ask", token: token(), n, question }));
    });
    return { ask, changes };
};

// Starts the adapter in a fake host; what comes back asks it as the page would.
export function startPenpot(fake) {
    new Function("penpot", read("penpot/plugin.js"))(fake.global());
    return asker(fake, () => new URL(fake.url, "https://svc.example").hash.slice(1));
}

export function startFigma(fake) {
    const { ui } = JSON.parse(read("figma/manifest.json"));
    const files = Object.fromEntries(Object.entries(ui).map(([name, path]) => [name, read(`core/${path}`)]));
    new Function("figma", "__uiFiles__", read("figma/code.js"))(fake.global(), files);
    return asker(fake, () => "");
}
