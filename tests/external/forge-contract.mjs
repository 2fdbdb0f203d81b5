// Cuts the published description of the forge's API to the calls the daemon makes, and makes strict what
// it only says in words. Arguments: the folder with the packages, the file to write.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, target] = process.argv.slice(2);
const source = join(folder, "node_modules/@octokit/openapi/generated/api.github.com.deref.json");
const published = JSON.parse(readFileSync(source, "utf8"));

const run = "/repos/{owner}/{repo}/actions/runs/{run_id}";
const workflow = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}";
const calls = {
  "/app": ["get"],
  "/app/hook/config": ["get"],
  "/app/installations": ["get"],
  "/app/installations/{installation_id}/access_tokens": ["post"],
  "/installation/token": ["delete"],
  "/app/hook/deliveries": ["get"],
  "/app/hook/deliveries/{delivery_id}/attempts": ["post"],
  [`${workflow}/dispatches`]: ["post"],
  [`${workflow}/runs`]: ["get"],
  [run]: ["get"],
  [`${run}/attempts/{attempt_number}`]: ["get"],
  "/repos/{owner}/{repo}/check-runs": ["post"],
  "/repos/{owner}/{repo}/check-runs/{check_run_id}": ["get", "patch"],
  "/repos/{owner}/{repo}/commits/{ref}/check-runs": ["get"],
};

// Required of every call, says the documentation; the description names none of it.
const headers = [
  {
    name: "user-agent", in: "header", required: true,
    schema: { type: "string", pattern: "^svcd/[0-9]" },
  },
  {
    name: "x-github-api-version", in: "header", required: true,
    schema: { type: "string", enum: ["2022-11-28"] },
  },
];

const paths = {};
for (const [path, methods] of Object.entries(calls)) {
  paths[path] = {};
  for (const method of methods) {
    const call = structuredClone(published.paths[path][method]);
    const parameters = (call.parameters ?? []).filter((parameter) => parameter !== null);
    for (const parameter of parameters) {
      // "Returns workflow runs created within the given date-time range", in the syntax of searches.
      if (parameter.name === "created") {
        delete parameter.schema.format;
        parameter.schema.pattern = "^>=\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$";
      }
    }
    call.parameters = [...parameters, ...headers];
    call.security = [{ bearer: [] }];
    paths[path][method] = call;
  }
}

// What may be null need not be named among the words of a closed set.
function mend(schema) {
  if (schema === null || typeof schema !== "object") {
    return;
  }
  if (schema.nullable === true && Array.isArray(schema.enum) && !schema.enum.includes(null)) {
    schema.enum.push(null);
  }
  Object.values(schema).forEach(mend);
}
mend(paths);
// An account is a user or an enterprise; the description asks for both at once.
const { account } = paths["/app/installations"].get
  .responses["200"].content["application/json"].schema.items.properties;
account.anyOf = account.allOf;
delete account.allOf;

writeFileSync(target, JSON.stringify({
  openapi: published.openapi,
  info: published.info,
  paths,
  components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
}));
