// A plan sets apart what the manifests cause and what it would undo of others.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { runCommand } from "../../support/command.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { gitEnv } from "../../support/git/env.ts";
import { commitAll, git } from "../../support/git/remote.ts";
import { configText, keyVariable, writeProject } from "../../support/project-folder.ts";
import { editRecords, recordsIn } from "../../support/records.ts";
import { startService, type TestService } from "../../support/service.ts";
import { readySteps } from "../../support/steps.ts";

const manifests = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: { id: "8f1c" }
  rules:
    - { id: emails, match: { table: users, column: email }, set: { hashed: true } }
`;
const names = "    - { id: names, match: { table: users, column: display_name }, set: { hashed: true } }\n";

/** A project whose first commit is applied. The service shows `bot@example.com` for the key. */
async function project(service: TestService, key: string, config: Readonly<Record<string, string>> = {}) {
  const folder = writeProject({
    "dimsync.yaml": configText(service.url, config),
    "manifests/orders.yaml": manifests,
    ".gitignore": ".dimsync\nremote.git\n",
  });
  const env = { ...gitEnv, [keyVariable]: key };
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q"], folder, env);
  git(folder, "init", "--quiet", "--initial-branch=main");
  const commit = (message: string): void => {
    commitAll(folder, message);
  };
  return {
    ...{ folder, run, commit },
    write: (text: string) => writeFileSync(join(folder, "manifests/orders.yaml"), text),
    plan: async (): Promise<Plan> => JSON.parse((await run("plan", "--base", "main", "-o", "json")).stdout),
  };
}

const keys = { apiKeys: { "bot-key": "bot@example.com", "dana-key": "dana@example.com", "other-key": "other@example.com" } };

/** Dana hashes or unhashes a column in the web console of the service. */
async function setHashed(service: TestService, hashed: boolean): Promise<void> {
  const answer = await fetch(`${service.url}/_console/integrations/8f1c/schemas`, {
    method: "PATCH",
    headers: { "x-api-key": "dana-key", "content-type": "application/json", "user-agent": "Mozilla/5.0" },
    body: JSON.stringify({ schemas: { public: { tables: { users: { columns: { email: { hashed } } } } } } }),
  });
  expect(answer.status).toBe(200);
}

test("a saved plan that undoes what someone did in the account can be shown and applied", async () => {
  const service = await startService(keys);
  onTestFinished(() => service.close());
  const { run, commit } = await project(service, "bot-key");
  expect((await run("apply", "--yes")).code).toBe(0);
  commit("first");
  await setHashed(service, false);
  expect((await run("plan", "--base", "main", "--out", "plan.json")).code).toBe(0);
  expect((await run("show", "plan.json")).stdout).toContain("dana@example.com");
  expect(await run("apply", "plan.json", "--result", "result.json")).toMatchObject({ code: 0 });
  expect((await run("show", "result.json")).stdout).toContain("1 done");
});

test("a plan sets apart what the manifests cause and what it would undo, with who and when, and the guard refuses it", async () => {
  const service = await startService(keys);
  onTestFinished(() => service.close());
  const { folder, run, plan, write, commit } = await project(service, "bot-key");
  expect((await run("apply", "--yes")).code).toBe(0);
  commit("first");
  await setHashed(service, false);
  write(manifests + names);
  const made = await plan();
  const changes = readySteps(made).flatMap((item) => [...eachChange(item)]);
  expect(changes.map(({ path, origin, attribution }) => [path.split("/").at(-2), origin, attribution])).toEqual([
    ["display_name", "config", undefined],
    ["email", "drift", undefined],
  ]);
  expect(readySteps(made).map(({ attribution }) => attribution?.actor)).toEqual(["dana@example.com"]);
  const heading = "1 change from this pull request, which protects; 1 outside change is undone";
  const human = (await run("plan", "--base", "main")).stdout;
  expect(human.replaceAll(/\s+/gu, " ")).toContain(heading);
  expect(human).toMatch(/^ {2}hash again +users\.email[\s\S]*changed in the account$/mu);
  expect(human).toMatch(/^ +Orders was changed by dana@example\.com, 20\d\d-\d\d-\d\d \d\d:\d\d UTC$/mu);
  expect((await run("plan", "--base", "main", "-o", "markdown")).stdout).toContain(heading);
  expect((await run("plan", "--base", "main", "-o", "html")).stdout).toContain(heading);
  // Without a base, it is not known.
  expect((await run("plan")).stdout).not.toContain("outside change");
  expect(made.exit.code).toBe(0);

  writeFileSync(join(folder, "dimsync.yaml"), configText(service.url, { review: "strict" }));
  const refused = await run("plan", "--base", "main", "-o", "markdown");
  expect(refused.code).toBe(3);
  expect(refused.stdout).toContain("1 change that someone made in the account would be undone.");
  expect(refused.stdout).toContain("guard: outsideChanges, address: Schemas/Orders");
  expect((await run("plan", "--base", "main", "--allow", "outsideChanges=agreed with Dana")).code).toBe(0);
  expect((await run("plan")).code).toBe(0);
  // It is about plans: a drift report has nothing else.
  expect((await run("drift", "--base", "main")).code).toBe(2);
});

test.each([
  ["apply", ["--yes"]],
  ["apply of a saved plan without its base, or whose file leaves it out", ["plan.json"]],
])("%s: the guard refuses what someone changed", async (_, argv) => {
  const service = await startService(keys);
  onTestFinished(() => service.close());
  const { run, commit } = await project(service, "bot-key", { review: "strict" });
  commit("first");
  expect((await run("apply", "--yes")).code).toBe(0);
  await setHashed(service, false);
  expect((await run("plan", "--out", "plan.json")).code).toBe(3);
  const refused = await run("apply", ...argv);
  expect([refused.code, refused.stdout]).toEqual([
    3,
    expect.stringContaining("1 change that someone made in the account would be undone."),
  ]);
  expect((await run("apply", ...argv, "--allow", "outsideChanges=agreed with Dana")).code).toBe(0);
});

describe("ci apply compares with the commit that was applied last", () => {
  /** A project with one applied commit, and what `ci apply` prints. */
  async function applied(config: Readonly<Record<string, string>> = {}, faults: readonly string[] = []) {
    let writes = 0;
    const onExchange = ({ method, path }: { readonly method: string; readonly path: string }): void => {
      if (method !== "GET" && path.startsWith("/v1/")) writes += 1;
    };
    const service = await startService({ ...keys, faults, onExchange });
    onTestFinished(() => service.close());
    const made = await project(service, "bot-key", config);
    const { run, commit, write, folder } = made;
    commit("first");
    const apply = (...argv: readonly string[]) => run("ci", "apply", "-o", "human", ...argv);
    const merge = (text: string): void => {
      write(text);
      commit("next");
    };
    const hash = (hashed: boolean) => setHashed(service, hashed);
    return { ...made, apply, merge, hash, writes: () => writes, head: () => git(folder, "rev-parse", "HEAD") };
  }
  const isUndone =
    /1 outside change is\s+undone[\s\S]*hash again.*users\.email[\s\S]*changed in the account\n[\s\S]*Orders was changed by dana@example\.com/u;
  const recorded = (folder: string): unknown => recordsIn(folder, "test").state.appliedCommit?.commit;

  test("and says what it undoes, and the guard refuses it", async () => {
    const { apply, merge, hash, writes, head, folder } = await applied({ review: "strict" });
    const first = await apply();
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("The records contain no commit that was applied")]);
    expect(recorded(folder)).toBe(head());
    await hash(false);
    merge(manifests + names);
    const sent = writes();
    const refused = await apply();
    expect([refused.code, refused.stdout]).toEqual([3, expect.stringMatching(isUndone)]);
    expect(writes()).toBe(sent);
    const allowed = await apply("--allow", "outsideChanges=agreed");
    expect([allowed.code, allowed.stdout]).toEqual([0, expect.stringMatching(isUndone)]);
    expect(recorded(folder)).toBe(head());
  });

  test("also after a merge that accepted drift, so that there was nothing to send", async () => {
    const { apply, merge, hash, head, folder } = await applied();
    expect((await apply()).code).toBe(0);
    await hash(false);
    const accepted = manifests.replace("hashed: true", "hashed: false");
    merge(accepted);
    expect((await apply()).stdout).toContain("Apply sends nothing.");
    expect(recorded(folder)).toBe(head());
    await hash(true);
    merge(accepted + names);
    expect((await apply("--allow", "maxExposedColumns=test")).stdout).toMatch(isUndone);
  });

  test("but not with that of a run that left something out or failed", async () => {
    const { apply, merge, folder, head } = await applied({}, ["PATCH /v1/integrations@2=status:400"]);
    expect((await apply()).code).toBe(0);
    const first = head();
    merge(manifests + names);
    expect((await apply()).code).toBe(4);
    expect((await apply("--exclude", "Schemas/Orders")).code).toBe(0);
    expect(recorded(folder)).toBe(first);
    const again = await apply();
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("does not come from the manifests")]);
    expect(recorded(folder)).toBe(head());
  });

  test("and says what to do if the checkout does not have it", async () => {
    const { apply, merge, folder, writes } = await applied({ review: "report" });
    const set = (before: string, now: string): void => {
      const file = join(folder, "dimsync.yaml");
      writeFileSync(file, readFileSync(file, "utf8").replace(before, now));
    };
    expect((await apply()).code).toBe(0);
    editRecords(folder, "test", ({ state }) => ({
      state: { ...state, appliedCommit: state.appliedCommit && { ...state.appliedCommit, commit: "ab".repeat(20) } },
    }));
    set("report", "strict");
    merge(manifests + names);
    const sent = writes();
    const refused = await apply();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("E_BASE_REF")]);
    expect(refused.stderr).toContain("Check out the whole history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0).");
    expect(writes()).toBe(sent);
    set("strict", "report");
    merge(`${manifests + names}# report\n`);
    const reported = await apply();
    expect([reported.code, reported.stdout]).toEqual([0, expect.stringContaining("I_BASE_UNREAD")]);
    expect(recorded(folder), "the next run is compared again").not.toBe("ab".repeat(20));
  });
});

