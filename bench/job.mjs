// W12: `ci plan` of a pull request, as the job of a typical team runs it.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dbtManifest, labelledRules } from "./account.mjs";
import { roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floor, writeProject } from "./project.mjs";
import { expectCounts, table, times, wall } from "./table.mjs";

const latencyMs = 20;
const shape = { integrations: 40, schemas: 1, tables: 50, columns: 20 };
const policy = `apiVersion: dimsync/v1
kind: Policy
metadata: { name: personal }
spec: { severity: error, when: { column: { label: pii, name: "email_*" } }, require: { hashed: true }, message: Personal columns are hashed. }
`;
const author = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, "Bench"],
    [`GIT_${role}_EMAIL`, "bench@example.com"],
  ]),
);

/** A stand-in for the comments of a pull request on GitHub. Keeps the last comment. */
async function startForge() {
  const forge = { calls: [], comment: undefined };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    forge.calls.push(`${request.method} ${new URL(request.url, "http://localhost").pathname}`);
    await sleep(latencyMs);
    if (text !== "") forge.comment = { id: 1, body: JSON.parse(text).body, user: { type: "Bot", id: 1 }, author_association: "NONE" };
    const value = request.method === "GET" ? [forge.comment].filter(Boolean) : forge.comment;
    response.writeHead(request.method === "POST" ? 201 : 200, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { forge, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** The checkout of a pull request that leaves phone numbers readable in other tables, with its remote over HTTP. */
async function checkout(bench, gitHttp) {
  const folder = writeProject(bench, "w12", {
    "manifests/fleet.yaml": labelledRules(),
    "manifests/policy.yaml": policy,
    "dbt.json": dbtManifest(shape),
    ".gitignore": ".dimsync/\n.cache/\n",
  });
  const git = (...args) => runOnce({ command: ["git", "-C", folder, ...args], env: author });
  const bare = join(bench.folder, "w12.git");
  await git("init", "--quiet", "--bare", "--initial-branch=main", bare);
  await git("-C", bare, "config", "http.receivepack", "true");
  const remote = await gitHttp(bare);
  await git("init", "--quiet", "--initial-branch=main");
  await git("remote", "add", "origin", remote.url);
  const config = join(folder, "dimsync.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("{ bench: {", "{ bench: { catalog: dimsync.catalog.yaml,"));
  for (const args of [
    ["records", "init"],
    ["catalog", "accept", "--all"],
  ]) {
    const run = dimsync(bench, folder, ...args, "-q");
    await runOnce({ ...run, env: { ...author, ...run.env } });
  }
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "first");
  await git("push", "--quiet", "origin", "main");
  await git("checkout", "--quiet", "-b", "change");
  const manifest = join(folder, "manifests/fleet.yaml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('column: ["*", "!email_*"]', 'column: ["*", "!email_*", "!phone_*"]'));
  const phones = '    - { id: phones, match: { table: "*_001", column: "phone_*" }, set: { hashed: true } }\n';
  writeFileSync(manifest, readFileSync(manifest, "utf8") + phones);
  await git("commit", "--quiet", "--all", "--message", "hash phone numbers");
  const ref = /ref: (\S+?),/.exec(readFileSync(config, "utf8"))[1];
  return { folder, remote, ref };
}

export async function w12(bench) {
  await bench.begin({ shape, warm: true, latencyMs });
  const { gitHttp } = await import(join(bench.folder, "git-http.mjs"));
  const { folder, remote, ref } = await checkout(bench, gitHttp);
  const { forge, url, close } = await startForge();
  const event = join(bench.folder, "w12-event.json");
  writeFileSync(
    event,
    JSON.stringify({
      repository: { default_branch: "main" },
      pull_request: { number: 7, head: { repo: { full_name: "example/data" } }, base: { ref: "main" } },
    }),
  );
  const job = {
    GITHUB_ACTIONS: "true",
    GITHUB_EVENT_NAME: "pull_request",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_REF: "refs/pull/7/merge",
    GITHUB_EVENT_PATH: event,
    GITHUB_WORKSPACE: folder,
    GITHUB_API_URL: url,
    GITHUB_TOKEN: "token",
    RUNNER_TEMP: bench.folder,
  };
  const run = dimsync(bench, folder, "ci", "plan", "-q");
  const plan = {
    ...run,
    env: { ...run.env, ...job },
    name: "dimsync ci plan",
    before: () => {
      forge.comment = undefined;
    },
  };
  const least = floor(bench, shape.integrations);
  const fetches = ["refs/heads/main", ref].map((name) => `git -C '${folder}' fetch --quiet --no-write-fetch-head origin ${name}`);
  const floorOfJob = { ...least, command: ["sh", "-c", [...fetches, `exec '${least.command.join("' '")}'`].join(" && ")] };

  await bench.counts();
  await runOnce(plan);
  expectCounts(await bench.counts(), { GET: shape.integrations + 1 }, "w12");
  if (!forge.comment?.body.includes("phone_")) throw new Error(`w12: the comment does not show the change: ${forge.comment?.body}`);
  const calls = forge.calls.length;
  const walls = await roundRobin([floorOfJob, plan], bench.runs);
  close();
  await remote.close();
  const rows = [["W12: ci plan as a job runs it, 40 integrations, 40,000 columns, 20 ms a request", "wall ms", "to F"]];
  for (const { name } of [floorOfJob, plan]) rows.push([name, wall(walls[name]), times(walls[name], walls.F)]);
  return `${table(rows)}\n\n${shape.integrations + 1} requests to the service (checked), ${calls} to the forge, which F does not make. F fetches the base and the records, one after the other.`;
}
