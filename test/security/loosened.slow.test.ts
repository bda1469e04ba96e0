// What a pull request gives up is in its comment, first, whether or not anything is sent for it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { dbtManifest } from "../core/columns/labels/dbt-manifest.ts";
import { dayIn } from "../support/clock.ts";
import { startReviewedRepository } from "./pull-request.ts";

const key = "canary-key-83";
const config = (url: string, more: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
${more}targets:
  prod: { baseUrl: "${url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }
`;
const rules = (hashed: boolean): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: { id: 8f1c }
  rules:
    - { id: pii, match: { column: "*email*" }, set: { hashed: ${hashed} } }
`;
const policy = (more = "", severity = "error"): string => `apiVersion: dimsync/v1
kind: Policy
metadata: { name: pii-hashed }
spec:
  severity: ${severity}
  when: { column: { name: ["*email*"], enabled: true } }
  require: { hashed: true }
  message: personal data would be readable
${more}`;
const exempt = `  exemptions: [{ integration: Orders, reason: DPIA-41, approvedBy: privacy@example.com, expires: ${dayIn(200)} }]\n`;

type Files = Readonly<Record<string, string>>;

interface Commented {
  readonly base?: Files;
  readonly guards?: string;
  /** Someone no longer hashes a column in the account. */
  readonly isExposed?: true;
  readonly change: Files;
  readonly found: readonly string[];
  readonly absent?: readonly string[];
}

const note = { "manifests/note.yaml": "# Nothing but a note.\n" };
const lake = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec: { name: Lake, type: snowflake, connectionType: destination, connection: { password: { $secret: { env: LAKE_PASSWORD } } } }
`;

/** What a pull request gives up stands before everything else. The property in test/properties names each way to give something up. */
const first = "2 loosened\n\n### This pull request also loosens (2)\n\n- `!` ";
const commented: Readonly<Record<string, Commented>> = {
  "first a policy that is gone": {
    change: { "manifests/policy.yaml": "# nothing\n" },
    found: [
      "## `prod`: this pull request changes nothing; 1 loosened\n\n### This pull request also loosens (1)\n\n- `!` `Policy/pii-hashed` `policy-removed`",
    ],
    absent: ["no changes"],
  },
  "first an exemption of its own": {
    change: { "manifests/policy.yaml": policy(exempt), "manifests/orders.yaml": rules(false) },
    found: [
      `${first}\`Policy/pii-hashed\` \`exemption-added\``,
      "It covers 3 findings now.",
      "was written by the author of this pull request.",
    ],
  },
  "a used exemption, although the plan has nothing else": {
    base: { "manifests/policy.yaml": policy(exempt), "manifests/orders.yaml": rules(false) },
    change: note,
    found: ["this pull request changes nothing", "Exempt from policies (3): 3 findings of Policy/pii-hashed are exempt: DPIA-41, "],
    absent: ["no changes"],
  },
  "what someone changed in the account": {
    isExposed: true,
    change: note,
    found: ["this pull request changes nothing; 1 outside change is undone"],
    absent: ["Guard"],
  },
  "that strict reviews refuse outside changes": {
    isExposed: true,
    guards: "review: strict\n",
    change: note,
    found: ["1 outside change is undone", "**Guard outsideChanges refuses: 1 found, none allowed.**"],
  },
  "a secret that the job that applies needs": { change: { "manifests/lake.yaml": lake }, found: ["`I_NEW_SECRET`"] },
  "the problems of files that it does not change, folded": {
    base: { "manifests/orders.yaml": `${rules(true)}    - { match: { table: "nothing_*" }, set: { enabled: true } }\n` },
    change: {
      "manifests/tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: other }\n",
    },
    found: ["<details><summary>Problems in files that the pull request does not change (1)", "`W_NO_MATCH`"],
    absent: ["### Problems"],
  },
};

describe("the comment has", () => {
  test.each(Object.entries(commented))("%s", async (_, { base = {}, guards = "", isExposed, change, found, absent = [] }) => {
    const own = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
    onTestFinished(own.close);
    const { commit, plan, mergeAndApply, comment } = await startReviewedRepository(key, {
      "dimsync.yaml": config(own.url, guards),
      ...{ "manifests/orders.yaml": rules(true), "manifests/policy.yaml": policy(), ...base },
    });
    const applied = await mergeAndApply("main");
    expect(applied.code, applied.output).toBe(0);
    if (isExposed === true)
      own.mutate(({ integrations }) => {
        const columns = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"]?.columns ?? {};
        Object.assign(columns["email"] ?? {}, { hashed: false });
      });
    commit("feature", change);
    const { output } = await plan("feature");
    for (const text of found) expect(comment(), output).toContain(text);
    for (const text of absent) expect(comment(), output).not.toContain(text);
  });
});

const emails = (name: string, priority: number): string =>
  rules(true).replace("name: orders", `name: ${name}`).replace("  rules:", `  priority: ${priority}\n  rules:`);
