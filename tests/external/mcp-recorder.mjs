// A pass-through between a client and the daemon that keeps what was asked and answered: what a client
// says of itself proves less than what went over the wire.
import { once } from "node:events";
import { createServer, request as send } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";

// Listens on a port of 127.0.0.1 for requests to `upstream` (an origin), which are passed on as they came,
// except that the Host and Origin of this port become those of `upstream`.
export async function recorder(upstream) {
    const exchanges = [];
    const { host, origin } = new URL(upstream);
    const server = createServer(async (incoming, outgoing) => {
        const exchange = {
            began: Date.now(),
            // Whether the Host is ours.
            own: incoming.headers.host === `127.0.0.1:${server.address().port}`,
            method: incoming.method,
            path: incoming.url,
            asked: incoming.headers,
            body: await text(incoming),
            status: undefined,
            got: {},
            reply: "",
        };
        exchanges.push(exchange);
        const headers = { ...incoming.headers };
        if (exchange.own) {
            headers.host = host;
            if (headers.origin !== undefined) headers.origin = origin;
        }
        // A connection each, because a kept one may have ended with the daemon.
        const forwarded = send(upstream + incoming.url, { method: incoming.method, headers, agent: false });
        forwarded.on("error", () => outgoing.destroy());
        forwarded.on("response", (answer) => {
            exchange.status = answer.statusCode;
            exchange.got = answer.headers;
            outgoing.writeHead(answer.statusCode, answer.headers).flushHeaders();
            answer.setEncoding("utf8").on("data", (part) => { exchange.reply += part; });
            pipeline(answer, outgoing, () => {});
        });
        outgoing.on("close", () => forwarded.destroy());
        forwarded.end(exchange.body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
        exchanges,
        origin: `http://127.0.0.1:${server.address().port}`,
        // Ends every connection, as a restart of the daemon does.
        disconnect: () => server.closeAllConnections(),
        close: () => { server.close(); server.closeAllConnections(); },
    };
}
