// The script in Penpot: looks at the file and acts on it, for the page of the plugin. It decides nothing, except that
// what it was told to expect must still be so.
"use strict";

(() => {
    /** @typedef {import("@penpot/plugin-types").Shape} Shape */
    /** @typedef {import("@penpot/plugin-types").Page} Page */
    /** @typedef {Extract<Shape, {children: unknown}>} Container */

    const TEXT_MAX = 20_000;
    const NODES_MAX = 500;
    const NODE_BYTES_MAX = 256 * 1024;
    const THUMBNAIL_WIDTH = 160;

    class Refusal extends Error {}
    // It failed in the middle and could not be undone.
    class HalfDone extends Error {}

    // ---- Reading ----

    const file = () => {
        const open = penpot.currentFile;
        if (!open) throw new Refusal("no_file");
        return open;
    };

    const page = () => {
        const open = penpot.currentPage;
        if (!open) throw new Refusal("no_page");
        return open;
    };

    /** @returns {OpenFile} */
    const openFile = () => ({
        key: file().id.slice(0, 200),
        name: line(file().name),
        page: line(penpot.currentPage ? penpot.currentPage.name : ""),
    });

    /** 200 characters, not cut within one. @param {string} text */
    const line = (text) => [...sound(text)].slice(0, 200).join("");

    // Half a character has no canonical form, and a cut text may end in one.
    /** @param {string} text */
    const sound = (text) => text.replace(/[\uD800-\uDFFF]/gu, "\uFFFD");

    /** @param {number} value */
    const round = (value) => Math.round(value * 1000) / 1000;

    /** @param {Shape} shape @returns {shape is Container} */
    const isContainer = (shape) => shape.type === "board" || shape.type === "group" || shape.type === "boolean";

    /** @param {Shape} shape @returns {Shape[]} */
    const childrenOf = (shape) => (isContainer(shape) ? shape.children : []);

    // The root of a page is no node: it can be neither moved nor deleted.
    /** @param {Shape} shape @param {Page} of */
    const isRoot = (shape, of) => shape.id === of.root.id;

    /** @param {Shape} shape */
    const parentOf = (shape) => {
        const { parent } = shape;
        return parent && !isRoot(parent, page()) ? parent : null;
    };

    /** @param {Shape} shape */
    const kindOf = (shape) => {
        if (shape.isComponentMainInstance() && shape.isComponentRoot()) return "component";
        if (shape.isComponentCopyInstance() && shape.isComponentRoot()) return "instance";
        switch (shape.type) {
            case "board": return "frame";
            case "boolean": return "path";
            case "svg-raw": return "image";
            default: return shape.type;
        }
    };

    /** @param {Shape} shape @returns {{fill: string | null, opacity: number | null}} */
    const fillOf = (shape) => {
        const { fills } = shape;
        if (fills === "mixed") return { fill: "mixed", opacity: null };
        if (!fills || fills.length === 0) return { fill: null, opacity: null };
        const [{ fillColor, fillOpacity, fillColorGradient, fillImage }] = fills;
        const isPlain = fills.length === 1 && fillColor !== undefined && !fillColorGradient && !fillImage;
        return isPlain ? { fill: fillColor.toLowerCase(), opacity: round(fillOpacity ?? 1) } : { fill: "mixed", opacity: null };
    };

    /** @param {Shape} shape @returns {Box} */
    const boxOf = (shape) => {
        const inside = parentOf(shape) !== null;
        return {
            x: round(inside ? shape.parentX : shape.x),
            y: round(inside ? shape.parentY : shape.y),
            width: round(shape.width),
            height: round(shape.height),
        };
    };

    /** Every node below, in their order. @param {Shape} shape @returns {Shape[]} */
    const below = (shape) => {
        /** @type {Shape[]} */
        const found = [];
        const ahead = [...childrenOf(shape)].reverse();
        for (let next = ahead.pop(); next; next = ahead.pop()) {
            found.push(next);
            ahead.push(...[...childrenOf(next)].reverse());
        }
        return found;
    };

    /** @param {Shape} shape @returns {Print} */
    const printOf = (shape) => {
        const inside = below(shape);
        const texts = [shape, ...inside].flatMap((one) => (one.type === "text" ? [one.characters] : []));
        return {
            id: shape.id,
            name: sound(shape.name),
            kind: kindOf(shape),
            parent: parentOf(shape)?.id ?? null,
            box: boxOf(shape),
            text: texts.length === 0 ? null : sound(texts.join("\n").slice(0, TEXT_MAX)),
            ...fillOf(shape),
            inside: inside.length,
        };
    };

    /** In any page: for reading. @param {unknown} id @returns {Shape} */
    const anywhere = (id) => {
        for (const one of [page(), ...file().pages]) {
            const shape = typeof id === "string" ? one.getShapeById(id) : null;
            if (shape && !isRoot(shape, one)) return shape;
        }
        throw new Refusal("no_such_node");
    };

    /** In the page in view: for writing, which Penpot does only there. @param {unknown} id @returns {Shape} */
    const here = (id) => {
        const shape = typeof id === "string" ? page().getShapeById(id) : null;
        if (shape && !isRoot(shape, page())) return shape;
        anywhere(id);
        throw new Refusal("page_not_active");
    };

    const READS = ["list_pages", "get_selection", "get_node", "find_nodes", "export_image"];

    /** What an action is about. Throws what makes it impossible. @param {string} action @param {JsonObject} args @returns {{node?: Shape, parent?: Shape}} */
    const targetsOf = (action, args) => {
        const find = READS.includes(action) ? anywhere : here;
        const node = args.node === undefined ? undefined : find(args.node);
        const parent = args.parent === undefined ? undefined : find(args.parent);
        if (node?.blocked && !READS.includes(action)) throw new Refusal("node_locked");
        if (action === "set_text" && node && node.type !== "text") throw new Refusal("not_a_text");
        if (parent && !isContainer(parent)) throw new Refusal("not_a_container");
        if (node && parent && (node.id === parent.id || below(node).some(({ id }) => id === parent.id))) {
            throw new Refusal("inside_itself");
        }
        return { node, parent };
    };

    /** @param {Shape} shape @returns {{id: string, name: string, kind: string}} */
    const brief = (shape) => ({ id: shape.id, name: line(shape.name), kind: kindOf(shape) });

    /** What an action depends on besides the nodes that it names. @param {string} action @returns {Where | null} */
    const whereOf = (action) => {
        const isOfSelection = action === "get_selection";
        if (READS.includes(action) && !isOfSelection) return null;
        const { id, name } = page();
        return { page: { id, name: line(name) }, selection: isOfSelection ? penpot.selection.slice(0, NODES_MAX).map(brief) : null };
    };

    // By ids: names are for the card, and a selection has no order.
    /** @param {Where | null} where */
    const idsOf = (where) => JSON.stringify(where && [where.page.id, ...(where.selection ?? []).map(({ id }) => id).sort()]);

    /** @param {Shape} shape @param {number} depth @param {{left: number, truncated: boolean}} room @returns {JsonObject} */
    const whole = (shape, depth, room) => {
        const { box, text, fill, opacity } = { ...printOf(shape), text: shape.type === "text" ? sound(shape.characters) : null };
        const own = { ...brief(shape), box: { ...box }, fill, opacity, text };
        // Three bytes a UTF-16 unit are the most that UTF-8 takes; the rest is room for `children` and commas.
        room.left -= 3 * JSON.stringify(own).length + 20;
        /** @type {Json[]} */
        const children = [];
        for (const child of childrenOf(shape)) {
            if (depth === 0) break;
            if (room.left < 0) {
                room.truncated = true;
                break;
            }
            children.push(whole(child, depth - 1, room));
        }
        return { ...own, children };
    };

    /** @param {JsonObject} args @returns {JsonObject} */
    const find = (args) => {
        const pages = args.page === undefined ? file().pages : file().pages.filter(({ id, name }) => id === args.page || name === args.page);
        if (pages.length === 0) throw new Refusal("no_such_page");
        const limit = typeof args.limit === "number" ? args.limit : 50;
        const name = typeof args.name === "string" ? args.name.toLowerCase() : "";
        /** @type {Json[]} */
        const nodes = [];
        for (const one of pages) {
            for (const shape of one.findShapes()) {
                if (isRoot(shape, one) || !shape.name.toLowerCase().includes(name)) continue;
                if (args.kind !== undefined && kindOf(shape) !== args.kind) continue;
                if (nodes.length === limit) return { nodes, truncated: true };
                nodes.push({ ...brief(shape), page: one.id });
            }
        }
        return { nodes, truncated: false };
    };

    // ---- Acting ----

    /** @typedef {{value: Json, bytes?: Uint8Array, made?: Shape}} Done */

    /**
     * Runs what changes the file as one undo step. Each change says first how it is put back, so that one that fails
     * leaves nothing behind.
     * @param {(back: (undo: () => void) => void) => Done} change
     * @returns {Done}
     */
    const atOnce = (change) => {
        /** @type {(() => void)[]} */
        const undos = [];
        const block = penpot.history.undoBlockBegin();
        try {
            return change((undo) => undos.push(undo));
        } catch (error) {
            try {
                for (const undo of undos.reverse()) undo();
            } catch {
                throw new HalfDone();
            }
            throw error;
        } finally {
            penpot.history.undoBlockFinish(block);
        }
    };

    /** @param {Shape} shape @param {number} x @param {number} y */
    const place = (shape, x, y) => {
        if (parentOf(shape)) {
            shape.parentX = x;
            shape.parentY = y;
        } else {
            shape.x = x;
            shape.y = y;
        }
    };

    /** @param {Shape} made @param {JsonObject} args @param {Shape | undefined} parent */
    const settle = (made, args, parent) => {
        if (parent && isContainer(parent)) parent.appendChild(made);
        if (typeof args.name === "string") made.name = args.name;
        if (typeof args.width === "number" && typeof args.height === "number") made.resize(args.width, args.height);
        if (typeof args.fill === "string") made.fills = [{ fillColor: args.fill, fillOpacity: 1 }];
        place(made, Number(args.x), Number(args.y));
        return { value: { node: made.id }, made };
    };

    /** @param {Shape | undefined} shape @returns {Shape} */
    const the = (shape) => {
        if (!shape) throw new Refusal("no_such_node");
        return shape;
    };

    /** @type {{[action: string]: (args: JsonObject, targets: {node?: Shape, parent?: Shape}) => Done | Promise<Done>}} */
    const ACTS = {
        list_pages: () => {
            const { pages } = file();
            return {
                value: { pages: pages.slice(0, NODES_MAX).map(({ id, name }) => ({ id, name: line(name) })), truncated: pages.length > NODES_MAX },
            };
        },
        get_selection: () => {
            const { selection } = penpot;
            return { value: { nodes: selection.slice(0, NODES_MAX).map(brief), truncated: selection.length > NODES_MAX } };
        },
        get_node: (args, { node }) => {
            const room = { left: NODE_BYTES_MAX, truncated: false };
            const value = whole(the(node), typeof args.depth === "number" ? args.depth : 1, room);
            return { value: { node: value, truncated: room.truncated } };
        },
        find_nodes: (args) => ({ value: find(args) }),
        export_image: async (args, { node }) => {
            const type = args.format === "svg" || args.format === "jpeg" ? args.format : "png";
            const bytes = await the(node).export({ type, scale: typeof args.scale === "number" ? args.scale : 1 });
            return { value: { mimeType: type === "svg" ? "image/svg+xml" : `image/${type}` }, bytes };
        },
        create_rectangle: (args, { parent }) => atOnce((back) => {
            const made = penpot.createRectangle();
            back(() => made.remove());
            return settle(made, args, parent);
        }),
        create_frame: (args, { parent }) => atOnce((back) => {
            const made = penpot.createBoard();
            back(() => made.remove());
            return settle(made, args, parent);
        }),
        create_text: (args, { parent }) => atOnce((back) => {
            const made = penpot.createText(String(args.text));
            if (!made) throw new Refusal("not_made");
            back(() => made.remove());
            if (args.fontSize !== undefined) made.fontSize = String(args.fontSize);
            return settle(made, args, parent);
        }),
        set_text: (args, { node }) => atOnce((back) => {
            const shape = the(node);
            if (shape.type !== "text") throw new Refusal("not_a_text");
            const old = shape.characters;
            back(() => { shape.characters = old; });
            shape.characters = String(args.text);
            return { value: { node: shape.id, old: sound(old) } };
        }),
        set_fill: (args, { node }) => atOnce((back) => {
            const shape = the(node);
            const { fills } = shape;
            const { fill } = fillOf(shape);
            back(() => { shape.fills = fills; });
            shape.fills = [{ fillColor: String(args.color), fillOpacity: typeof args.opacity === "number" ? args.opacity : 1 }];
            return { value: { node: shape.id, old: fill } };
        }),
        move_node: (args, { node, parent }) => atOnce((back) => {
            const shape = the(node);
            const { x, y } = boxOf(shape);
            const before = shape.parent;
            const index = shape.parentIndex;
            back(() => {
                if (parent && before && isContainer(before)) before.insertChild(index, shape);
                place(shape, x, y);
            });
            if (parent && isContainer(parent)) parent.appendChild(shape);
            place(shape, Number(args.x), Number(args.y));
            return { value: { node: shape.id, old: { x, y, parent: before && !isRoot(before, page()) ? before.id : null } } };
        }),
        resize_node: (args, { node }) => atOnce((back) => {
            const shape = the(node);
            const { width, height } = shape;
            back(() => shape.resize(width, height));
            shape.resize(Number(args.width), Number(args.height));
            return { value: { node: shape.id, old: { width: round(width), height: round(height) } } };
        }),
        rename_node: (args, { node }) => atOnce((back) => {
            const shape = the(node);
            const old = shape.name;
            back(() => { shape.name = old; });
            shape.name = String(args.name);
            return { value: { node: shape.id, old: sound(old) } };
        }),
        delete_node: (_args, { node }) => atOnce(() => {
            const shape = the(node);
            const count = 1 + below(shape).length;
            shape.remove();
            return { value: { node: shape.id, deleted: count } };
        }),
    };

    /** @param {Print} one @param {Print} other */
    const same = (one, other) => one.id === other.id && one.name === other.name && one.kind === other.kind
        && one.parent === other.parent && one.text === other.text && one.fill === other.fill
        && one.opacity === other.opacity && one.inside === other.inside && one.box.x === other.box.x
        && one.box.y === other.box.y && one.box.width === other.box.width && one.box.height === other.box.height;

    /** Whether the nodes are still those that were shown. @param {{node?: Shape, parent?: Shape}} targets @param {Print[]} expect */
    const unchanged = ({ node, parent }, expect) => [node, parent].every((shape) => {
        if (!shape) return true;
        const print = expect.find(({ id }) => id === shape.id);
        try {
            return print !== undefined && same(print, printOf(shape));
        } catch {
            return false;
        }
    });

    /** @param {string[]} ids @returns {Print[]} */
    const printsOf = (ids) => {
        try {
            return ids.flatMap((id) => {
                const shape = page().getShapeById(id);
                return shape ? [printOf(shape)] : [];
            });
        } catch {
            // The act happened all the same. Later steps find what they expect changed.
            return [];
        }
    };

    /** @param {Extract<Question, {ask: "act"}>} question @returns {Promise<Acted>} */
    const act = async ({ action, arguments: args, expect, where, watch, until }) => {
        /** @param {Acted["outcome"]} outcome @param {string | null} code @returns {Acted} */
        const ended = (outcome, code) => ({ outcome, code, value: null, bytes: null, after: [] });
        if (Date.now() > until) return ended("failed", "too_late");
        if (!Object.hasOwn(ACTS, action)) return ended("failed", "unknown_action");
        let targets;
        try {
            if (idsOf(whereOf(action)) !== idsOf(where)) return ended("stale", "view_changed");
            targets = targetsOf(action, args);
        } catch {
            // It was possible when the card was made.
            return ended("stale", "target_changed");
        }
        if (!unchanged(targets, expect)) return ended("stale", "target_changed");
        // There is no await between this comparison and the act.
        let done;
        try {
            done = await ACTS[action](args, targets);
        } catch (error) {
            if (error instanceof HalfDone || !unchanged(targets, expect)) return ended("unknown", null);
            return ended("failed", error instanceof Refusal ? error.message : "host");
        }
        const after = printsOf(done.made ? [...watch, done.made.id] : watch);
        return { outcome: "succeeded", code: null, value: done.value, bytes: done.bytes ?? null, after };
    };

    // ---- Answering the page ----

    const PREFIX = "svc.relay ";

    /** @param {Question} question @returns {Promise<Answer>} */
    const answer = async (question) => {
        const store = penpot.localStorage;
        switch (question.ask) {
            case "file": return openFile();
            case "load": return store.getKeys().includes(PREFIX + question.name) ? store.getItem(PREFIX + question.name) : null;
            case "save":
                store.setItem(PREFIX + question.name, question.text);
                return true;
            case "remove":
                store.removeItem(PREFIX + question.name);
                return true;
            case "names": return store.getKeys().flatMap((key) => (key.startsWith(PREFIX) ? [key.slice(PREFIX.length)] : []));
            case "look": {
                const { node, parent } = targetsOf(question.action, question.arguments);
                return {
                    targets: { ...(node && { node: printOf(node) }), ...(parent && { parent: printOf(parent) }) },
                    where: whereOf(question.action),
                };
            }
            case "thumbnail": {
                const shape = anywhere(question.node);
                return shape.export({ type: "png", scale: Math.min(1, THUMBNAIL_WIDTH / Math.max(1, shape.width)) });
            }
            case "act": return act(question);
            default: throw new Refusal("unknown_question");
        }
    };

    // Penpot passes the messages of every plugin's page to every plugin. The others cannot read the fragment of our
    // page's address, so they cannot ask for anything.
    const token = [1, 2, 3, 4].map(() => Math.random().toString(36).slice(2)).join("");

    penpot.ui.open("svc relay", `/relay/plugin/penpot/ui.html#${token}`, { width: 360, height: 620 });
    penpot.ui.onMessage(/** @param {Asked} message */ async (message) => {
        if (message?.relay !== "ask" || message.token !== token) return;
        const { n, question } = message;
        /** @type {Answered} */
        let reply;
        try {
            reply = { relay: "answer", n, answer: await answer(question) };
        } catch (error) {
            reply = { relay: "answer", n, refused: error instanceof Refusal ? error.message : "host" };
        }
        penpot.ui.sendMessage(reply);
    });
    const changed = () => {
        if (penpot.currentFile) penpot.ui.sendMessage(/** @type {Changed} */ ({ relay: "changed", file: openFile() }));
    };
    penpot.on("pagechange", changed);
    penpot.on("filechange", changed);
})();
