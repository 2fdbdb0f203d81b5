// A Figma that holds one small file in memory. Each class declares which part of the published types it stands for, and
// the type-check holds it to that part; reading a member that it has not is an error, in `strictly`.
import { strictly } from "./strictly.js";

/** @typedef {"id" | "name" | "removed" | "parent" | "x" | "y" | "width" | "height" | "locked" | "remove" | "resize"} Used */

/** @implements {Pick<RectangleNode, Used>} */
class FakeNode {
    /** @param {FakeFigma} host @param {string} id @param {string} name */
    constructor(host, id, name) {
        this.host = host;
        this.id = id;
        this.name = name;
        this.removed = false;
        this.x = 0;
        this.y = 0;
        this.width = 100;
        this.height = 50;
        this.locked = false;
        /** @type {FakeFrame | FakePage | null} */
        this.holder = null;
    }
    get parent() { return /** @type {RectangleNode["parent"]} */ (/** @type {unknown} */ (this.holder && strictly(this.holder))); }
    /** @param {number} width @param {number} height */
    resize(width, height) {
        this.host.changing("resize");
        this.width = width;
        this.height = height;
    }
    remove() {
        this.host.changing("remove");
        if (this.holder) this.holder.held = this.holder.held.filter((one) => one !== this);
        this.holder = null;
        this.removed = true;
    }
    /** @param {ExportSettings} [settings] */
    async exportAsync(settings) {
        this.host.exports.push(settings?.format ?? "PNG");
        return new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    }
}

/** @implements {Pick<RectangleNode, "type" | "fills">} */
class FakeRectangle extends FakeNode {
    /** @type {"RECTANGLE"} */
    type = "RECTANGLE";
    /** @type {RectangleNode["fills"]} */
    paints = [];
    get fills() { return this.paints; }
    set fills(fills) {
        this.host.changing("fills");
        this.paints = fills;
    }
}

/** @implements {Pick<TextNode, "type" | "fills" | "characters" | "fontSize" | "fontName" | "getRangeAllFontNames">} */
class FakeText extends FakeNode {
    /** @type {"TEXT"} */
    type = "TEXT";
    /** @type {TextNode["fills"]} */
    fills = [];
    /** @type {TextNode["fontSize"]} */
    fontSize = 12;
    /** @type {TextNode["fontName"]} */
    fontName = { family: "Inter", style: "Regular" };
    words = "";
    get characters() { return this.words; }
    set characters(characters) {
        // As Figma does: a text whose font is not loaded cannot be changed.
        if (!this.host.fonts.has("Inter Regular")) throw new Error("the font is not loaded");
        this.host.changing("characters");
        this.words = characters;
    }
    getRangeAllFontNames() { return [{ family: "Inter", style: "Regular" }]; }
}

/** @implements {Pick<FrameNode, "type" | "fills" | "children" | "appendChild" | "insertChild">} */
class FakeFrame extends FakeNode {
    /** @type {"FRAME"} */
    type = "FRAME";
    /** @type {FrameNode["fills"]} */
    fills = [];
    /** @type {FakeNode[]} */
    held = [];
    get children() { return /** @type {SceneNode[]} */ (/** @type {unknown} */ (this.held.map(strictly))); }
    /** @param {SceneNode} child */
    appendChild(child) { this.insertChild(this.held.length, child); }
    /** @param {number} index @param {SceneNode} child */
    insertChild(index, child) { this.host.put(this, index, child.id); }
}

/** @implements {Pick<PageNode, "id" | "name" | "type" | "children" | "selection" | "loadAsync" | "findAll" | "appendChild" | "insertChild">} */
class FakePage {
    /** @type {"PAGE"} */
    type = "PAGE";
    /** @type {null} */
    parent = null;
    isLoaded = false;
    /** @type {FakeNode[]} */
    held = [];
    /** @param {FakeFigma} host @param {string} id @param {string} name */
    constructor(host, id, name) {
        this.host = host;
        this.id = id;
        this.name = name;
    }
    async loadAsync() { this.isLoaded = true; }
    get children() { return /** @type {SceneNode[]} */ (/** @type {unknown} */ (this.held.map(strictly))); }
    get selection() {
        return /** @type {SceneNode[]} */ (/** @type {unknown} */ (this.host.selected.map((id) => strictly(this.host.known(id)))));
    }
    /** @param {(node: SceneNode) => boolean} [fits] */
    findAll(fits) {
        // As Figma does for `dynamic-page`.
        if (!this.isLoaded) throw new Error("the page is not loaded");
        /** @param {FakeNode} one @returns {FakeNode[]} */
        const below = (one) => [one, ...(one instanceof FakeFrame ? one.held.flatMap(below) : [])];
        const all = /** @type {SceneNode[]} */ (/** @type {unknown} */ (this.held.flatMap(below).map(strictly)));
        return fits ? all.filter(fits) : all;
    }
    /** @param {SceneNode} child */
    appendChild(child) { this.insertChild(this.held.length, child); }
    /** @param {number} index @param {SceneNode} child */
    insertChild(index, child) { this.host.put(this, index, child.id); }
}

