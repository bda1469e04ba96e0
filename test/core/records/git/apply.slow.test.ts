// Two machines with records in git create everything once.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { applyAccount } from "../../../../src/core/operations/apply.ts";
import { loadProject } from "../../../../src/index.ts";
import { ended, startCli } from "../../../cli/built-cli.ts";
import { runCommand } from "../../../support/command.ts";
import { git } from "../../../support/git/remote.ts";
import { outcomes } from "../../../support/steps.ts";
import { expectNothingTwice, overtakenManifests } from "../overtaken.ts";
import { integrations, type Machine, startWithTtl } from "../project.ts";
import { machines } from "./git-project.ts";
import { begun, ref } from "./git-store.ts";

const isPush = ({ service, isListing }: { readonly service: string; readonly isListing: boolean }): boolean =>
  service === "receive-pack" && !isListing;

/** Starts `apply`, with the time-to-live of the lease if it is not the store's. */
function start(machine: Machine, ttlMs?: number) {
  const child =
    ttlMs === undefined ? startCli(["apply", "--yes"], { cwd: machine.folder, env: machine.env }) : startWithTtl(machine, ttlMs);
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended: ended(child) };
}

/** Calls a function at the first sight of something, so that a test need not poll for it. */
function firstOf() {
  let call = (): unknown => undefined;
  let resolve = (): void => undefined;
  const seen = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  let isSeen = false;
  return {
    seen,
    call(first: () => unknown): void {
      call = first;
    },
    see(isIt: boolean): void {
      if (!isIt || isSeen) return;
      isSeen = true;
      call();
      resolve();
    },
  };
}

const distinct = (paths: readonly string[]): number => new Set(paths).size;

describe("two machines", () => {
  it("that apply at the same time create everything once", async () => {
    const { machine, service } = await machines();
    const runs = await Promise.all([1, 2, 3].map(() => machine(integrations(3)).run("apply", "--yes", "--lock-timeout", "60s")));
    const codes = runs.map(({ code }) => code);
    expect(codes).toContain(0);
    // A run that has waited can still lose the race for its first write. It then sends nothing and exits with 6.
    expect(codes.filter((code) => code !== 0 && code !== 6)).toEqual([]);
    expect((await machine(integrations(3)).run("apply", "--yes")).code).toBe(0);
    const names = service.requests.filter(({ method }) => method === "POST");
    expect(names).toHaveLength(3);
  });

  it("that apply at the same time without waiting: one names the run that holds the lease", async () => {
    const created = firstOf();
    const { machine, creates } = await machines({ onExchange: ({ method }) => created.see(method === "POST") });
    const [first, second] = [machine(integrations(3)), machine(integrations(3))];
    const running = start(first);
    created.call(() => running.child.kill("SIGSTOP"));
    await created.seen;
    const refused = await second.run("apply", "--yes");
    running.child.kill("SIGCONT");
    expect((await running.ended).code).toBe(0);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("E_LOCKED");
    expect(refused.stderr).toContain("dimsync records unlock -t prod");
    expect(creates()).toHaveLength(3);
  });

  it("plan again if the other one recorded a change between plan and first write", async () => {
    const { machine, creates } = await machines();
    const [first, second] = [machine(integrations(2)), machine(integrations(2))];
    const project = await loadProject({ cwd: first.folder, env: first.env });
    const environment = { env: first.env, signal: new AbortController().signal };
    let isFirst = true;
    const { result } = await applyAccount(
      project,
      {
        beforeFirstWrite: async () => {
          if (isFirst) expect((await second.run("bind", "Integration/i0=int-1")).code).toBe(0);
          isFirst = false;
        },
      },
      environment,
    );
    expect(outcomes(result).map(({ address, verb, outcome }) => `${verb} ${address} ${outcome}`)).toEqual(["create Integration/i1 done"]);
    expect(creates()).toHaveLength(1);
    expect(result.bindings["Integration/i0"]).toBe("int-1");
  });

  it("send no create whose checks the other one has overtaken", async () => {
    const { machine, service } = await machines();
    await expectNothingTwice(service, machine(overtakenManifests), machine(overtakenManifests));
  });
});

