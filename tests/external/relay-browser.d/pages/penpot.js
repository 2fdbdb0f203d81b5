// A page of a design tool that treats a plugin as Penpot does: it fetches the manifest and the script, runs the script
// with `penpot` as a global, opens the plugin's page in a sandboxed frame, and passes messages between the two.
import { FakePenpot } from "/fakes/penpot.js";
import { Kept } from "./kept.js";

const fake = new FakePenpot();
fake.storage.kept = new Kept("penpot ");
// The tests look at the file here.
window.fake = fake;

const frame = document.createElement("iframe");
frame.allow = "";
frame.sandbox.add("allow-scripts", "allow-forms", "allow-modals", "allow-popups", "allow-popups-to-escape-sandbox",
    "allow-storage-access-by-user-activation", "allow-same-origin");
frame.width = "360";
frame.height = "620";
fake.toPage = (message) => frame.contentWindow.postMessage(message, "*");
// Messages of every page reach every plugin.
window.addEventListener("message", ({ data }) => fake.toScript(data));

const manifest = await (await fetch(new URLSearchParams(location.search).get("manifest"))).json();
const code = await (await fetch(new URL(manifest.code, manifest.host))).text();
new Function("penpot", code)(fake.global());
frame.src = new URL(fake.url, manifest.host).href;
document.body.append(frame);
