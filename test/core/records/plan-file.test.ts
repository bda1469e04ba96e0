// A plan file is read as it was written, or refused.
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../src/core/base/model/errors.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { type PlanFileOptions, readDocuments, readPlanFile, writePlanFile } from "../../../src/core/records/plan-file.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { stepsFrom } from "../../support/steps.ts";
import { tempFolder } from "./child.ts";

const plan: Plan = {
  formatVersion: "3.0",
  kind: "Plan",
  planId: "p1",
  createdAt: "2026-01-01T00:00:00.000Z",
  tool: { name: "dimsync", version: "0.1.0" },
  target: "prod",
  account: "https://api.example.com",
  manifestDigest: "sha256:aa",
  complete: true,
  executable: true,
  calls: { read: { GET: 1 }, planned: {}, later: {} },
  steps: stepsFrom({
    byHand: [
      {
        address: "Integration/ü",
        path: "/paused",
        expected: JSON.parse('{"__proto__":1,"10":-0,"9":"\\u2028"}'),
        instruction: "Ask.",
      },
    ],
  }),
  unmanaged: { integrations: [], tags: [], columns: 0 },
  findings: [],
  counts: { create: 0, update: 0, relate: 0, bind: 0, equal: 0, protects: 0, exposes: 0 },
  exit: { code: 0, reasons: [] },
};
const result = {
  formatVersion: "3.0",
  kind: "Result",
  runId: "r1",
  planId: "p1",
  target: "prod",
  account: "a",
  steps: [],
  findings: [],
};
const key = { digestKey: "k" };

async function saved(options = {}): Promise<string> {
  const file = join(await tempFolder(), "plan.json");
  await writePlanFile(file, plan, options);
  return file;
}

async function edited(change: (text: string) => string, options = {}): Promise<string> {
  const file = await saved(options);
  await writeFile(file, change(await readFile(file, "utf8")));
  return file;
}

it("reads a written plan, plain or signed, whose file only its owner can read", async () => {
  for (const options of [{}, key, { digestKey: "" }]) {
    const file = await saved(options);
    expect(JSON.stringify(await readPlanFile(file, options))).toBe(JSON.stringify(plan));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
});

it("writes a plan that was read before with a single new digest", async () => {
  const file = await saved();
  const before = await readFile(file, "utf8");
  await writePlanFile(file, JSON.parse(before) as Plan);
  expect(await readFile(file, "utf8")).toBe(before);
});

it("accepts another order of keys and other white space", async () => {
  const file = await edited((text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())), key);
  expect((await readPlanFile(file, key)).planId).toBe("p1");
});

const integrity =
  (digest: unknown): ((text: string) => string) =>
  (text) =>
    JSON.stringify({ ...(JSON.parse(text) as object), integrity: digest });

describe("refuses with exit 5", () => {
  const cases: Readonly<Record<string, readonly [code: string, file: () => Promise<string>, options?: object]>> = {
    "a changed member": ["E_PLAN_TAMPERED", () => edited((text) => text.replace('"p1"', '"p2"'))],
    "a changed member of a signed plan": ["E_PLAN_TAMPERED", () => edited((text) => text.replace('"p1"', '"p2"'), key), key],
    "an added member": ["E_PLAN_TAMPERED", () => edited((text) => text.replace("{", '{"x":1,'))],
    "a plan without a digest": ["E_PLAN_TAMPERED", () => edited(integrity(undefined))],
    "a digest in another form": ["E_PLAN_TAMPERED", () => edited(integrity("sha256:00"))],
    "a digest of another kind": ["E_PLAN_TAMPERED", () => edited(integrity({ digest: "md5:00" }))],
    "a plan signed with another key": ["E_PLAN_TAMPERED", () => saved({ digestKey: "other" }), key],
    "a signed plan without the key": ["E_DIGEST_KEY", () => saved(key)],
    "a signed plan with an empty key": ["E_DIGEST_KEY", () => saved(key), { digestKey: "" }],
    "an unsigned plan with a key": ["E_PLAN_TAMPERED", () => saved(), key],
    "a plan without a digest with a key": ["E_PLAN_TAMPERED", () => edited(integrity(undefined)), key],
    "a truncated file": ["E_PLAN_FILE", () => edited((text) => text.slice(0, 200))],
    "an empty file": ["E_PLAN_FILE", () => edited(() => "")],
    "a plan of format 2": ["E_PLAN_FILE", () => edited((text) => text.replace('"3.0"', '"2.0"'))],
    "a newer major format": ["E_PLAN_FILE", () => edited((text) => text.replace('"3.0"', '"4.0"'))],
    "a plan that the schema refuses": ["E_PLAN_FILE", () => saved(), { validate: () => false }],
    "nesting without end": ["E_PLAN_FILE", () => edited((text) => text.replace('"p1"', `${"[".repeat(200_000)}${"]".repeat(200_000)}`))],
  };
  for (const [name, [code, file, options]] of Object.entries(cases)) {
    it(name, async () => {
      const outcome: unknown = await readPlanFile(await file(), options).catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(DimsyncError);
      expect(outcome).toMatchObject({ code, exit: 5 });
    });
  }

  it("a plan with missing members, although its digest is correct", async () => {
    const file = join(await tempFolder(), "plan.json");
    await writePlanFile(file, { ...plan, steps: undefined } as unknown as Plan);
    await expect(readPlanFile(file)).rejects.toMatchObject({ code: "E_PLAN_FILE", exit: 5 });
  });
});

