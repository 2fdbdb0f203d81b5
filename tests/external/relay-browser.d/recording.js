// Runs in every page and frame before its own scripts, and tells the test what a plugin's page sends, gets and says, in
// the order in which it happens there.
(() => {
    const tell = (event) => globalThis.tellTest(event);
    const { WebSocket } = globalThis;
    globalThis.WebSocket = class extends WebSocket {
        constructor(...given) {
            super(...given);
            tell({ socket: "opening" });
            this.addEventListener("message", ({ data }) => tell({ got: JSON.parse(data) }));
            this.addEventListener("close", ({ code }) => tell({ closed: code }));
        }
        send(text) {
            tell({ sent: JSON.parse(text) });
            super.send(text);
        }
        close(...given) {
            tell({ closing: given });
            super.close(...given);
        }
    };
    const status = new MutationObserver(() => {
        const line = document.getElementById("status");
        if (line?.dataset.status) tell({ status: line.dataset.status, text: line.textContent });
    });
    status.observe(document, { subtree: true, attributes: true, attributeFilter: ["data-status"] });
})();