const isHashed = ({ state }: EmbeddedService): boolean | undefined =>
  state().integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"]?.columns["email"]?.hashed;

describe("what pull requests give up together is named after the merge", () => {
  test.each([
    [true, 3, "loosened"],
    [false, 0, "protection-lost"],
  ])("review: strict is %s", async (strict, code, found) => {
    const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
    onTestFinished(service.close);
    const repository = await startReviewedRepository(key, {
      "dimsync.yaml": config(service.url, strict ? "review: strict\n" : ""),
      "manifests/a.yaml": emails("a", 1),
      "manifests/b.yaml": emails("b", 2),
      "manifests/c.yaml": emails("c", 3).replace("*email*", "phone"),
    });
    await repository.createRecords("prod");
    expect((await repository.mergeAndApply("main")).output).toMatch(/./u);
    const nothing = "# nothing\n";
    for (const [branch, file] of [
      ["one", "manifests/a.yaml"],
      ["two", "manifests/b.yaml"],
    ] as const) {
      repository.commit("main", { "manifests/note.yaml": "# A note.\n" });
      repository.commit(branch, { [file]: nothing });
      const planned = await repository.plan(branch);
      expect([planned.code, repository.comment()], planned.output).toEqual([0, ""]);
      repository.commit("main", { "manifests/note.yaml": "# Another note.\n" });
    }
    const first = await repository.mergeAndApply("one");
    expect([first.code, first.output.includes("protection-lost")], first.output).toEqual([0, false]);
    const second = await repository.mergeAndApply("two");
    expect([second.code, second.output], second.output).toEqual([code, expect.stringContaining(found)]);
    expect(second.output).toContain("Loosened since the commit that was applied last");
    expect(repository.comment()).toContain("Loosened since the commit that was applied last");
    expect((await repository.mergeAndApply("two", {}, ["--allow", "loosened=agreed"])).code).toBe(0);
  });
});

test("a job that runs again with older manifests is refused by review: strict", async () => {
  const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  onTestFinished(service.close);
  const repository = await startReviewedRepository(key, {
    "dimsync.yaml": config(service.url, "review: strict\n"),
    "manifests/a.yaml": emails("a", 1).replace("hashed: true", "hashed: false"),
  });
  await repository.createRecords("prod");
  expect((await repository.mergeAndApply("main")).code).toBe(0);
  const old = repository.checkout("main");
  repository.commit("feature", { "manifests/a.yaml": emails("a", 1) });
  expect((await repository.mergeAndApply("feature")).code).toBe(0);
  const again = await repository.apply(old);
  expect([again.code, isHashed(service)], again.output).toEqual([3, true]);
});

test.each([
  ["", 0],
  ["review: strict\n", 3],
])("a job of a fork, which has no key, names what the files give up (%j)", async (more, code) => {
  const { commit, plan } = await startReviewedRepository(key, {
    "dimsync.yaml": config("https://api.example.com", more),
    "manifests/orders.yaml": rules(true),
    "manifests/policy.yaml": policy(),
  });
  commit("feature", { "manifests/policy.yaml": "# nothing\n", "manifests/orders.yaml": rules(true).replace("*email*", "email") });
  const pull = { number: 7, head: { repo: { full_name: "dana/data" } }, base: { ref: "main" } };
  const ran = await plan("feature", { payload: { pull_request: pull }, env: { DIMSYNC_API_KEY: "" } });
  expect(ran.code, ran.output).toBe(code);
  for (const found of ["policy-removed", "protection-lost-later"]) expect(ran.output).toContain(found);
});

test("labels that dbt may have lost in files that git has, while git does not have the manifest of dbt", async () => {
  const personal = { meta: { contains_pii: true } };
  const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  onTestFinished(service.close);
  const { commit, checkout, plan, comment } = await startReviewedRepository(key, {
    ".gitignore": ".dimsync/\ntarget/\n",
    "dimsync.yaml": config(service.url, ""),
    "dbt/dbt_project.yml": "name: shop\n",
    "dbt/models/sources.yml": "# email: contains_pii\n",
    "manifests/orders.yaml": rules(true).replace('column: ["*email*"]', "label: pii"),
    "manifests/labels.yaml": `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { from: [{ dbt: { manifest: dbt/target/manifest.json, label: pii, where: { meta: { contains_pii: true } } } }] }
`,
  });
  commit("feature", { "dbt/models/sources.yml": "# email\n" });
  const workspace = checkout("feature");
  mkdirSync(join(workspace, "dbt/target"));
  writeFileSync(
    join(workspace, "dbt/target/manifest.json"),
    dbtManifest({ users: { schema: "orders", columns: { id: personal, email: {} } } }),
  );
  const { output } = await plan("feature", {}, workspace);
  expect(comment(), output).toContain(
    "`dbt/target/manifest.json` `unknown`<br>It is not in git, and this pull request changes YAML files of its",
  );
});
