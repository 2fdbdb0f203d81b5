// The design tools: their pages, on two origins that are not the daemon's and not of one site with it.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const tree = join(import.meta.dirname, "../../..");
const FOLDERS = [
    ["/pages/", join(import.meta.dirname, "pages")],
    ["/fakes/", join(tree, "tests/external/relay-plugin.d")],
    ["/plugin/", join(tree, "packaging/relay-plugin")],
];
const page = (body) => `<!doctype html><meta charset="utf-8"><title>Design tool</title><body>${body}`;
const PAGES = {
    "/penpot": page(`<script type="module" src="/pages/penpot.js"></script>`),
    "/figma": page(`<script type="module" src="/pages/figma.js"></script>`),
    // Of another page that embeds the plugin, or only sits beside it.
    "/stranger": page(""),
};
const TYPES = { ".js": "text/javascript", ".json": "application/json", ".html": "text/html", ".css": "text/css" };

const find = (path) => {
    if (Object.hasOwn(PAGES, path)) return { type: "text/html", body: PAGES[path] };
    const [prefix, folder] = FOLDERS.find(([start]) => path.startsWith(start)) ?? [];
    const rest = prefix && normalize(path.slice(prefix.length));
    if (!rest || rest.startsWith("..")) return null;
    return { type: TYPES[extname(rest)] ?? "application/octet-stream", body: readFileSync(join(folder, rest)) };
};

// Serves the pages at `localhost`, while the daemon is at 127.0.0.1.
export async function designTool() {
    const server = createServer((request, response) => {
        const found = find(new URL(request.url, "http://localhost").pathname);
        if (!found) return response.writeHead(404).end();
        response.writeHead(200, { "content-type": `${found.type}; charset=utf-8` }).end(found.body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address();
    return {
        port,
        origin: `http://localhost:${port}`,
        close: () => { server.close(); server.closeAllConnections(); },
    };
}
