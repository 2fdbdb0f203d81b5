// The part of card-signatures that is written with other people's code: signs cards with the JOSE
// library of npm, and verifies with it what was signed by us.
import { createRequire } from "node:module";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , what, from, work] = process.argv;
const load = async (name) => {
    const resolved = createRequire(join(resolve(from), "package.json")).resolve(name);
    return import(pathToFileURL(resolved));
};
const jose = await load("jose");
const canonicalize = (await load("canonicalize")).default;

const kinds = ["ES256", "RS256", "EdDSA"];
const read = (name) => JSON.parse(readFileSync(join(work, name), "utf8"));
const write = (name, value) => writeFileSync(join(work, name), value);
const unsigned = ({ signatures: _, ...card }) => new TextEncoder().encode(canonicalize(card));

const base = {
    protocolVersion: "1.0", name: "n", description: "d", url: "https://a.example/", version: "1",
};
const odd = "\u0000\u0001\b\t\n\f\r\u001f\"\\/\u007f\u0080é\u0301ü\u2028\u2029\ufb33\ufeff😀\u{10ffff}";
const texts = [
    base,
    { ...base, name: odd, description: odd.repeat(50) },
    {
        ...base,
        security: [{ "😀": ["b", "a"], "\ufb33": [], "\r": [], "1": [], "\u0080": [], "": [] }],
        capabilities: { streaming: true, backgroundJobs: false },
        skills: [{ tags: [], description: odd, id: "i", name: "n" }],
        signedAt: "2026-11-21T09:00:00Z",
    },
    // As some write it: layout, escapes that are not needed, signatures in front.
].map((card) => JSON.stringify(card, null, 2));
texts.push(`\t{ "signatures" :\r\n[ ],${JSON.stringify({ ...base, name: "A" }).slice(1)}`
    .replace('"A"', '"\\u0041\\/\\ud83d\\ude00"'));

async function sign() {
    const keys = [];
    for (const alg of kinds) {
        const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
        keys.push({ alg, privateKey, jwk: { ...(await jose.exportJWK(publicKey)), kid: `k-${alg}` } });
    }
    write("theirs.jwks", JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
    for (const [number, text] of texts.entries()) {
        const card = JSON.parse(text);
        const signatures = [];
        for (const { alg, privateKey } of keys) {
            const jws = await new jose.CompactSign(unsigned(card))
                .setProtectedHeader({ alg, kid: `k-${alg}`, typ: "JOSE" }).sign(privateKey);
            signatures.push({ algorithm: alg, keyId: `k-${alg}`, jws });
        }
        write(`card-${number}.json`, text);
        const signed = text.includes('"signatures"')
            ? text.replace("[ ]", () => JSON.stringify(signatures))
            : text.replace(/\}$/, () => `, "signatures": ${JSON.stringify(signatures)}}`);
        write(`theirs-card-${number}.json`, signed);
        write(`altered-card-${number}.json`, signed.replace('"d"', '"D"').replace('"version"', '"version"  ')
            .replace(/"version"(\s*):(\s*)"1"/, '"version"$1:$2"2"'));
    }
}

async function verify() {
    let count = 0;
    for (const name of readdirSync(work).filter((name) => name.startsWith("ours-card-"))) {
        const card = read(name);
        for (const { algorithm, keyId, jws } of card.signatures.filter(({ keyId }) => keyId.startsWith("ours-"))) {
            const keys = jose.createLocalJWKSet(read(`ours-${algorithm}.jwks`));
            const { payload, protectedHeader } = await jose.compactVerify(jws, keys, { algorithms: [algorithm] });
            if (protectedHeader.alg !== algorithm || protectedHeader.kid !== keyId) throw new Error(name);
            if (Buffer.compare(payload, unsigned(card)) !== 0) throw new Error(`${name}: another payload`);
            count += 1;
        }
    }
    if (count !== texts.length * kinds.length) throw new Error(`only ${count} signatures`);
    console.log(`${count} signatures made by svcctl are valid`);
}

await (what === "sign" ? sign() : verify());