export class FakeFigma {
    constructor() {
        /** @type {Map<string, unknown>} */
        this.kept = new Map();
        /** @type {Set<string>} */
        this.fonts = new Set();
        /** @type {string[]} what was done between two `commitUndo` */
        this.undo = [];
        /** @type {string[]} */
        this.since = [];
        /** @type {string | null} the change that fails, once */
        this.breaks = null;
        /** @type {string[]} */
        this.exports = [];
        this.selected = ["1:2"];
        this.html = "";
        this.count = 0;
        /** @type {string | undefined} */
        this.fileKey = undefined;
        // The page in view.
        this.page = new FakePage(this, "0:1", "Login");
        this.other = new FakePage(this, "0:2", "Archive");
        this.pages = [this.page, this.other];
        /** @type {FakeNode[]} */
        this.made = [];
        const frame = this.add(new FakeFrame(this, "1:1", "Form"), this.page);
        frame.x = 10;
        frame.y = 20;
        this.add(new FakeText(this, "1:2", "Title"), frame).words = "Log in";
        this.add(new FakeRectangle(this, "1:3", "Button"), frame).paints =
            [{ type: "SOLID", color: { r: 1, g: 0, b: 0 }, opacity: 0.5 }];
        this.add(new FakeRectangle(this, "2:1", "Old"), this.other);
        /** @type {(message: unknown) => void} */
        this.toScript = () => {};
        /** @type {(message: unknown) => void} what the page gets */
        this.toPage = () => {};
        /** @type {Map<string, () => void>} */
        this.listeners = new Map();
    }

    /** @template {FakeNode} N @param {N} node @param {FakeFrame | FakePage} holder */
    add(node, holder) {
        this.made.push(node);
        holder.held.push(node);
        node.holder = holder;
        return node;
    }

    /** @param {FakeFrame | FakePage} holder @param {number} index @param {string} id */
    put(holder, index, id) {
        this.changing("insert");
        const node = this.known(id);
        if (node.holder) node.holder.held = node.holder.held.filter((one) => one !== node);
        holder.held.splice(index, 0, node);
        node.holder = holder;
    }

    /** @param {string} id */
    known(id) {
        const found = this.made.find((one) => one.id === id);
        if (!found) throw new Error(`there is no ${id}`);
        return found;
    }

    /** @param {string} what */
    changing(what) {
        if (this.breaks === what) {
            this.breaks = null;
            throw new Error(`${what} failed`);
        }
        this.since.push(what);
    }

    /** @template {FakeNode} N @param {new (host: FakeFigma, id: string, name: string) => N} kind */
    create(kind) {
        this.changing("create");
        return this.add(new kind(this, `9:${++this.count}`, "New"), this.page);
    }

    // What the script sees as `figma`.
    global() {
        const self = this;
        /** @type {PluginAPI["createText"]} */
        const createText = () => /** @type {TextNode} */ (/** @type {unknown} */ (strictly(self.create(FakeText))));
        /** @type {PluginAPI["createRectangle"]} */
        const createRectangle = () => /** @type {RectangleNode} */ (/** @type {unknown} */ (strictly(self.create(FakeRectangle))));
        /** @type {PluginAPI["createFrame"]} */
        const createFrame = () => /** @type {FrameNode} */ (/** @type {unknown} */ (strictly(self.create(FakeFrame))));
        /** @type {PluginAPI["getNodeByIdAsync"]} */
        const getNodeByIdAsync = async (id) => {
            const found = self.made.find((one) => one.id === id && !one.removed);
            return /** @type {BaseNode | null} */ (/** @type {unknown} */ (found ? strictly(found) : null));
        };
        /** @type {PluginAPI["loadFontAsync"]} */
        const loadFontAsync = async (font) => {
            if (typeof font === "object" && "style" in font) self.fonts.add(`${font.family} ${font.style}`);
        };
        /** @type {PluginAPI["commitUndo"]} */
        const commitUndo = () => {
            if (self.since.length > 0) self.undo.push(self.since.join("+"));
            self.since = [];
        };
        /** @type {Pick<ClientStorageAPI, "getAsync" | "setAsync" | "deleteAsync" | "keysAsync">} */
        const clientStorage = {
            getAsync: async (key) => self.kept.get(key),
            setAsync: async (key, value) => void self.kept.set(key, value),
            deleteAsync: async (key) => void self.kept.delete(key),
            keysAsync: async () => [...self.kept.keys()],
        };
        /** @type {Pick<UIAPI, "on" | "postMessage">} */
        const ui = {
            on: (_type, callback) => { self.toScript = (message) => callback(message, { origin: "null" }); },
            postMessage: (message) => self.toPage(message),
        };
        /** @type {PluginAPI["showUI"]} */
        const showUI = (html) => { self.html = html; };
        /** @type {(type: string, callback: () => void) => void} */
        const on = (type, callback) => void self.listeners.set(type, callback);
        return strictly({
            mixed: Symbol("mixed"),
            ui: strictly(ui),
            clientStorage: strictly(clientStorage),
            on, showUI, commitUndo, loadFontAsync, getNodeByIdAsync, createText, createRectangle, createFrame,
            get fileKey() { return self.fileKey; },
            get currentPage() { return strictly(self.page); },
            get root() { return strictly({ name: "Web shop", children: self.pages.map(strictly) }); },
        });
    }
}
