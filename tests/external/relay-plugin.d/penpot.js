// A Penpot that holds one small file in memory. Each class declares which part of the published types it stands for,
// and the type-check holds it to that part; reading a member that it has not is an error, in `strictly`.
import { strictly } from "./strictly.js";

/** @typedef {import("@penpot/plugin-types").Shape} Shape */
/** @typedef {"id" | "name" | "parent" | "parentIndex" | "x" | "y" | "width" | "height" | "parentX" | "parentY" | "blocked"
 *     | "isComponentRoot" | "isComponentMainInstance" | "isComponentCopyInstance" | "resize" | "export" | "remove"} Used */

/** @implements {Pick<import("@penpot/plugin-types").ShapeBase, Used>} */
class FakeShape {
    /** @param {FakePenpot} host @param {string} id @param {string} name */
    constructor(host, id, name) {
        this.host = host;
        this.id = id;
        this.name = name;
        this.x = 0;
        this.y = 0;
        this.width = 100;
        this.height = 50;
        this.blocked = false;
        /** @type {FakeContainer | null} */
        this.holder = null;
    }
    get parent() { return /** @type {Shape | null} */ (/** @type {unknown} */ (this.holder && strictly(this.holder))); }
    get parentIndex() { return this.holder ? this.holder.held.indexOf(this) : 0; }
    get parentX() { return this.x - (this.holder?.x ?? 0); }
    set parentX(x) { this.x = x + (this.holder?.x ?? 0); }
    get parentY() { return this.y - (this.holder?.y ?? 0); }
    set parentY(y) { this.y = y + (this.holder?.y ?? 0); }
    isComponentRoot() { return false; }
    isComponentMainInstance() { return false; }
    isComponentCopyInstance() { return false; }
    /** @param {number} width @param {number} height */
    resize(width, height) {
        this.host.changing("resize");
        this.width = width;
        this.height = height;
    }
    /** @param {import("@penpot/plugin-types").Export} config */
    async export(config) {
        this.host.exports.push(config.type);
        return new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    }
    remove() {
        this.host.changing("remove");
        if (this.holder) this.holder.held = this.holder.held.filter((one) => one !== this);
        this.holder = null;
    }
}

/** @implements {Pick<import("@penpot/plugin-types").Rectangle, "type" | "fills">} */
class FakeRectangle extends FakeShape {
    /** @type {"rectangle"} */
    type = "rectangle";
    /** @type {import("@penpot/plugin-types").Fill[]} */
    paints = [];
    get fills() { return this.paints; }
    set fills(fills) {
        this.host.changing("fills");
        this.paints = fills;
    }
}

/** @implements {Pick<import("@penpot/plugin-types").Text, "type" | "fills" | "characters" | "fontSize">} */
class FakeText extends FakeShape {
    /** @type {"text"} */
    type = "text";
    /** @type {import("@penpot/plugin-types").Fill[]} */
    fills = [{ fillColor: "#000000" }];
    characters = "";
    fontSize = "14";
}

/** @implements {Pick<import("@penpot/plugin-types").Board, "type" | "fills" | "children" | "appendChild" | "insertChild">} */
class FakeContainer extends FakeShape {
    /** @type {"board"} */
    type = "board";
    /** @type {import("@penpot/plugin-types").Fill[]} */
    fills = [];
    /** @type {FakeShape[]} */
    held = [];
    get children() { return /** @type {Shape[]} */ (/** @type {unknown} */ (this.held.map(strictly))); }
    /** @param {Shape} child */
    appendChild(child) { this.insertChild(this.held.length, child); }
    /** @param {number} index @param {Shape} child */
    insertChild(index, child) {
        this.host.changing("insert");
        const shape = this.host.known(child.id);
        if (shape.holder) shape.holder.held = shape.holder.held.filter((one) => one !== shape);
        this.held.splice(index, 0, shape);
        shape.holder = this;
    }
}

/** @implements {Pick<import("@penpot/plugin-types").Page, "id" | "name" | "root" | "getShapeById" | "findShapes">} */
class FakePage {
    /** @param {FakePenpot} host @param {string} id @param {string} name */
    constructor(host, id, name) {
        this.host = host;
        this.id = id;
        this.name = name;
        this.top = new FakeContainer(host, `root-of-${id}`, "Root Frame");
    }
    get root() { return /** @type {Shape} */ (/** @type {unknown} */ (strictly(this.top))); }
    /** @returns {FakeShape[]} */
    all() {
        /** @param {FakeShape} one @returns {FakeShape[]} */
        const below = (one) => [one, ...(one instanceof FakeContainer ? one.held.flatMap(below) : [])];
        return below(this.top);
    }
    /** @param {string} id */
    getShapeById(id) {
        const found = this.all().find((one) => one.id === id);
        return /** @type {Shape | null} */ (/** @type {unknown} */ (found ? strictly(found) : null));
    }
    findShapes() { return /** @type {Shape[]} */ (/** @type {unknown} */ (this.all().map(strictly))); }
}

