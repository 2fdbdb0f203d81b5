// An agent: a client of the legacy era of MCP, over plain HTTP.
import assert from "node:assert/strict";

export class Agent {
    #url;
    #session = null;
    #id = 0;

    constructor(url) { this.#url = url; }

    async #post(message) {
        const response = await fetch(this.#url, {
            method: "POST",
            headers: {
                "content-type": "application/json",
                accept: "application/json, text/event-stream",
                ...(this.#session && { "mcp-session-id": this.#session, "mcp-protocol-version": "2025-11-25" }),
            },
            body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        });
        this.#session ??= response.headers.get("mcp-session-id");
        const text = await response.text();
        assert.ok(response.ok, `${response.status} ${text}`);
        return text === "" ? null : JSON.parse(text);
    }

    async #request(method, params) {
        const { result, error } = await this.#post({ id: ++this.#id, method, params });
        assert.equal(error, undefined, JSON.stringify(error));
        return result;
    }

    // Begins a session; the one before is gone when the daemon has restarted.
    async begin() {
        this.#session = null;
        const clientInfo = { name: "agent", version: "1" };
        await this.#request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
        await this.#post({ method: "notifications/initialized" });
        return this;
    }

    // Calls a tool. Returns what it says in its structured form, whether as an error (`isError`) or not.
    async call(name, args = {}) {
        const { structuredContent, content, isError = false } = await this.#request("tools/call", { name, arguments: args });
        return { ...(structuredContent ?? { text: content.map(({ text }) => text).join("\n") }), isError };
    }
}
