// The blocks of commands in the README and the guide: each is run by a test, or a comment on the line before it says why not:
// <!-- not run: REASON -->
//
//   block PAGE TEXT [OLD NEW]...   prints the one block of a page that contains a text, with these changes
//   rest PAGE...                   fails if a block was neither printed nor has such a comment
//
// Environment: BLOCKS, the file in which the blocks that were printed are noted.
import { appendFileSync, readFileSync } from "node:fs";
import { basename } from "node:path";

// Returns the blocks of a page, each with a name of its own and the reason why it is not run.
function blocks(page) {
    const text = readFileSync(page, "utf8");
    return [...text.matchAll(/^(?:<!-- not run: (.+) -->\n)?```sh\n([^]*?)^```$/gm)].map((found) => {
        const [, reason, commands] = found;
        const line = text.slice(0, found.index).split("\n").length;
        return { name: `${basename(page)}:${line}`, reason, commands };
    });
}

const [what, ...rest] = process.argv.slice(2);
if (what === "block") {
    const [page, text, ...changes] = rest;
    const found = blocks(page).filter(({ commands }) => commands.includes(text));
    if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with ${text}`);
    let [{ name, commands }] = found;
    for (let i = 0; i < changes.length; i += 2) commands = commands.replaceAll(changes[i], changes[i + 1]);
    appendFileSync(process.env.BLOCKS, `${name}\n`);
    process.stdout.write(commands);
} else if (what === "rest") {
    const run = new Set(readFileSync(process.env.BLOCKS, "utf8").split("\n"));
    const all = rest.flatMap(blocks);
    for (const { name, reason } of all) {
        if (run.has(name) === (reason !== undefined)) {
            console.error(`${name}: this block ${reason === undefined ? "is neither run nor says why" : "is run, and says why not"}`);
            process.exitCode = 1;
        }
    }
    console.log(`${run.size - 1} of ${all.length} blocks run`);
} else {
    throw new Error(`unknown: ${what}`);
}
