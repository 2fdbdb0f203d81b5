// What a card says, made from the arguments and the file alone. The daemon provides only the name of the client.
"use strict";

/** @typedef {{label: string, old: string | null, now: string | null}} Row */
/** @typedef {{title: string, effect: Effect, rows: Row[], targets: Print[], where: Where | null, thumbnail: string | null}} CardStep */
/** @typedef {{client: string, effect: Effect, steps: CardStep[]}} Card */

/** @type {Effect[]} */
const EFFECTS = ["read", "export", "write", "destructive"];

/**
 * Makes characters visible that are not: controls, and those that turn the direction of text, with which a name can
 * pass for another.
 * @param {string} text
 */
const visible = (text) =>
    text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (hidden) =>
        (hidden === "\n" ? hidden : `\\u{${hidden.codePointAt(0)?.toString(16)}}`));

/** @param {string} text */
const quoted = (text) => `“${visible(text)}”`;

/** @param {Named} print */
const nameOf = (print) => `${print.kind} ${quoted(print.name)}`;

/** @param {number} count */
const nodes = (count) => (count === 1 ? "1 node" : `${count} nodes`);

const SELECTED_SHOWN = 5;

/** @param {Named[]} selection */
function selected(selection) {
    if (selection.length === 0) return "nothing";
    const more = selection.length - SELECTED_SHOWN;
    return [...selection.slice(0, SELECTED_SHOWN).map(nameOf), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** @param {unknown} node @returns {number | null} the step that makes it, from 0 */
const stepOf = (node) => (isObject(node) && typeof node.step === "number" ? node.step : null);

/**
 * How a step names its node: as it stands in the file, or by the step that makes it.
 * @param {Json | undefined} node @param {Print | undefined} print
 */
function called(node, print) {
    const step = stepOf(node);
    if (step !== null) return `what step ${step + 1} makes`;
    return print ? nameOf(print) : "a node";
}

/** @param {Print} print */
const fillOf = (print) => (print.fill === null ? "none" : shade(print.fill, print.opacity ?? 1));

/** @param {string} color @param {number} opacity */
const shade = (color, opacity) => (opacity === 1 ? color : `${color}, ${Math.round(opacity * 100)} %`);

/**
 * One step of a card. The arguments are of the action's schema.
 * @param {Step} step @param {Look} look @param {string | null} thumbnail
 * @returns {CardStep}
 */
function cardStep(step, look, thumbnail) {
    const { targets: { node, parent }, where } = look;
    const args = step.arguments;
    const it = called(args.node, node);
    /** @type {Row[]} */
    const rows = [];
    /** @param {string} label @param {unknown} now @param {string | null} [old] */
    const row = (label, now, old = null) => {
        if (now !== undefined) rows.push({ label, old, now: typeof now === "string" ? now : String(now) });
    };
    const place = () => {
        row("Position", `${args.x}, ${args.y}`, node ? `${node.box.x}, ${node.box.y}` : null);
        if (args.parent !== undefined) row("Inside", called(args.parent, parent));
    };
    const made = (/** @type {string} */ kind) => {
        row("Name", typeof args.name === "string" ? quoted(args.name) : undefined);
        row("Text", typeof args.text === "string" ? visible(args.text) : undefined);
        row("Position", `${args.x}, ${args.y}`);
        if (args.width !== undefined) row("Size", `${args.width} × ${args.height}`);
        row("Fill", args.fill);
        row("Font size", args.fontSize);
        if (args.parent !== undefined) row("Inside", called(args.parent, parent));
        return `Create a ${kind}`;
    };
    const title = {
        list_pages: () => "Read the names of the pages",
        get_selection: () => {
            row("Selected", selected(where?.selection ?? []));
            return "Read what is selected";
        },
        get_node: () => {
            row("Levels inside it", args.depth ?? 1);
            return `Read ${it}`;
        },
        find_nodes: () => {
            row("Name contains", typeof args.name === "string" ? quoted(args.name) : undefined);
            row("Kind", args.kind);
            row("Page", typeof args.page === "string" ? visible(args.page) : undefined);
            row("At most", args.limit ?? 50);
            return "Search the file";
        },
        export_image: () => {
            row("Format", `${args.format ?? "png"}, scale ${args.scale ?? 1}`);
            return `Export an image of ${it}`;
        },
        create_rectangle: () => made("rectangle"),
        create_frame: () => made("frame"),
        create_text: () => made("text"),
        set_text: () => {
            row("Text", visible(String(args.text)), node ? visible(node.text ?? "") : null);
            return `Change the text of ${it}`;
        },
        set_fill: () => {
            row("Fill", shade(String(args.color), Number(args.opacity ?? 1)), node ? fillOf(node) : null);
            return `Change the fill of ${it}`;
        },
        move_node: () => {
            place();
            return `Move ${it}`;
        },
        resize_node: () => {
            row("Size", `${args.width} × ${args.height}`, node ? `${node.box.width} × ${node.box.height}` : null);
            return `Resize ${it}`;
        },
        rename_node: () => {
            row("Name", quoted(String(args.name)), node ? quoted(node.name) : null);
            return `Rename ${it}`;
        },
        delete_node: () => {
            if (node) row("Goes with it", node.inside === 0 ? "nothing else" : `${nodes(node.inside)} inside it`);
            return `Delete ${it}`;
        },
    }[step.action];
    if (!title) throw new TypeError("a card for an action that there is none of");
    const targets = [node, parent].filter((one) => one !== undefined);
    const said = title();
    // A node of the file is on its page. What names none happens on whichever page is in view.
    if (where && targets.length === 0) row("Page", quoted(where.page.name));
    return { title: said, effect: step.effect, rows, targets, where, thumbnail };
}

/**
 * Why a step cannot be shown before the file is looked at; null when it can.
 * @param {Step[]} steps @param {number} position
 * @returns {string | null}
 */
function refusalOf(steps, position) {
    const { action, arguments: args } = steps[position];
    if (!Object.hasOwn(ACTIONS, action)) return "unknown_action";
    if (!fits(ACTIONS[action].arguments, args)) return "bad_arguments";
    for (const node of [args.node, args.parent]) {
        const made = stepOf(node);
        if (made !== null && (made >= position || !steps[made].action.startsWith("create_"))) return "bad_reference";
    }
    return null;
}

/** @param {Effect[]} effects @returns {Effect} */
const highest = (effects) => EFFECTS[Math.max(...effects.map((effect) => EFFECTS.indexOf(effect)))];

/** @param {string} client @param {CardStep[]} steps @returns {Card} */
const cardOf = (client, steps) => ({ client: visible(client), effect: highest(steps.map((step) => step.effect)), steps });

/**
 * What `previewSha256` is the digest of: all that stands on the card, pictures by their digests, and the fingerprints.
 * @param {Card} card
 */
async function previewOf(card) {
    const steps = [];
    for (const { title, effect, rows, targets, where, thumbnail } of card.steps) {
        const picture = thumbnail === null ? null : await sha256(thumbnail);
        steps.push({
            title, effect, rows: rows.map((row) => ({ ...row })), targets: targets.map(plain), thumbnail: picture,
            where: where && { page: where.page, selection: where.selection && where.selection.map((one) => ({ ...one })) },
        });
    }
    return digestOf({ client: card.client, steps, v: 1 });
}

/** @param {Print} print @returns {JsonObject} */
const plain = (print) => ({ ...print, box: { ...print.box } });

/** @param {Print} one @param {Print} other */
const samePrint = (one, other) => canonical(plain(one)) === canonical(plain(other));