it("prints the commits that it read and wrote, so that logs show if the ref was moved back", async () => {
  const { machine, store } = await machines();
  const one = machine(integrations(1));
  const before = store.remote.tip(ref)?.slice(0, 12);
  expect((await one.run("plan")).stderr).toContain(`dimsync: Records read: ${ref} of origin at ${before}\n`);
  const { stderr } = await one.run("apply", "--yes");
  expect(stderr).toContain(`dimsync: Records read: ${ref} of origin at ${before}\n`);
  expect(stderr).toContain(`dimsync: Records written: ${ref} of origin at ${store.remote.tip(ref)?.slice(0, 12)}\n`);
  expect((await one.run("plan", "-q")).stderr).toBe("");
});

it("are read once to plan a push in CI, and once to record that it changes nothing", async () => {
  const one = (await machines()).machine(integrations(1));
  const push = { GITLAB_CI: "true", CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main" };
  const apply = async () => {
    git(one.folder, "add", "--all");
    git(one.folder, "commit", "--quiet", "--allow-empty", "-m", "change");
    one.counts();
    const { code, stdout, stderr } = await runCommand(["ci", "apply"], one.folder, { ...one.env, ...push });
    expect(code, stdout + stderr).toBe(0);
    return one.counts();
  };
  await apply();
  expect(await apply(), "without a change of the project").toEqual({ reads: 2, pushes: 0 });
  writeFileSync(join(one.folder, "manifests", "more.yaml"), "# No manifest yet.\n");
  expect(await apply()).toMatchObject({ reads: 2 });
});

it("writes no secret into any object of the ref", async () => {
  const { machine, store } = await machines();
  const { env, run } = machine(integrations(2));
  expect((await run("apply", "--yes")).code).toBe(0);
  const objects = git(store.remote.bare, "rev-list", "--objects", ref)
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");
  const texts = objects.map((id) => git(store.remote.bare, "cat-file", "-p", id));
  expect(texts.join("\n")).toContain("Integration/i1");
  for (const secret of [env["DB_PASSWORD"] ?? "", env["TEST_API_KEY"] ?? ""]) {
    expect(secret).not.toBe("");
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  }
});

it("nothing is created by any command, and the message says why, if the ref was moved back after this machine wrote it", async () => {
  const { machine, store, creates } = await machines();
  const one = machine(integrations(1));
  const run = await begun(store.open({ folder: one.folder }));
  await run.bind("Integration/i9", { id: "9" });
  await run.release();
  git(store.remote.bare, "update-ref", ref, `${store.remote.tip(ref)}~1`);
  const tip = store.remote.tip(ref);
  for (const argv of [["plan"], ["drift"], ["apply", "--yes"], ["bind", "Integration/i0=x"], ["get", "integration", "Integration/i0"]]) {
    const { code, stderr } = await one.run(...argv);
    expect([argv, code]).toEqual([argv, 1]);
    expect(stderr).toMatch(/E_RECORDS_GONE[\s\S]*moved\s+back\s+or\s+replaced/u);
  }
  expect(creates()).toEqual([]);
  expect(store.remote.tip(ref)).toBe(tip);
});

it("reports the ids if the last write fails, and adds them with the next run on this machine", async () => {
  const { machine, store, creates } = await machines();
  const one = machine(integrations(2));
  let pushes = 0;
  store.http.setFault((request) => {
    if (request.service !== "receive-pack") return undefined;
    if (isPush(request)) pushes += 1;
    return pushes >= 1 && !(isPush(request) && pushes === 1) ? 503 : undefined;
  });
  const { code, stdout, stderr } = await start(one, 6_000).ended;
  expect(code, stdout + stderr).toBe(4);
  expect(stdout).toContain("E_RECORDS_UNCLEAR");
  expect(stdout).toMatch(/Integration\/i0=\w+/);
  expect(readdirSync(join(one.folder, ".dimsync", "responses-prod"))).toHaveLength(1);
  store.http.setFault(() => undefined);
  const again = await one.run("apply", "--yes", "--lock-timeout", "30s");
  expect(again.code, again.stdout + again.stderr).toBe(0);
  expect(creates()).toHaveLength(2);
  expect(git(store.remote.bare, "show", `${ref}:records`).match(/^\["bindings","Integration\//gm)).toHaveLength(2);
  expect(readdirSync(join(one.folder, ".dimsync", "responses-prod"))).toEqual([]);
});

it("frees the lease and leaves no open intent if it is interrupted", async () => {
  const { machine, store, creates } = await machines({ latencyMs: 100 });
  const one = machine(integrations(40));
  const third = firstOf();
  store.http.setFault((request) => void third.see(isPush(request) && store.http.counts().pushes === 3));
  const run = start(one);
  third.call(() => run.child.kill("SIGTERM"));
  const { code, stdout } = await run.ended;
  expect(code, stdout).toBe(130);
  const text = git(store.remote.bare, "show", `${ref}:records`);
  expect(text).toContain('\n["created","Integration/');
  expect(text).not.toMatch(/^\["(?:open|lease)"/mu);
  const plan = await machine(integrations(40)).run("plan", "-o", "json");
  expect(plan.stdout).not.toContain("E_UNKNOWN_OUTCOME");
  const sent = creates().length;
  expect(sent).toBeLessThan(40);
  const last = await machine(integrations(40)).run("apply", "--yes");
  expect(last.code, last.stdout + last.stderr).toBe(0);
  expect(creates()).toHaveLength(40);
});

it("sends nothing after it was frozen and its lease was ended", async () => {
  const { machine, store, creates } = await machines();
  const one = machine(integrations(2));
  const pushed = firstOf();
  store.http.setFault((request) => {
    pushed.see(isPush(request));
    return isPush(request) ? "slow" : undefined;
  });
  const run = start(one, 6_000);
  pushed.call(() => run.child.kill("SIGSTOP"));
  await pushed.seen;
  while ((await store.open().lease()) === undefined) await sleep(20);
  expect(await store.open().unlock()).toMatchObject({ ttlMs: 6_000 });
  // Longer than the process may send without a heartbeat.
  await sleep(4_500);
  run.child.kill("SIGCONT");
  const { code, stdout, stderr } = await run.ended;
  expect(creates()).toEqual([]);
  expect([4, 6], stdout + stderr).toContain(code);
  store.http.setFault(() => undefined);
  // It reported that it sent nothing, so nothing must be resolved.
  expect((await machine(integrations(2)).run("apply", "--yes")).code).toBe(0);
  expect(distinct(creates())).toBe(1);
  expect(creates()).toHaveLength(2);
});

it("lets another machine take over after one time-to-live, and blocks creates that may have been sent", async () => {
  const created = firstOf();
  const { machine, store, creates } = await machines({ onExchange: ({ method }) => created.see(method === "POST") });
  // A third of it limits each call of git, of both machines on a busy host.
  const run = start(machine(integrations(2)), 12_000);
  created.call(() => run.child.kill("SIGKILL"));
  await run.ended;
  const other = machine(integrations(2));
  const { code, stdout, stderr } = await other.run("apply", "--yes", "--lock-timeout", "120s");
  expect(stderr).toContain("This run takes it over");
  expect([0, 4], stdout + stderr).toContain(code);
  // Objects of the killed run are found by reading, since integrations are listed.
  expect(distinct(creates())).toBe(1);
  // The second one was intended. If the first machine did not send it in time, it is blocked, and the exit code is 4.
  expect(creates().length).toBeGreaterThanOrEqual(code === 0 ? 2 : 1);
  expect(creates().length).toBeLessThanOrEqual(2);
  expect(await store.open().lease()).toBeUndefined();
});
