// What the page and the script in the design tool tell each other. Types only: no host loads this file.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

// Relative to the parent, or to the page when nothing else holds the node; rounded to 3 decimals.
interface Box { x: number; y: number; width: number; height: number }

// The fingerprint of a node: what a card is about. Two that differ mean that the file changed meanwhile.
interface Print {
    id: string;
    name: string;
    kind: string;
    parent: string | null;
    box: Box;
    // The node's own text, or that of the nodes inside it, at most 20,000 characters; null where there is none.
    text: string | null;
    // `#rrggbb` of the one solid fill; null where there is none, `mixed` where a colour does not say it.
    fill: string | null;
    // Of the one solid fill, 0 to 1; null where `fill` is no colour.
    opacity: number | null;
    // How many nodes are inside it, on every level.
    inside: number;
}

interface OpenFile { key: string | null; name: string; page: string }

interface Named { id: string; name: string; kind: string }

// What an action depends on besides the nodes that it names: the page in view, and for a read of the selection what is
// selected there.
interface Where { page: { id: string; name: string }; selection: Named[] | null }

// `node` and `parent` of an action, as far as it names any that exist already; `where` is null for what is the same on
// every page.
interface Look { targets: { node?: Print; parent?: Print }; where: Where | null }

interface Refusal { refused: string }

// What the page asks the script. `until` and other times are milliseconds since 1970.
type Question =
    | { ask: "file" }
    | { ask: "load"; name: string }
    | { ask: "save"; name: string; text: string }
    | { ask: "remove"; name: string }
    | { ask: "names" }
    | { ask: "look"; action: string; arguments: JsonObject }
    | { ask: "thumbnail"; node: string }
    | { ask: "act"; action: string; arguments: JsonObject; expect: Print[]; where: Where | null; watch: string[];
        until: number };

// `unknown`: it failed in the middle and could not be put back.
interface Acted {
    outcome: "succeeded" | "failed" | "stale" | "unknown";
    value: Json;
    // Bytes of an export; the page turns them into text.
    bytes: Uint8Array | null;
    // Of a failure: a stable word.
    code: string | null;
    // The fingerprints of the nodes of `watch`, and of the one that was made, right after the act.
    after: Print[];
}

// Each kind of question has its own answer, under `answer`; `refused` says why there is none.
type Answer = OpenFile | string | null | string[] | Look | Uint8Array | Acted | true;

// `token` shows that it is the page of this script that asks; empty where the host lets no other page speak.
interface Asked { relay: "ask"; token: string; n: number; question: Question }
interface Answered { relay: "answer"; n: number; answer?: Answer; refused?: string }
// The file, its name, or the page in view changed.
interface Changed { relay: "changed"; file: OpenFile }
