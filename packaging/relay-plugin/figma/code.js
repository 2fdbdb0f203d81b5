// The script in Figma: looks at the file and acts on it, for the page of the plugin. It decides nothing, except that
// what it was told to expect must still be so. Written in the language of 2017, which is what Figma's engine promises.
"use strict";

(() => {
    const TEXT_MAX = 20000;
    const NODES_MAX = 500;
    const NODE_BYTES_MAX = 256 * 1024;
    const THUMBNAIL_WIDTH = 160;

    class Refusal extends Error {}
    // It failed in the middle and could not be undone.
    class HalfDone extends Error {}

    // ---- Reading ----

    /** @returns {OpenFile} */
    const openFile = () => ({
        // Figma gives the key to private plugins only. Without it the file is not recognized after a reload.
        key: figma.fileKey ? figma.fileKey.slice(0, 200) : null,
        name: line(figma.root.name),
        page: line(figma.currentPage.name),
    });

    /** 200 characters, not cut within one. @param {string} text */
    const line = (text) => Array.from(sound(text)).slice(0, 200).join("");

    // Half a character has no canonical form, and a cut text may end in one.
    /** @param {string} text */
    const sound = (text) => text.replace(/[\uD800-\uDFFF]/gu, "\uFFFD");

    /** @param {number} value */
    const round = (value) => Math.round(value * 1000) / 1000;

    /** @param {BaseNode} node @returns {node is SceneNode & ChildrenMixin} */
    const isContainer = (node) => "children" in node && node.type !== "DOCUMENT" && node.type !== "PAGE";

    /** @param {SceneNode} node @returns {ReadonlyArray<SceneNode>} */
    const childrenOf = (node) => (isContainer(node) ? node.children : []);

    /** @param {SceneNode} node */
    const kindOf = (node) => {
        switch (node.type) {
            case "FRAME": case "SECTION": return "frame";
            case "GROUP": return "group";
            case "RECTANGLE": {
                const fills = node.fills;
                return Array.isArray(fills) && fills.some(({ type }) => type === "IMAGE") ? "image" : "rectangle";
            }
            case "ELLIPSE": return "ellipse";
            case "TEXT": return "text";
            case "COMPONENT": case "COMPONENT_SET": return "component";
            case "INSTANCE": return "instance";
            case "VECTOR": case "LINE": case "STAR": case "POLYGON": case "BOOLEAN_OPERATION": return "path";
            default: return "other";
        }
    };

    /** @param {RGB} color */
    const hex = ({ r, g, b }) =>
        `#${[r, g, b].map((part) => Math.round(part * 255).toString(16).padStart(2, "0")).join("")}`;

    /** @param {string} color @param {number} opacity @returns {SolidPaint} */
    const solid = (color, opacity) => {
        const part = (/** @type {number} */ at) => parseInt(color.slice(at, at + 2), 16) / 255;
        return { type: "SOLID", color: { r: part(1), g: part(3), b: part(5) }, opacity };
    };

    /** @param {SceneNode} node @returns {{fill: string | null, opacity: number | null}} */
    const fillOf = (node) => {
        if (!("fills" in node)) return { fill: null, opacity: null };
        const { fills } = node;
        if (fills === figma.mixed) return { fill: "mixed", opacity: null };
        // `mixed` is a symbol, and what is left is a list.
        const shown = /** @type {ReadonlyArray<Paint>} */ (fills).filter(({ visible }) => visible !== false);
        if (shown.length === 0) return { fill: null, opacity: null };
        const paint = shown[0];
        if (shown.length > 1 || paint.type !== "SOLID") return { fill: "mixed", opacity: null };
        return { fill: hex(paint.color), opacity: round(paint.opacity === undefined ? 1 : paint.opacity) };
    };

    /** @param {SceneNode} node @returns {Box} */
    const boxOf = (node) => ({
        x: round("x" in node ? node.x : 0),
        y: round("y" in node ? node.y : 0),
        width: round("width" in node ? node.width : 0),
        height: round("height" in node ? node.height : 0),
    });

    /** Every node below, in their order. @param {SceneNode} node @returns {SceneNode[]} */
    const below = (node) => {
        /** @type {SceneNode[]} */
        const found = [];
        const ahead = Array.from(childrenOf(node)).reverse();
        for (let next = ahead.pop(); next; next = ahead.pop()) {
            found.push(next);
            ahead.push(...Array.from(childrenOf(next)).reverse());
        }
        return found;
    };

    /** The node that holds it; null when only the page does. @param {BaseNode} node */
    const parentOf = (node) => (node.parent && node.parent.type !== "PAGE" && node.parent.type !== "DOCUMENT" ? node.parent : null);

    /** @param {SceneNode} node @returns {Print} */
    const printOf = (node) => {
        const inside = below(node);
        /** @type {string[]} */
        const texts = [];
        for (const one of [node, ...inside]) if (one.type === "TEXT") texts.push(one.characters);
        const parent = parentOf(node);
        const { fill, opacity } = fillOf(node);
        return {
            id: node.id,
            name: sound(node.name),
            kind: kindOf(node),
            parent: parent ? parent.id : null,
            box: boxOf(node),
            text: texts.length === 0 ? null : sound(texts.join("\n").slice(0, TEXT_MAX)),
            fill,
            opacity,
            inside: inside.length,
        };
    };

    /** @param {BaseNode} node @returns {PageNode | null} */
    const pageOf = (node) => {
        for (let at = /** @type {BaseNode | null} */ (node); at; at = at.parent) if (at.type === "PAGE") return at;
        return null;
    };

    /** @param {unknown} id @param {boolean} isRead @returns {Promise<SceneNode>} */
    const find = async (id, isRead) => {
        const node = typeof id === "string" ? await figma.getNodeByIdAsync(id) : null;
        if (!node || node.removed || node.type === "DOCUMENT" || node.type === "PAGE") throw new Refusal("no_such_node");
        const page = pageOf(node);
        if (!page) throw new Refusal("no_such_node");
        // A person cannot watch what happens on a page that is not in view.
        if (!isRead && page.id !== figma.currentPage.id) throw new Refusal("page_not_active");
        return node;
    };

    const READS = ["list_pages", "get_selection", "get_node", "find_nodes", "export_image"];

    /** What an action is about. Throws what makes it impossible. @param {string} action @param {JsonObject} args @returns {Promise<{node?: SceneNode, parent?: SceneNode}>} */
    const targetsOf = async (action, args) => {
        const isRead = READS.includes(action);
        const node = args.node === undefined ? undefined : await find(args.node, isRead);
        const parent = args.parent === undefined ? undefined : await find(args.parent, isRead);
        if (node && "locked" in node && node.locked && !isRead) throw new Refusal("node_locked");
        if (action === "set_text" && node && node.type !== "TEXT") throw new Refusal("not_a_text");
        if (action === "set_fill" && node && !("fills" in node)) throw new Refusal("no_fills");
        if (action === "resize_node" && node && !("resize" in node)) throw new Refusal("no_size");
        if (action === "export_image" && node && !("exportAsync" in node)) throw new Refusal("no_picture");
        if (parent && !(isContainer(parent) && "appendChild" in parent)) throw new Refusal("not_a_container");
        if (node && parent && (node.id === parent.id || below(node).some(({ id }) => id === parent.id))) {
            throw new Refusal("inside_itself");
        }
        return { node, parent };
    };

    /** @param {SceneNode} node @returns {{id: string, name: string, kind: string}} */
    const brief = (node) => ({ id: node.id, name: line(node.name), kind: kindOf(node) });

    /** What an action depends on besides the nodes that it names. @param {string} action @returns {Where | null} */
    const whereOf = (action) => {
        const isOfSelection = action === "get_selection";
        if (READS.includes(action) && !isOfSelection) return null;
        const { id, name, selection } = figma.currentPage;
        return { page: { id, name: line(name) }, selection: isOfSelection ? selection.slice(0, NODES_MAX).map(brief) : null };
    };

    // By ids: names are for the card, and a selection has no order.
    /** @param {Where | null} where */
    const idsOf = (where) => JSON.stringify(where && [where.page.id].concat((where.selection || []).map(({ id }) => id).sort()));

    /** @param {SceneNode} node @param {number} depth @param {{left: number, truncated: boolean}} room @returns {JsonObject} */
    const whole = (node, depth, room) => {
        const { x, y, width, height } = boxOf(node);
        const { fill, opacity } = fillOf(node);
        const text = node.type === "TEXT" ? sound(node.characters) : null;
        const own = Object.assign(brief(node), { box: { x, y, width, height }, fill, opacity, text });
        // Three bytes a UTF-16 unit are the most that UTF-8 takes; the rest is room for `children` and commas.
        room.left -= 3 * JSON.stringify(own).length + 20;
        /** @type {Json[]} */
        const children = [];
        for (const child of childrenOf(node)) {
            if (depth === 0) break;
            if (room.left < 0) {
                room.truncated = true;
                break;
            }
            children.push(whole(child, depth - 1, room));
        }
        return Object.assign(own, { children });
    };

    /** @param {JsonObject} args @returns {Promise<JsonObject>} */
    const search = async (args) => {
        const all = figma.root.children;
        const pages = args.page === undefined ? all : all.filter(({ id, name }) => id === args.page || name === args.page);
        if (pages.length === 0) throw new Refusal("no_such_page");
        const limit = typeof args.limit === "number" ? args.limit : 50;
        const name = typeof args.name === "string" ? args.name.toLowerCase() : "";
        /** @type {Json[]} */
        const nodes = [];
        for (const page of pages) {
            await page.loadAsync();
            const fit = (/** @type {SceneNode} */ node) =>
                node.name.toLowerCase().includes(name) && (args.kind === undefined || kindOf(node) === args.kind);
            for (const node of page.findAll(fit)) {
                if (nodes.length === limit) return { nodes, truncated: true };
                nodes.push(Object.assign(brief(node), { page: page.id }));
            }
        }
        return { nodes, truncated: false };
    };

    // ---- Acting ----

    /** @typedef {{value: Json, bytes?: Uint8Array, made?: SceneNode}} Done */

    /**
     * Runs what changes the file as one undo step. Each change says first how it is put back, so that one that fails
     * leaves nothing behind.
     * @param {(back: (undo: () => void) => void) => Done} change
     * @returns {Done}
     */
    const atOnce = (change) => {
        /** @type {(() => void)[]} */
        const undos = [];
        figma.commitUndo();
        try {
            return change((undo) => undos.push(undo));
        } catch (error) {
            try {
                for (const undo of undos.reverse()) undo();
            } catch (_) {
                throw new HalfDone();
            }
            throw error;
        } finally {
            figma.commitUndo();
        }
    };

    /** @template T @param {T | undefined} value @returns {T} */
    const the = (value) => {
        if (value === undefined) throw new Refusal("no_such_node");
        return value;
    };

    /** @param {RectangleNode | FrameNode | TextNode} made @param {JsonObject} args @param {SceneNode | undefined} parent @returns {Done} */
    const settle = (made, args, parent) => {
        if (parent && isContainer(parent)) parent.appendChild(made);
        if (typeof args.name === "string") made.name = args.name;
        if (typeof args.width === "number" && typeof args.height === "number") made.resize(args.width, args.height);
        if (typeof args.fill === "string") made.fills = [solid(args.fill, 1)];
        made.x = Number(args.x);
        made.y = Number(args.y);
        return { value: { node: made.id }, made };
    };

    /** Every font that a text uses: Figma changes none whose fonts it has not loaded. @param {TextNode} node */
    const loadFonts = async (node) => {
        const { fontName } = node;
        if (fontName !== figma.mixed) return figma.loadFontAsync(/** @type {FontName} */ (fontName));
        await Promise.all(node.getRangeAllFontNames(0, node.characters.length).map((font) => figma.loadFontAsync(font)));
    };

    const FONT = { family: "Inter", style: "Regular" };

    /** Awaits what must be loaded before the last look at the file. @param {string} action @param {SceneNode | undefined} node */
    const prepare = async (action, node) => {
        if (action === "create_text") await figma.loadFontAsync(FONT);
        if (action === "set_text" && node && node.type === "TEXT") await loadFonts(node);
    };

    /** @type {{[action: string]: (args: JsonObject, targets: {node?: SceneNode, parent?: SceneNode}) => Done | Promise<Done>}} */
    const ACTS = {
        list_pages: () => {
            const pages = figma.root.children;
            return {
                value: { pages: pages.slice(0, NODES_MAX).map(({ id, name }) => ({ id, name: line(name) })), truncated: pages.length > NODES_MAX },
            };
        },
        get_selection: () => {
            const { selection } = figma.currentPage;
            return { value: { nodes: selection.slice(0, NODES_MAX).map(brief), truncated: selection.length > NODES_MAX } };
        },
        get_node: (args, { node }) => {
            const room = { left: NODE_BYTES_MAX, truncated: false };
            const value = whole(the(node), typeof args.depth === "number" ? args.depth : 1, room);
            return { value: { node: value, truncated: room.truncated } };
        },
        find_nodes: async (args) => ({ value: await search(args) }),
        export_image: async (args, { node }) => {
            const shown = the(node);
            if (!("exportAsync" in shown)) throw new Refusal("no_picture");
            if (args.format === "svg") {
                return { value: { mimeType: "image/svg+xml" }, bytes: await shown.exportAsync({ format: "SVG" }) };
            }
            /** @type {ExportSettingsConstraints} */
            const constraint = { type: "SCALE", value: typeof args.scale === "number" ? args.scale : 1 };
            const isJpeg = args.format === "jpeg";
            const bytes = await shown.exportAsync({ format: isJpeg ? "JPG" : "PNG", constraint });
            return { value: { mimeType: isJpeg ? "image/jpeg" : "image/png" }, bytes };
        },
        create_rectangle: (args, { parent }) => atOnce((back) => {
            const made = figma.createRectangle();
            back(() => made.remove());
            return settle(made, args, parent);
        }),
        create_frame: (args, { parent }) => atOnce((back) => {
            const made = figma.createFrame();
            back(() => made.remove());
            return settle(made, args, parent);
        }),
        create_text: (args, { parent }) => atOnce((back) => {
            const made = figma.createText();
            back(() => made.remove());
            made.fontName = FONT;
            made.characters = String(args.text);
            if (typeof args.fontSize === "number") made.fontSize = args.fontSize;
            return settle(made, args, parent);
        }),
        set_text: (args, { node }) => atOnce((back) => {
            const text = the(node);
            if (text.type !== "TEXT") throw new Refusal("not_a_text");
            const old = text.characters;
            back(() => { text.characters = old; });
            text.characters = String(args.text);
            return { value: { node: text.id, old: sound(old) } };
        }),
        set_fill: (args, { node }) => atOnce((back) => {
            const filled = the(node);
            if (!("fills" in filled)) throw new Refusal("no_fills");
            const { fills } = filled;
            const { fill } = fillOf(filled);
            back(() => { filled.fills = fills; });
            filled.fills = [solid(String(args.color), typeof args.opacity === "number" ? args.opacity : 1)];
            return { value: { node: filled.id, old: fill } };
        }),
        move_node: (args, { node, parent }) => atOnce((back) => {
            const moved = the(node);
            if (!("x" in moved)) throw new Refusal("no_position");
            const { x, y } = moved;
            const before = moved.parent;
            const index = before ? before.children.findIndex(({ id }) => id === moved.id) : 0;
            const holder = parentOf(moved);
            back(() => {
                if (parent && before && before.type !== "DOCUMENT" && "insertChild" in before) before.insertChild(index, moved);
                moved.x = x;
                moved.y = y;
            });
            if (parent && isContainer(parent)) parent.appendChild(moved);
            moved.x = Number(args.x);
            moved.y = Number(args.y);
            return { value: { node: moved.id, old: { x: round(x), y: round(y), parent: holder ? holder.id : null } } };
        }),
        resize_node: (args, { node }) => atOnce((back) => {
            const sized = the(node);
            if (!("resize" in sized)) throw new Refusal("no_size");
            const { width, height } = sized;
            back(() => sized.resize(width, height));
            sized.resize(Number(args.width), Number(args.height));
            return { value: { node: sized.id, old: { width: round(width), height: round(height) } } };
        }),
        rename_node: (args, { node }) => atOnce((back) => {
            const named = the(node);
            const old = named.name;
            back(() => { named.name = old; });
            named.name = String(args.name);
            return { value: { node: named.id, old: sound(old) } };
        }),
        delete_node: (_args, { node }) => atOnce(() => {
            const gone = the(node);
            const { id } = gone;
            const count = 1 + below(gone).length;
            gone.remove();
            return { value: { node: id, deleted: count } };
        }),
    };

    /** @param {Print} one @param {Print} other */
    const same = (one, other) => one.id === other.id && one.name === other.name && one.kind === other.kind
        && one.parent === other.parent && one.text === other.text && one.fill === other.fill
        && one.opacity === other.opacity && one.inside === other.inside && one.box.x === other.box.x
        && one.box.y === other.box.y && one.box.width === other.box.width && one.box.height === other.box.height;

    /** Whether the nodes are still those that were shown. @param {{node?: SceneNode, parent?: SceneNode}} targets @param {Print[]} expect */
    const unchanged = ({ node, parent }, expect) => [node, parent].every((one) => {
        if (!one) return true;
        const print = expect.find(({ id }) => id === one.id);
        return print !== undefined && !one.removed && same(print, printOf(one));
    });

    /** @param {string[]} ids @returns {Promise<Print[]>} */
    const printsOf = async (ids) => {
        /** @type {Print[]} */
        const prints = [];
        try {
            for (const id of ids) {
                const node = await figma.getNodeByIdAsync(id);
                if (node && !node.removed && node.type !== "DOCUMENT" && node.type !== "PAGE") prints.push(printOf(node));
            }
        } catch (_) {
            // The act happened all the same. Later steps find what they expect changed.
        }
        return prints;
    };

    /** @param {Extract<Question, {ask: "act"}>} question @returns {Promise<Acted>} */
    const act = async ({ action, arguments: args, expect, where, watch, until }) => {
        /** @param {Acted["outcome"]} outcome @param {string | null} code @returns {Acted} */
        const ended = (outcome, code) => ({ outcome, code, value: null, bytes: null, after: [] });
        if (!ACTS.hasOwnProperty(action)) return ended("failed", "unknown_action");
        const isElsewhere = () => idsOf(whereOf(action)) !== idsOf(where);
        let targets;
        try {
            targets = await targetsOf(action, args);
        } catch (_) {
            // It was possible when the card was made.
            return ended("stale", isElsewhere() ? "view_changed" : "target_changed");
        }
        try {
            await prepare(action, targets.node);
        } catch (_) {
            return ended("failed", "no_font");
        }
        if (Date.now() > until) return ended("failed", "too_late");
        if (isElsewhere()) return ended("stale", "view_changed");
        // A node that was moved to another page may have the same fingerprint.
        const target = targets.node || targets.parent;
        const isMoved = !READS.includes(action) && target && (pageOf(target) || target).id !== figma.currentPage.id;
        if (isMoved || !unchanged(targets, expect)) return ended("stale", "target_changed");
        // There is no await between this comparison and the act.
        let done;
        try {
            done = await ACTS[action](args, targets);
        } catch (error) {
            if (error instanceof HalfDone || !unchanged(targets, expect)) return ended("unknown", null);
            return ended("failed", error instanceof Refusal ? error.message : "host");
        }
        const after = await printsOf(done.made ? watch.concat(done.made.id) : watch);
        return { outcome: "succeeded", code: null, value: done.value, bytes: done.bytes || null, after };
    };

    // ---- Answering the page ----

    const PREFIX = "svc.relay ";

    /** @param {Question} question @returns {Promise<Answer>} */
    const answer = async (question) => {
        const store = figma.clientStorage;
        switch (question.ask) {
            case "file": return openFile();
            case "load": {
                const text = await store.getAsync(PREFIX + question.name);
                return typeof text === "string" ? text : null;
            }
            case "save":
                await store.setAsync(PREFIX + question.name, question.text);
                return true;
            case "remove":
                await store.deleteAsync(PREFIX + question.name);
                return true;
            case "names":
                return (await store.keysAsync()).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
            case "look": {
                const { node, parent } = await targetsOf(question.action, question.arguments);
                const targets = Object.assign({}, node && { node: printOf(node) }, parent && { parent: printOf(parent) });
                return { targets, where: whereOf(question.action) };
            }
            case "thumbnail": {
                const node = await find(question.node, true);
                if (!("exportAsync" in node)) return null;
                return node.exportAsync({ format: "PNG", constraint: { type: "WIDTH", value: THUMBNAIL_WIDTH } });
            }
            case "act": return act(question);
            default: throw new Refusal("unknown_question");
        }
    };

    /** Assembles the page: Figma shows one text, and no page there can load another file. */
    const page = () => {
        const files = __uiFiles__;
        return files.page
            .replace('data-tool="penpot"', 'data-tool="figma"')
            .replace(/<link rel="stylesheet" href="ui\.css">/, () => `<style>${files.ui_css}</style>`)
            .replace(/<script src="(\w+)\.js"><\/script>/g, (_, name) => `<script>${files[name]}</script>`);
    };

    figma.showUI(page(), { width: 360, height: 620, title: "svc relay" });
    figma.ui.on("message", async (message) => {
        const asked = /** @type {Asked | null} */ (message);
        if (!asked || asked.relay !== "ask") return;
        const { n, question } = asked;
        /** @type {Answered} */
        let reply;
        try {
            reply = { relay: "answer", n, answer: await answer(question) };
        } catch (error) {
            reply = { relay: "answer", n, refused: error instanceof Refusal ? error.message : "host" };
        }
        figma.ui.postMessage(reply);
    });
    figma.on("currentpagechange", () => {
        figma.ui.postMessage(/** @type {Changed} */ ({ relay: "changed", file: openFile() }));
    });
})();