it("reads a newer minor format, whose digest includes the additions", async () => {
  const file = join(await tempFolder(), "plan.json");
  await writePlanFile(file, { ...plan, formatVersion: "3.7", extra: 1 } as unknown as Plan);
  expect(await readPlanFile(file)).toMatchObject({ formatVersion: "3.7", extra: 1 });
});

describe("reports a usage error (exit 1) for", () => {
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    "a file that does not exist": async () => join(await tempFolder(), "none.json"),
    "a YAML file": () => edited(() => "kind: Tag\n"),
    "a list": () => edited(() => "[]"),
    "another JSON object": () => edited(() => "{}"),
    "a format that is not a version": () => edited((text) => text.replace('"3.0"', "1")),
    "a result": () => edited(() => JSON.stringify(result)),
    "a drift report": () => edited((text) => text.replace('"Plan"', '"DriftReport"')),
  };
  for (const [name, file] of Object.entries(cases))
    it(name, async () => {
      await expect(readPlanFile(await file())).rejects.toMatchObject({ code: "E_PLAN_FILE", exit: 1 });
    });
});

it("reports a plan that can't be saved", async () => {
  const file = join(await tempFolder(), "plan.json");
  await mkdir(file);
  await expect(writePlanFile(file, plan)).rejects.toMatchObject({ code: "E_OUTPUT", exit: 1 });
});

describe("for show", () => {
  const kinds = async (file: Promise<string>, options: PlanFileOptions = {}) =>
    (await readDocuments(await file, options)).map(({ kind }) => kind);

  it.each<[string, () => Promise<string>, PlanFileOptions, readonly string[]]>([
    ["a saved plan", () => saved(), {}, ["Plan"]],
    ["a saved plan, with a key", () => saved(), key, ["Plan"]],
    ["a signed plan", () => saved(key), key, ["Plan"]],
    ["a signed plan without its key", () => saved(key), {}, ["Plan"]],
    ["a plan of -o json, which has no digest", () => edited(() => JSON.stringify(plan)), {}, ["Plan"]],
    ["a result", () => edited(() => JSON.stringify(result)), key, ["Result"]],
    ["a drift report", () => edited(() => JSON.stringify({ ...plan, kind: "DriftReport" })), {}, ["DriftReport"]],
    ["a list, one for each target", () => edited((text) => `[${text},${JSON.stringify(result)}]`), {}, ["Plan", "Result"]],
  ])("reads %s", async (_sentence, file, options, wanted) => {
    expect(await kinds(file(), options)).toEqual(wanted);
  });

  it.each<[string, () => Promise<string>, PlanFileOptions, string, number?]>([
    ["a plan that was changed", () => edited((text) => text.replace('"p1"', '"p2"')), {}, "E_PLAN_TAMPERED"],
    ["a changed plan, with a key", () => edited((text) => text.replace('"p1"', '"p2"')), key, "E_PLAN_TAMPERED"],
    ["a signed plan with another key", () => saved({ digestKey: "other" }), key, "E_PLAN_TAMPERED"],
    [
      "a result with a digest of something else",
      () => edited(() => JSON.stringify({ ...result, integrity: { digest: "sha256:00" } })),
      {},
      "E_PLAN_TAMPERED",
    ],
    ["an invalid digest", () => edited(() => JSON.stringify({ ...plan, integrity: 1 })), {}, "E_PLAN_TAMPERED"],
    ["members of the wrong type", () => edited(() => JSON.stringify({ ...result, steps: 1 })), {}, "E_PLAN_FILE"],
    ["another document", () => edited(() => JSON.stringify({ ...result, kind: "Validation" })), {}, "E_PLAN_FILE", 1],
    ["a list that contains another document", () => edited((text) => `[${text},{}]`), {}, "E_PLAN_FILE", 1],
    ["an empty list", () => edited(() => "[]"), {}, "E_PLAN_FILE", 1],
  ])("refuses %s", async (_sentence, file, options, code, exit = 5) => {
    await expect(kinds(file(), options)).rejects.toMatchObject({ code, exit });
  });
});

it("causes a DimsyncError or reads the same plan, however the file is damaged", async () => {
  const file = await saved();
  const good = await readFile(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length), fc.nat(30), fc.uint8Array({ maxLength: 8 }), async (at, length, insert) => {
      await writeFile(file, Buffer.concat([good.subarray(0, at), insert, good.subarray(at + length)]));
      const outcome: unknown = await readPlanFile(file).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DimsyncError);
      else expect(JSON.stringify(outcome)).toBe(JSON.stringify(plan));
    }),
    { numRuns: runs(100, 1_000) },
  );
});