/** @implements {Pick<import("@penpot/plugin-types").LocalStorage, "getItem" | "setItem" | "removeItem" | "getKeys">} */
class FakeStorage {
    /** @type {Map<string, string>} */
    kept = new Map();
    /** @param {string} key */
    getItem(key) {
        const text = this.kept.get(key);
        if (text === undefined) throw new Error(`there is no ${key}`);
        return text;
    }
    /** @param {string} key @param {unknown} value */
    setItem(key, value) { this.kept.set(key, String(value)); }
    /** @param {string} key */
    removeItem(key) { this.kept.delete(key); }
    getKeys() { return [...this.kept.keys()]; }
}

/** @typedef {"currentFile" | "currentPage" | "selection" | "localStorage" | "history" | "ui" | "on" | "createRectangle"
 *     | "createBoard" | "createText"} UsedOfPenpot */
/** @typedef {import("@penpot/plugin-types").Penpot} Penpot */

export class FakePenpot {
    constructor() {
        this.storage = new FakeStorage();
        /** @type {string[]} the undo blocks, with what was done in each */
        this.undo = [];
        /** @type {string[] | null} */
        this.block = null;
        /** @type {string | null} the change that fails, once */
        this.breaks = null;
        /** @type {string[]} */
        this.exports = [];
        this.selected = ["title"];
        this.count = 0;
        // The page in view.
        this.page = new FakePage(this, "page-1", "Login");
        this.other = new FakePage(this, "page-2", "Archive");
        this.pages = [this.page, this.other];
        /** @type {FakeShape[]} */
        this.made = [];
        const board = this.add(new FakeContainer(this, "board", "Form"), this.page.top);
        board.x = 10;
        board.y = 20;
        const text = this.add(new FakeText(this, "title", "Title"), board);
        text.characters = "Log in";
        this.add(new FakeRectangle(this, "button", "Button"), board).paints = [{ fillColor: "#FF0000", fillOpacity: 0.5 }];
        this.add(new FakeRectangle(this, "old", "Old"), this.other.top);
        /** @type {(message: unknown) => void} */
        this.toScript = () => {};
        /** @type {(message: unknown) => void} what the page gets */
        this.toPage = () => {};
        this.url = "";
        /** @type {Map<string, () => void>} */
        this.listeners = new Map();
    }

    /** @template {FakeShape} S @param {S} shape @param {FakeContainer} holder */
    add(shape, holder) {
        this.made.push(shape);
        holder.held.push(shape);
        shape.holder = holder;
        return shape;
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
        this.block?.push(what);
    }

    /** @template {FakeShape} S @param {new (host: FakePenpot, id: string, name: string) => S} kind */
    create(kind) {
        this.changing("create");
        return this.add(new kind(this, `made-${++this.count}`, "New"), this.page.top);
    }

    // What the script sees as `penpot`.
    global() {
        const self = this;
        /** @type {Penpot["createText"]} */
        const createText = (characters) => {
            const text = self.create(FakeText);
            text.characters = characters;
            return /** @type {import("@penpot/plugin-types").Text} */ (/** @type {unknown} */ (strictly(text)));
        };
        /** @type {Penpot["createRectangle"]} */
        const createRectangle = () =>
            /** @type {import("@penpot/plugin-types").Rectangle} */ (/** @type {unknown} */ (strictly(self.create(FakeRectangle))));
        /** @type {Penpot["createBoard"]} */
        const createBoard = () =>
            /** @type {import("@penpot/plugin-types").Board} */ (/** @type {unknown} */ (strictly(self.create(FakeContainer))));
        /** @type {Penpot["history"]} */
        const history = {
            undoBlockBegin: () => {
                if (self.block) throw new Error("an undo block inside another");
                self.block = [];
                return Symbol("block");
            },
            undoBlockFinish: () => {
                self.undo.push((self.block ?? []).join("+"));
                self.block = null;
            },
        };
        /** @type {Pick<Penpot["ui"], "open" | "sendMessage" | "onMessage">} */
        const ui = {
            open: (_name, url) => { self.url = url; },
            sendMessage: (message) => self.toPage(message),
            onMessage: (callback) => { self.toScript = (message) => callback(/** @type {never} */ (message)); },
        };
        /** @type {(type: string, callback: () => void) => symbol} */
        const on = (type, callback) => {
            self.listeners.set(type, callback);
            return Symbol(type);
        };
        return strictly({
            ui: strictly(ui),
            on,
            history: strictly(history),
            createRectangle,
            createBoard,
            createText,
            get localStorage() { return strictly(self.storage); },
            get currentPage() { return strictly(self.page); },
            get currentFile() { return strictly({ id: "file-1", name: "Web shop", pages: self.pages.map(strictly) }); },
            get selection() { return self.selected.map((id) => strictly(self.known(id))); },
        });
    }
}
