// The page: shows what the conversation says, passes on what a person does, and exchanges messages with the script in
// the design tool. No rule is decided here.
"use strict";

(() => {
    /** @template {HTMLElement} E @param {string} id @param {new () => E} kind @returns {E} */
    const of = (id, kind) => {
        const found = document.getElementById(id);
        if (!(found instanceof kind)) throw new TypeError(`the page has no ${id}`);
        return found;
    };
    const el = (/** @type {string} */ id) => of(id, HTMLElement);
    const button = (/** @type {string} */ id) => of(id, HTMLButtonElement);

    // What is in view when it is no card.
    const CLAIM = "claim";
    // Pixels across.
    const PICTURE_MAX = 320;

    const tool = document.body.dataset.tool === "figma" ? "figma" : "penpot";

    // ---- The script in the design tool ----

    // The origin of the page around this one. A page of Figma has an opaque origin and cannot know: there, only the
    // window can be checked. Everywhere else messages go to one origin, or nowhere.
    const around = () => {
        const [nearest] = location.ancestorOrigins ?? [];
        if (nearest) return nearest;
        return document.referrer ? new URL(document.referrer).origin : null;
    };
    const hostOrigin = tool === "figma" ? null : around();

    const token = location.hash.slice(1);

    /** @type {Map<number, {answer: (answer: Answer) => void, refuse: (error: Error) => void}>} */
    const asked = new Map();
    let n = 0;

    /** @param {Question} question @param {number | null} limitMs @returns {Promise<Answer>} */
    const ask = (question, limitMs) => new Promise((answer, refuse) => {
        if (tool !== "figma" && hostOrigin === null) return refuse(new Refused("no_host"));
        const mine = ++n;
        asked.set(mine, { answer, refuse });
        /** @type {Asked} */
        const message = { relay: "ask", token, n: mine, question };
        if (hostOrigin === null) parent.postMessage({ pluginMessage: message }, "*");
        else parent.postMessage(message, hostOrigin);
        if (limitMs === null) return;
        setTimeout(() => {
            if (asked.delete(mine)) refuse(new Refused("host_silent"));
        }, limitMs);
    });

    window.addEventListener("message", ({ source, origin, data }) => {
        if (source !== parent || parent === window || (hostOrigin !== null && origin !== hostOrigin)) return;
        const message = tool === "figma" && isObject(data) ? data.pluginMessage : data;
        if (!isObject(message)) return;
        if (message.relay === "changed") {
            void conversation.changed(/** @type {OpenFile} */ (message.file));
        } else if (message.relay === "answer" && typeof message.n === "number") {
            const waiting = asked.get(message.n);
            asked.delete(message.n);
            if (typeof message.refused === "string") waiting?.refuse(new Refused(message.refused));
            else waiting?.answer(/** @type {Answer} */ (message.answer));
        }
    });

    const mayReachLoopback = async () => {
        for (const name of ["loopback-network", "local-network-access"]) {
            try {
                const { state } = await navigator.permissions.query({ name: /** @type {PermissionName} */ (name) });
                return state === "granted";
            } catch {
                // This browser has no such permission.
            }
        }
        return true;
    };

    // ---- What counts as a press ----

    /** @type {number | null} since when the card or question in view can be seen */
    let shownAt = null;
    /** @type {string | null} what it is */
    let inView = null;
    /** @type {Set<Element>} those of the two that are on the screen: a page can be scrolled, and its panel moved away */
    const onScreen = new Set();

    const isSeen = () => document.visibilityState === "visible" && inView !== null
        && onScreen.has(el(inView === CLAIM ? "claim" : "card"));

    // Begins anew the time after which it can be accepted.
    const appear = () => {
        shownAt = isSeen() ? performance.now() : null;
        sleepy();
        conversation.approvals.tellShown();
    };

    const look = () => {
        if (isSeen() !== (shownAt !== null)) appear();
    };

    // Until then the accept buttons say that they do not work yet. They keep the focus, so they are not `disabled`.
    const sleepy = () => {
        for (const id of ["card-accept", "claim-accept"]) button(id).setAttribute("aria-disabled", "true");
        if (shownAt === null) return;
        const mine = shownAt;
        setTimeout(() => {
            if (shownAt !== mine) return;
            for (const id of ["card-accept", "claim-accept"]) button(id).removeAttribute("aria-disabled");
        }, WAKE_MS);
    };

    /** Runs `what` for a press of a person that is long enough after the card. @param {string} id @param {() => unknown} what */
    const onAccept = (id, what) => {
        const it = button(id);
        /** @type {number | null} */
        let pressedAt = null;
        let held = false;
        it.addEventListener("pointerdown", () => { pressedAt = performance.now(); });
        it.addEventListener("keydown", (event) => {
            // A key that is held sends many of these, and the browser a click for each.
            held = event.repeat;
            if (event.repeat) event.preventDefault();
            else pressedAt = performance.now();
        });
        it.addEventListener("click", (event) => {
            const press = { trusted: event.isTrusted, held, pressedAt, shownAt, now: performance.now() };
            pressedAt = null;
            held = false;
            if (accepts(press)) what();
        });
    };

    // ---- What is shown ----

    /** @param {string} id @param {string | null} text hides it when null */
    const put = (id, text) => {
        const it = el(id);
        it.hidden = text === null;
        if (it.textContent !== (text ?? "")) it.textContent = text;
    };

    /** @param {string} tag @param {string | Node} content */
    const make = (tag, content) => {
        const made = document.createElement(tag);
        made.append(content);
        return made;
    };

    // Drawn on a canvas, so that the page needs no permission to load images. An image that cannot be read is removed.
    /** @param {string} png in base64 */
    const picture = (png) => {
        const canvas = document.createElement("canvas");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", "How it looks now");
        createImageBitmap(new Blob([fromBase64url(png)], { type: "image/png" })).then((bitmap) => {
            canvas.width = Math.min(bitmap.width, PICTURE_MAX);
            canvas.height = Math.max(1, Math.round(bitmap.height * canvas.width / bitmap.width));
            canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
        }, () => canvas.remove());
        return canvas;
    };

    /** @param {CardStep} step */
    const stepItem = ({ title, rows, thumbnail }) => {
        const item = document.createElement("li");
        const line = make("p", make("bdi", title));
        line.className = "title";
        item.append(line);
        if (thumbnail) item.append(picture(thumbnail));
        const list = document.createElement("dl");
        for (const { label, old, now } of rows) {
            const value = document.createElement("dd");
            // "from" and "to" are for screen readers.
            if (old !== null) value.append("from ", make("del", make("bdi", old)), " to ");
            if (now !== null) value.append(make("ins", make("bdi", now)));
            list.append(make("dt", label), value);
        }
        if (rows.length > 0) item.append(list);
        return item;
    };

    /** @type {{[effect in Effect]: string}} */
    const asks = { read: "wants to read", export: "wants an image", write: "wants to change the file", destructive: "wants to delete" };

    /** @type {View | null} */
    let view = null;

    /** @param {View} next */
    const show = (next) => {
        view = next;
        const status = STATUS[next.status];
        const line = el("status");
        line.dataset.status = next.status;
        line.dataset.tone = status.tone;
        put("status", status.text);
        put("detail", next.detail || null);
        put("where", next.status === "ready" ? `${visible(next.account ?? "")} on ${next.file}` : null);
        put("again", status.button);
        el("address").hidden = tool !== "figma" || !["address", "https", "away", "permission", "disagreed", "left"].includes(next.status);
        el("pairing").hidden = next.code === null;
        put("code", next.code ?? "");
        const claiming = next.status === "confirm";
        el("claim").hidden = !claiming;
        put("claim-account", visible(next.account ?? ""));
        put("claim-client", visible(next.client ?? ""));
        put("claim-file", next.file);
        showCard(next);
        el("running").hidden = next.running === null;
        if (next.running) put("running-step", `${next.running.step} of ${next.running.of}: ${next.running.title}`);
        const connected = next.status === "ready";
        el("allowance").hidden = !connected;
        const end = next.allowance ? new Date(next.allowance.until).toLocaleTimeString() : null;
        put("allowance-end", end === null ? "Every read asks first." : `Reads of this file are approved without asking until ${end}.`);
        button("allowance-15").hidden = end !== null;
        button("allowance-60").hidden = end !== null;
        button("allowance-stop").hidden = end === null;
        button("leave").hidden = !connected;
        button("forget").hidden = !connected;
        const log = el("log");
        const entries = [...log.children].map((one) => one.textContent);
        if (entries.join("\n") !== next.log.join("\n")) log.replaceChildren(...next.log.map((one) => make("li", make("bdi", one))));
    };

    /** @param {View} next */
    const showCard = (next) => {
        const { card } = next;
        el("card").hidden = card === null;
        put("card-behind", next.behind > 0 ? `${next.behind} more waiting` : null);
        const now = card ? `card ${card.proposal}` : next.status === "confirm" ? CLAIM : null;
        if (now === inView) return;
        inView = now;
        if (card) {
            el("card").dataset.effect = card.card.effect;
            el("card").dataset.proposal = card.proposal;
            put("card-title", `${card.card.client} ${asks[card.card.effect]}`);
            put("card-client", `${card.card.steps.length === 1 ? "1 step" : `${card.card.steps.length} steps, in this order`}. Until ${
                new Date(card.expiresAt).toLocaleTimeString()}.`);
            el("card-steps").replaceChildren(...card.card.steps.map(stepItem));
        }
        // To the heading, from where a screen reader reads on; never to the button, where a key may be coming down.
        if (now !== null) el(card ? "card-title" : "claim-title").focus();
        appear();
    };

    // ---- Together ----

    const conversation = new Conversation({
        open: (address) => {
            const socket = new WebSocket(address, "svc.relay.v1");
            /** @type {Socket} */
            const line = {
                send: (text) => socket.send(text),
                close: (code, reason) => socket.close(code, reason),
                onopen: null,
                onmessage: null,
                onclose: null,
            };
            socket.onopen = () => line.onopen?.();
            socket.onmessage = (message) => line.onmessage?.(message);
            socket.onclose = (closed) => line.onclose?.(closed);
            return line;
        },
        ask,
        now: () => ({ wall: Date.now(), steady: performance.now() }),
        random: Math.random,
        later: (what, ms) => void setTimeout(what, Math.min(ms, 2 ** 31 - 1)),
        isVisible: () => document.visibilityState === "visible",
        isSeen: (proposal) => inView === `card ${proposal}` && isSeen(),
        mayReachLoopback,
        show,
    }, { tool, plugin: `svc relay plugin for ${tool}` });

    /** @param {(proposal: string) => unknown} what */
    const withCard = (what) => () => {
        if (view?.card) void what(view.card.proposal);
    };
    onAccept("card-accept", withCard((proposal) => conversation.approvals.decide(proposal, "approved")));
    button("card-deny").addEventListener("click", withCard((proposal) => conversation.approvals.decide(proposal, "denied")));
    onAccept("claim-accept", () => void conversation.confirm(true));
    button("claim-refuse").addEventListener("click", () => void conversation.confirm(false));
    button("running-stop").addEventListener("click", () => {
        if (view?.running) void conversation.approvals.stop(view.running.proposal);
    });
    for (const minutes of /** @type {const} */ ([15, 60])) {
        button(`allowance-${minutes}`).addEventListener("click", (event) => {
            if (event.isTrusted) void conversation.approvals.allow(minutes);
        });
    }
    button("allowance-stop").addEventListener("click", () => void conversation.approvals.allow(0));
    button("leave").addEventListener("click", () => void conversation.leave());
    button("forget").addEventListener("click", (event) => {
        if (event.isTrusted) conversation.forgetDevice();
    });
    button("again").addEventListener("click", (event) => {
        if (event.isTrusted) void conversation.again();
    });
    document.addEventListener("visibilitychange", look);
    const observer = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) onScreen.add(target);
            else onScreen.delete(target);
        }
        look();
    });
    for (const id of ["card", "claim"]) observer.observe(el(id));
    window.addEventListener("pagehide", () => conversation.unload());

    // Penpot's page comes from the daemon; Figma's comes from a folder and has to be told.
    const ADDRESS = "address";
    const input = of("address-input", HTMLInputElement);
    // No form is submitted: a sandboxed frame may not be allowed to.
    /** @param {Event} event */
    const enter = (event) => {
        if (!event.isTrusted) return;
        const address = input.value.trim().replace(/\/+$/, "");
        void ask({ ask: "save", name: ADDRESS, text: address }, LOOK_MS)
            .then(() => conversation.start(address), () => conversation.say("storage"));
    };
    button("address-save").addEventListener("click", enter);
    input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") enter(event);
    });
    const begin = async () => {
        if (tool === "penpot") return conversation.start(location.origin);
        const address = await conversation.storage.load(ADDRESS).catch(() => null);
        input.value = address ?? "";
        return address === null ? conversation.say("address") : conversation.start(address);
    };
    void begin();
})();
