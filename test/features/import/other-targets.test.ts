// The import of one target never changes what another one means.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PlanFlags } from "../../../src/cli/flags.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import type { AccountState } from "../../../src/embedded/index.ts";
import type { ImportFlags } from "../../../src/features/import/index.ts";
import type { ImportReport } from "../../../src/features/import/report.ts";
import { runPlan } from "../../../src/features/plan/command.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";
import fc from "../../support/fast-check.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { runs } from "../../support/sample.ts";
import { blockedSteps, readySteps } from "../../support/steps.ts";
import { accountState, liveChange, makeChange } from "./random-account.ts";

/** A project with two targets: `prod`, and `dev`, whose account has the same objects with other ids. */
interface TwoTargets {
  readonly prod: AccountProject;
  readonly dev: AccountProject;
  readonly importDev: (flags?: Partial<ImportFlags>) => Promise<ImportReport>;
  readonly planProd: () => Promise<Plan>;
  readonly planDev: () => Promise<Plan>;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly read: (file: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

async function openTwoTargets(state?: AccountState, dev = ""): Promise<TwoTargets> {
  const copy = (): AccountState | undefined => (state === undefined ? undefined : structuredClone(state));
  const [one, other] = await Promise.all([openAccountProject(copy()), openAccountProject(copy())]);
  other.service.mutate(renumber);
  const path = (file: string): string => join(one.folder, file);
  const read = (file: string): Promise<string> => readFile(path(file), "utf8");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(path(file)), { recursive: true });
    await writeFile(path(file), text);
  };
  // The environment variable takes precedence over the apiKey of a target.
  const devKey = { DIMSYNC_API_KEY: other.service.apiKey };
  const devTarget = `  dev: { baseUrl: "${other.service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } }${dev} }\n`;
  await write("dimsync.yaml", (await read("dimsync.yaml")) + devTarget);
  const plan = async (target: string, env?: Readonly<Record<string, string>>): Promise<Plan> => {
    const { out, err } = await one.run<PlanFlags>(runPlan, { target: [target], output: ["json"], failOn: [], allow: [] }, [], env);
    if (out === "") throw new Error(err);
    return JSON.parse(out) as Plan;
  };
  return {
    ...{ prod: one, dev: other, read, write },
    importDev: (flags = {}) => one.importJson({ target: ["dev"], ...flags }, [], devKey),
    planProd: () => plan("prod"),
    planDev: () => plan("dev", devKey),
    close: async () => {
      await Promise.all([one.close(), other.close()]);
    },
  };
}

/** Ids differ between accounts. */
function renumber({ integrations, tags }: AccountState): void {
  for (const integration of integrations) integration.id = `dev-${integration.id}`;
  for (const tag of tags) {
    tag.id = `dev-${tag.id}`;
    for (const relation of tag.relations) relation.resourceId = `dev-${relation.resourceId}`;
  }
}

/** The content of a plan, without ids, times and counts of reads. */
const effectOf = ({ steps, findings }: Plan): object => ({
  steps: steps.map(({ id: _, ...step }) => step),
  problems: diagnosticsOf({ findings }).map(({ code, severity, address }) => ({ code, severity, address })),
});

const users = (account: AccountState, id: string) => account.integrations.find((one) => one.id === id)?.schemas["public"]?.tables["users"];

const fleet = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec:
  integrations: { names: ["shop-shard-*"] }
  rules:
    - { id: pii, match: { schema: public, table: users, column: email }, set: { enabled: true, hashed: true } }
