// The plugin's schemas are those that are published: two spellings of one thing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { core } from "./load.js";

const published = (name) => JSON.parse(readFileSync(new URL(`../../../docs/relay/${name}.json`, import.meta.url), "utf8"));

// Returns a schema in one spelling. What only the plugin checks, the shape of a time, is left out.
function plain(schema, definitions) {
    if (schema.$ref) return plain(definitions[schema.$ref.slice("#/$defs/".length)], definitions);
    const any = schema.anyOf ?? schema.any;
    if (any) return { any: any.map((one) => plain(one, definitions)) };
    if (schema.const !== undefined) return { enum: [schema.const] };
    if (schema.enum) return { enum: schema.enum };
    const isTime = schema.format === "date-time" || String(schema.pattern).startsWith("/^\\d{4}");
    const members = schema.members ?? (schema.properties && { ...schema.properties });
    const optional = schema.members ? schema.optional ?? []
        : Object.keys(members ?? {}).filter((name) => !(schema.required ?? []).includes(name));
    if (schema.properties || schema.members) {
        // No other member, on both sides.
        assert.ok(schema.members || schema.additionalProperties === false, JSON.stringify(schema));
    }
    const isEmpty = schema.type === "object" && !members && schema.additionalProperties === false;
    const found = {
        type: schema.type,
        pattern: isTime ? undefined : schema.pattern && new RegExp(schema.pattern).source,
        min: schema.min ?? schema.minimum ?? schema.minLength ?? schema.minItems,
        max: schema.max ?? schema.maximum ?? schema.maxLength ?? schema.maxItems,
        above: schema.above ?? schema.exclusiveMinimum,
        items: schema.items && plain(schema.items, definitions),
        members: isEmpty ? {} : members
            && Object.fromEntries(Object.entries(members).map(([name, one]) => [name, plain(one, definitions)])),
        optional: members && optional.length > 0 ? [...optional].sort() : undefined,
    };
    return JSON.parse(JSON.stringify(found));
}

test("the frames of the daemon are those of the published schema", () => {
    const { $defs: definitions } = published("frames");
    const names = definitions.fromDaemon.oneOf.map(({ $ref }) => $ref.slice("#/$defs/".length));
    assert.deepEqual(Object.keys(core.FRAMES).sort(), names.sort());
    for (const name of names) {
        assert.deepEqual(plain(core.FRAMES[name], {}), plain(definitions[name], definitions), name);
    }
});

test("the arguments of actions are those of the published schema", () => {
    const { $defs: definitions } = published("actions");
    for (const [name, { arguments: schema }] of Object.entries(core.ACTIONS)) {
        assert.deepEqual(plain(schema, {}), plain(definitions[name], definitions), name);
    }
});
