// A slow forge: it answers requests for tokens at once, and all others after SECONDS. It refuses the first dispatch for a
// tag whose name contains "refused". `GET /effects` returns how often each attempt was dispatched and got a check run, and
// `GET /dispatches` how often each tag was to be dispatched, and `GET /runs` the workflow runs with their inputs. Arguments:
// PORT SECONDS.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const [port, seconds] = process.argv.slice(2).map(Number);
const app = { id: 1 };
const checkRuns = [];
const runs = [];
const dispatches = {};
// No number is that of an earlier forge, which the daemon may remember.
let next = Date.now();

const page = (name, all) => ({ total_count: all.length, [name]: all });
const found = (object) => (object === undefined ? [404, {}] : [200, object]);

function dispatched(repository, workflow, { ref, inputs }) {
    const tag = ref.replace("refs/tags/", "");
    dispatches[tag] = (dispatches[tag] ?? 0) + 1;
    if (tag.includes("refused") && dispatches[tag] === 1) return [422, { message: "refused" }];
    const id = next++;
    const run = {
        id, run_attempt: 1, event: "workflow_dispatch", status: "in_progress", conclusion: null,
        path: `.github/workflows/${workflow}`, display_title: `release ${inputs.attempt_id}`,
        head_sha: checkRuns.find((known) => known.external_id === inputs.attempt_id)?.head_sha,
        repository: { id: Number(repository.split("-").at(-1)) },
        run_url: `http://127.0.0.1:${port}/repos/${repository}/actions/runs/${id}`,
        attempt: inputs.attempt_id, inputs,
    };
    runs.push(run);
    return [200, { ...run, workflow_run_id: run.id }];
}

function created(body) {
    const checkRun = { conclusion: null, completed_at: null, app, ...body, id: next++ };
    checkRuns.push(checkRun);
    return [201, checkRun];
}

// Answers a request about a repository. `rest` is the rest of the path, split at its slashes.
function answer(method, repository, rest, query, body) {
    const number = Number(rest.at(-1));
    switch (`${method} ${rest[0]}/${rest[1] === undefined ? "" : rest[1].replace(/^\d+$/, "N")}`) {
        case "POST actions/workflows": return dispatched(repository, rest[2], body);
        case "GET actions/workflows":
            return [200, page("workflow_runs", runs.filter((run) => run.head_sha === query.get("head_sha")))];
        case "GET actions/runs": return found(runs.find((run) => run.id === Number(rest[2])));
        case "POST check-runs/": return created(body);
        case "GET check-runs/N": return found(checkRuns.find((known) => known.id === number));
        case "PATCH check-runs/N": {
            const checkRun = checkRuns.find((known) => known.id === number);
            return found(checkRun && Object.assign(checkRun, body));
        }
        default:
            if (method !== "GET" || rest[0] !== "commits") return [404, {}];
            return [200, page("check_runs", checkRuns.filter((known) => known.head_sha === rest[1]))];
    }
}

createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks));
    const url = new URL(request.url, "http://127.0.0.1");
    const [, place, owner, name, ...rest] = url.pathname.split("/");
    let status, object;
    if (place === "effects") {
        const effects = {};
        const count = (effect) => { effects[effect] = (effects[effect] ?? 0) + 1; };
        for (const { attempt } of runs) count(`dispatch ${attempt}`);
        for (const { external_id } of checkRuns) count(`check run ${external_id}`);
        [status, object] = [200, effects];
    } else if (place === "dispatches") {
        [status, object] = [200, dispatches];
    } else if (place === "runs") {
        [status, object] = [200, runs];
    } else if (place === "app" && owner === "hook") {
        // No delivery has failed.
        [status, object] = [200, []];
    } else if (place === "app") {
        [status, object] = [201, { token: "t", repository_selection: "selected", permissions: body.permissions }];
    } else {
        // The effect happens when the request arrives; only the answer is late.
        [status, object] = answer(request.method, `${owner}/${name}`, rest, url.searchParams, body);
        await sleep(seconds * 1000);
    }
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(object));
}).listen(port, "127.0.0.1");