test("a run of dimsync that the records do not have is named as another project's", async () => {
  const service = await startService(keys);
  onTestFinished(() => service.close());
  const one = await project(service, "bot-key");
  git(one.folder, "init", "--quiet", "--bare", "remote.git");
  git(one.folder, "remote", "add", "origin", join(one.folder, "remote.git"));
  expect(await one.run("records", "init")).toMatchObject({ code: 0 });
  expect((await one.run("apply", "--yes")).code).toBe(0);
  one.commit("first");
  one.write(manifests.replace("column: email", "column: phone"));
  // Its own run is not reported.
  one.write(manifests.replace("hashed: true", "hashed: false"));
  expect(diagnosticsOf(await one.plan())).toEqual([]);
  one.write(manifests);

  const other = await project(service, "other-key");
  other.write(manifests.replace("hashed: true", "hashed: false"));
  const ran = await other.run("apply", "--yes", "--allow", "maxExposedColumns=test", "-o", "json");
  const { runId } = JSON.parse(ran.stdout) as { readonly runId: string };
  const made = await one.plan();
  expect(diagnosticsOf(made)).toEqual([
    expect.objectContaining({
      code: "W_OTHER_PROJECT",
      severity: "warning",
      message: expect.stringMatching(
        new RegExp(`^The dimsync run ${runId} by other@example\\.com of \\S+ changed Schemas/Orders, and`, "u"),
      ),
    }),
  ]);
  const shown = (await one.run("drift", "--base", "main")).stdout;
  expect(shown).toContain("W_OTHER_PROJECT");
  expect(shown).toContain("other@example.com");
});
