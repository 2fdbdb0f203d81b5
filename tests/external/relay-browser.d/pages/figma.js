// A page of a design tool that treats a plugin as Figma does: it runs the script with `figma` as a global, and shows the
// one text that the script hands over in a frame of an opaque origin. What the frame may do is not published, so it may
// run scripts and nothing else.
import { FakeFigma } from "/fakes/figma.js";
import { Kept } from "./kept.js";

const fake = new FakeFigma();
fake.kept = new Kept("figma ");
fake.fileKey = "file-1";
window.fake = fake;

const read = async (path) => (await fetch(`/plugin/${path}`)).text();
const manifest = JSON.parse(await read("figma/manifest.json"));
const files = {};
for (const [name, path] of Object.entries(manifest.ui)) files[name] = await read(`core/${path}`);

const frame = document.createElement("iframe");
frame.sandbox.add("allow-scripts");
frame.width = "360";
frame.height = "620";
fake.toPage = (message) => frame.contentWindow.postMessage({ pluginMessage: message }, "*");
window.addEventListener("message", ({ source, data }) => {
    if (source === frame.contentWindow && data?.pluginMessage) fake.toScript(data.pluginMessage);
});
new Function("figma", "__uiFiles__", await read("figma/code.js"))(fake.global(), files);
frame.srcdoc = fake.html;
document.body.append(frame);