`;

const unhashInDev = ({ dev }: TwoTargets): void =>
  dev.service.mutate((account) => void Object.assign(users(account, "dev-51a1")?.columns["email"] ?? {}, { hashed: false }));
const hashEverywhere = ({ prod, dev }: TwoTargets): void => {
  for (const [{ service }, prefix] of [
    [prod, ""],
    [dev, "dev-"],
  ] as const)
    service.mutate((account) => {
      for (const id of ["51a1", "51a2"])
        Object.assign(users(account, prefix + id)?.columns["email"] ?? {}, { enabled: true, hashed: true });
    });
};

let targets: TwoTargets;
beforeEach(async () => {
  targets = await openTwoTargets();
});
afterEach(() => targets.close());

test("import of a second target writes bindings, not files", async () => {
  await targets.prod.importJson({ target: ["prod"] });
  const before = await targets.prod.files();
  targets.dev.service.mutate(({ tags: [pii] }) => void Object.assign(pii ?? {}, { description: "Other" }));
  const report = await targets.importDev();
  expect(report.files).toEqual([]);
  expect(report.notices).toEqual([]);
  expect(report.bindings).toMatchObject({ "Integration/orders": "dev-8f1c", "Tag/pii": "dev-t-1", "Asset/warehouse": "d-12" });
  // The difference is reported, and no file is changed.
  expect(report.remaining).toEqual(["Tag/pii: update /description"]);
  expect(report.exit.code).toBe(1);
  const after = await targets.prod.files();
  expect({ ...after, "dimsync.bindings.yaml": "" }).toEqual({ ...before, "dimsync.bindings.yaml": "" });
  expect((await targets.prod.importJson({ target: ["prod"] })).files).toEqual([]);
});

test("an integration that deviates from a SchemaConfig of many targets gets a manifest of its own target, even if the other one has no bindings", async () => {
  hashEverywhere(targets);
  await targets.write("manifests/fleet.yaml", fleet);
  unhashInDev(targets);
  const before = effectOf(await targets.planProd());
  expect(await targets.importDev()).toMatchObject({ failures: [] });
  expect(await targets.read("manifests/integrations/shop-shard-01.yaml")).toContain("metadata: { name: shop-shard-01, targets: [dev] }");
  expect(effectOf(await targets.planProd())).toEqual(before);
});

describe("an integration that only exists in one target", () => {
  beforeEach(async () => {
    await targets.prod.importJson({ target: ["prod"] });
    targets.dev.service.mutate((account) => {
      const [orders] = account.integrations;
      if (orders === undefined) return;
      const source = { id: "trial-pg", name: "trial-pg", type: "postgres" };
      account.integrations.push({ ...structuredClone(orders), id: "dev-trial", name: "Trial", source });
    });
  });

  test("gets a manifest of that target, whose name no other manifest has", async () => {
    const before = effectOf(await targets.planProd());
    const report = await targets.importDev();
    expect(report).toMatchObject({ remaining: [], failures: [], exit: { code: 0 } });
    expect(report.files.map(({ path }) => path)).toEqual(["manifests/integrations/trial.yaml"]);
    expect(await targets.read("manifests/integrations/trial.yaml")).toMatch(
      /(?:[\s\S]*metadata: \{ name: trial(?:-pg)?, targets: \[dev\] \}){3}/u,
    );
    expect(effectOf(await targets.planProd())).toEqual(before);
    // Made in prod, too: then it is a manifest of both.
    targets.prod.service.mutate((account) => {
      const [orders] = account.integrations;
      const source = { id: "trial-2", name: "trial-2", type: "postgres" };
      if (orders !== undefined) account.integrations.push({ ...structuredClone(orders), id: "t2", name: "Trial", source });
    });
    expect((await targets.prod.importJson({ target: ["prod"] })).bindings).toHaveProperty("Integration/trial", "t2");
    expect(await targets.read("manifests/integrations/trial.yaml")).toContain("metadata: { name: trial, targets: [dev, prod] }");
  });

  test("gets a manifest in the folder of its target", async () => {
    await targets.write(
      "dimsync.yaml",
      (await targets.read("dimsync.yaml")).replace(/(dev: .*) \}\n/u, "$1, manifests: [manifests/dev] }\n"),
    );
    const before = effectOf(await targets.planProd());
    const report = await targets.importDev();
    expect(report).toMatchObject({ remaining: [], failures: [], exit: { code: 0 } });
    expect(report.files.map(({ path }) => path)).toEqual(["manifests/dev/integrations/trial.yaml"]);
    expect(effectOf(await targets.planProd())).toEqual(before);
  });
});

test("with --out, new manifests are written for all targets", async () => {
  hashEverywhere(targets);
  await targets.write("manifests/fleet.yaml", fleet);
  unhashInDev(targets);
  const report = await targets.importDev({ out: join(targets.prod.folder, "manifests") });
  expect(report.files.map(({ path }) => path)).toContain("manifests/integrations/shop-shard-01.yaml");
  expect(report.failures).toEqual([]);
  expect(readySteps(await targets.planProd()).filter(({ verb }) => verb !== "bind")).toEqual([]);
});

test("until another target has bindings, new manifests go to the common folder", async () => {
  const report = await targets.importDev();
  expect(report).toMatchObject({ remaining: [], failures: [] });
  expect(report.files.map(({ path }) => path)).toContain("manifests/integrations/orders.yaml");
});

test("import of one target never changes the plan of the other", async () => {
  await fc.assert(
    fc.asyncProperty(
      accountState,
      fc.array(liveChange, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.boolean(),
      async (state, changes, hasOwnFolder, hasFleet) => {
        const random = await openTwoTargets(state, hasOwnFolder ? ", manifests: [manifests/dev]" : "");
        try {
          if (hasFleet) await random.write("manifests/fleet.yaml", fleet.replace('"shop-shard-*"', '"*"'));
          await random.prod.importJson({ target: ["prod"] });
          random.dev.service.mutate((account) => {
            for (const change of changes) makeChange(account, change);
          });
          const before = effectOf(await random.planProd());
          const report = await random.importDev();
          expect(effectOf(await random.planProd())).toEqual(before);
          if (hasOwnFolder) expect(report.failures).toEqual([]);
        } finally {
          await random.close();
        }
      },
    ),
    { numRuns: runs(3, 200) },
  );
});

test("two objects with the name of one manifest get manifests of their own, and only that manifest is blocked", async () => {
  const { prod, dev, importDev, planDev, close } = await openTwoTargets(undefined, ", manifests: [dev]");
  try {
    const rename = (account: AccountState) => {
      const orders = account.integrations.find(({ name }) => name === "Orders");
      if (orders !== undefined) orders.name = "orders";
    };
    prod.service.mutate(rename);
    dev.service.mutate((account) => {
      rename(account);
      const orders = account.integrations.find(({ name }) => name === "orders");
      if (orders !== undefined) account.integrations.push({ ...structuredClone(orders), id: "dev-twin" });
    });
    await prod.importJson({ target: ["prod"] });
    await importDev();
    const made = await planDev();
    const { executable } = made;
    const diagnostics = diagnosticsOf(made);
    const blocked = blockedSteps(made);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(executable).toBe(true);
    expect(blocked.find(({ address }) => address === "Integration/orders")).toMatchObject({ code: "E_INTEGRATION_MISSING" });
    expect(blocked.filter(({ address }) => !/orders$/u.test(address) && !address.startsWith("Tag/"))).toEqual([]);
    expect(readySteps(made).filter(({ verb }) => verb !== "bind")).toEqual([]);
  } finally {
    await close();
  }
});

test("import names what the account has that breaks a policy of severity error", async () => {
  const policy = (name: string, severity: string) =>
    `apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: ${name} }\nspec: { severity: ${severity}, when: { column: { name: email, enabled: true } }, require: { hashed: true }, message: Hash it. }\n`;
  await targets.write("manifests/policy.yaml", `${policy("hashed-emails", "error")}---\n${policy("maybe", "warning")}`);
  const { notices } = await targets.prod.importJson({ target: ["prod"] });
  expect(notices.filter((notice) => notice.includes("Policy/"))).toEqual([
    expect.stringMatching(
      /^Policy\/hashed-emails is violated by what the account has: Schemas\/.* public\.customers\.email.*\. Hash it\.$/u,
    ),
  ]);
});

describe("objects of the manifests that the second account does not have", () => {
  const without = ({ integrations, tags }: AccountState): void => {
    for (const tag of tags) tag.relations = tag.relations.filter(({ resourceId }) => resourceId === "dev-8f1c");
    integrations.splice(0, integrations.length, ...integrations.filter(({ name }) => name === "Orders"));
  };

  test("get metadata.targets, with their SchemaConfigs, and are one sentence of the plan", async () => {
    await targets.prod.importJson({ target: ["prod"] });
    const before = effectOf(await targets.planProd());
    targets.dev.service.mutate(without);
    const report = await targets.importDev();
    expect(report).toMatchObject({ remaining: [], failures: [], exit: { code: 0 } });
    expect(report.notices).toContainEqual(
      expect.stringMatching(/^3 integrations of the manifests are not in dev, .*targets: \[prod\]: billing, /u),
    );
    expect((await targets.read("manifests/integrations/billing.yaml")).match(/targets: \[prod\]/gu)).toHaveLength(3);
    const dev = await targets.planDev();
    expect([blockedSteps(dev), dev.elsewhere, dev.exit.code]).toMatchObject([[], { Integration: 3 }, 0]);
    expect(effectOf(await targets.planProd())).toEqual(before);
    expect((await targets.importDev()).files).toEqual([]);
    // Once dev has one of them, its manifests are those of both targets.
    targets.dev.service.mutate(({ integrations, tags }) => {
      const finance = tags.find(({ id }) => id === "dev-t-2");
      const [relation] = targets.prod.service.state().tags.find(({ id }) => id === "t-2")?.relations ?? [];
      if (relation !== undefined) finance?.relations.push({ ...relation, resourceId: "dev-billing" });
      const billing = targets.prod.service.state().integrations.find(({ name }) => name === "Billing");
      if (billing !== undefined) integrations.push({ ...structuredClone(billing), id: "dev-billing" });
    });
    const again = await targets.importDev();
    expect(again).toMatchObject({ remaining: [], failures: [], bindings: { "Integration/billing": "dev-billing" } });
    expect(again.files.map(({ path }) => path)).toEqual(["manifests/integrations/billing.yaml"]);
    expect(again.notices).toContainEqual(
      "1 integration of other targets is in dev, too, so its manifests now have metadata.targets: [prod, dev]: billing.",
    );
    expect((await targets.read("manifests/integrations/billing.yaml")).match(/targets: \[prod, dev\]/gu)).toHaveLength(3);
    const later = await targets.planDev();
    expect([blockedSteps(later), later.elsewhere, later.exit.code]).toMatchObject([[], { Integration: 2 }, 0]);
    expect(effectOf(await targets.planProd())).toEqual(before);
  });

  test("stay manifests of both targets if the list may be incomplete, unless the target says that its lists have no pages", async () => {
    await targets.prod.importJson({ target: ["prod"] });
    targets.dev.service.mutate((account) => {
      without(account);
      const [orders] = account.integrations;
      for (let number = account.integrations.length; orders !== undefined && number < 10; number++)
        account.integrations.push({ ...structuredClone(orders), id: `i-${number}`, name: `Integration ${number}` });
    });
    const { notices } = await targets.importDev();
    expect(notices).toContainEqual(expect.stringMatching(/exactly 10 integrations, .* of 9 manifests of other targets stays as it is\. /u));
    expect(await targets.read("manifests/integrations/billing.yaml")).not.toContain("targets:");
    const config = await targets.read("dimsync.yaml");
    await targets.write("dimsync.yaml", config.replace("dev: { baseUrl", "dev: { service: { lists: complete }, baseUrl"));
    expect((await targets.importDev()).notices).toContainEqual(expect.stringMatching(/^3 integrations of the manifests are not in dev, /u));
    expect(await targets.read("manifests/integrations/billing.yaml")).toContain("targets: [prod]");
  });

  test("keep a manifest that another target has not recorded", async () => {
    await targets.write("manifests/x.yaml", "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: x }\nspec: {}\n");
    expect((await targets.importDev()).files.map(({ path }) => path)).not.toContain("manifests/x.yaml");
  });
});

test("a pinned id becomes a map", async () => {
  await targets.write(
    "manifests/o.yaml",
    'apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: o, id: "8f1c" }\nspec: { expect: { name: Orders } }\n',
  );
  expect((await targets.importDev()).bindings).toHaveProperty("Integration/o", "dev-8f1c");
  expect(await targets.read("manifests/o.yaml")).toContain('metadata: { name: o, id: { prod: "8f1c", dev: dev-8f1c } }');
  expect(readySteps(await targets.planProd())).toContainEqual(expect.objectContaining({ address: "Integration/o", liveId: "8f1c" }));
});

test("two objects that cannot be distinguished are blocked alone, and only in the target that does not know their ids", async () => {
  targets.prod.service.mutate(({ integrations: [orders, billing] }) => {
    if (orders === undefined || billing === undefined) return;
    billing.source = { ...orders.source, id: "s-twin" };
  });
  await targets.prod.importJson({ target: ["prod"] });
  const prod = await targets.planProd();
  expect([blockedSteps(prod), prod.exit.code]).toEqual([[], 0]);
  const made = await targets.planDev();
  const { executable } = made;
  const twins = blockedSteps(made)
    .filter(({ code }) => code === "E_SHARED_IDENTITY")
    .map(({ address }) => address);
  expect([twins, executable]).toEqual([["Asset/orders-pg-s-1", "Asset/orders-pg-s-twin"], true]);
});
