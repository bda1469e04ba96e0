import { describe, expect, test } from "vitest";
import * as validators from "../../src/manifests/validators.generated.js";
import { isObject } from "../../src/model/json/json.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Result, Validation } from "../../src/model/result.ts";

const exit = { code: 2, reasons: ["changes"] } as const;
const common = {
  formatVersion: "2.0",
  tool: { name: "dimsync", version: "0.1.0" },
  target: "prod",
  account: "https://api.example.com",
} as const;
const diagnostic = {
  code: "W_RULE_NO_MATCH",
  severity: "warning",
  summary: "S",
  message: "M",
  file: "a.yaml",
  line: 1,
  column: 2,
  excerpt: ["a", "^"],
  address: "Tag/a",
  command: "c",
} as const;
const change = {
  path: "/a",
  before: false,
  after: { $secret: { env: "A" } },
  risk: "exposes",
  cause: { rule: "r", reason: "why", file: "a.yaml", line: 1 },
} as const;
const ofNodes = {
  field: "hashed",
  before: false,
  after: true,
  risk: "exposes",
  count: 1,
  nodes: { s: { t: ["c"] } },
  cause: change.cause,
} as const;
const manual = { id: "m-1", address: "Tag/a", path: "", expected: 1, actual: null, instruction: "do" } as const;
const guard = { guard: "maxCreates", message: "m", limit: 5, actual: 6, allowed: "because" } as const;
const policy = {
  policy: "p",
  severity: "error",
  state: "new",
  address: "Tag/a",
  path: "/x",
  message: "m",
  actual: false,
  required: true,
  file: "a.yaml",
  line: 1,
} as const;

/**
 * Typed by the model, with every optional member, so that a member that the schema lacks fails
 * here.
 */
const plan: Plan = {
  ...common,
  kind: "Plan",
  planId: "p",
  createdAt: "2027-01-31T00:00:00Z",
  git: { commit: "c", dirty: false },
  manifestDigest: `sha256:${"0".repeat(64)}`,
  complete: true,
  executable: true,
  calls: { read: { GET: 1 }, planned: { POST: 1 } },
  items: [
    {
      id: "i1",
      address: "Asset/a",
      kind: "Asset",
      action: "create",
      liveId: "x",
      liveName: "X",
      dependsOn: ["i2"],
      changes: [change, ofNodes],
      requests: [{ method: "POST", path: "/v1/assets", body: { name: "a" } }],
      naturalKey: { name: "a" },
      binding: { id: "x", sent: { "/a": "sha256:1" }, secretVersion: 0 },
      exposedColumns: 3,
    },
  ],
  manual: [manual],
  blocked: [{ address: "Asset/a", code: "E_UNBOUND", message: "m", command: "c" }],
  deferred: [{ address: "Schemas/b", waitsFor: ["Integration/b"], liveId: "x", desired: {} }],
  unmanaged: { integrations: [{ id: "a", name: "A" }], tags: [], columns: 1 },
  unverifiable: [{ address: "Asset/a", paths: ["/connection"], reason: "r" }],
  policy: [policy],
  guards: [guard],
  diagnostics: [diagnostic],
  summary: { create: 1, update: 0, relate: 0, bind: 0, noop: 0, manual: 1, blocked: 1, deferred: 1, protects: 0, exposes: 1 },
  exit,
};
const result: Result = {
  ...common,
  kind: "Result",
  runId: "r",
  planId: "p",
  startedAt: "2027-01-31T00:00:00Z",
  finishedAt: "2027-01-31T00:00:01Z",
  items: [
    {
      id: "i1",
      address: "Asset/a",
      kind: "Asset",
      action: "create",
      outcome: "not-converged",
      liveId: "x",
      code: "E_USAGE",
      message: "m",
      changes: [change, ofNodes],
    },
  ],
  manual: [manual],
  guards: [guard],
  policy: [policy],
  diagnostics: [diagnostic],
  calls: { POST: 1 },
  bindings: { "Asset/a": "x" },
  exit,
};
const validation: Validation = { kind: "Validation", manifests: 1, files: 1, diagnostics: [diagnostic], exit };
const attribution = { actor: "a", at: "t", userAgent: "u", ip: "i", event: "e", confidence: "likely", own: false };
const driftItems = plan.items.map((item) => ({
  ...item,
  changes: item.changes.map((each) => ({ ...each, risk: "exposed", origin: "drift", attribution })),
}));
const { protects: _, exposes: __, ...counts } = plan.summary;
const driftManual = plan.manual.map((step) => ({ ...step, origin: "drift", attribution }));
const drift = { ...plan, kind: "DriftReport", items: driftItems, manual: driftManual, summary: { ...counts, exposed: 1, stricter: 0 } };

describe("documents that dimsync writes", () => {
  const documents = [
    ["plan", validators.plan, plan],
    ["result", validators.result, result],
    ["validation", validators.validation, validation],
    ["drift", validators.drift, drift],
  ] as const;
  test.each(documents)("a %s with every member is valid, one with an unknown member anywhere is not", (_name, validate, document) => {
    expect([validate(document), validate.errors]).toEqual([true, null]);
    const open = new Set([
      "body",
      "naturalKey",
      "nodes",
      "sent",
      "bindings",
      "calls",
      "read",
      "planned",
      "before",
      "after",
      "desired",
      "expected",
      "actual",
    ]);
    const accepted: string[] = [];
    const visit = (node: unknown, path: readonly (string | number)[]): void => {
      if (Array.isArray(node)) for (const [index, item] of node.entries()) visit(item, [...path, index]);
      if (!isObject(node) || path.some((part) => open.has(String(part)) && path.at(-1) === part)) return;
      const copy = structuredClone(document);
      const target = path.reduce<unknown>((value, part) => (value as Record<string | number, unknown>)[part], copy) as Record<
        string,
        unknown
      >;
      target["unknownMember"] = 1;
      if (validate(copy)) accepted.push(path.join("/"));
      for (const [key, value] of Object.entries(node)) visit(value, [...path, key]);
    };
    visit(document, []);
    expect(accepted.filter((path) => path !== "calls" || document.kind !== "Result")).toEqual([]);
  });
  test.each(documents)("a %s without a required member is not valid", (_name, validate, document) => {
    for (const key of Object.keys(document).filter((each) => each !== "git")) {
      const { [key]: _left, ...rest } = document as unknown as Record<string, unknown>;
      expect([key, validate(rest)]).toEqual([key, false]);
    }
  });
  test("a plan is not a drift report, and a document in another format is neither", () => {
    expect([
      validators.drift(plan),
      validators.plan({ ...plan, kind: "DriftReport" }),
      validators.plan({ ...plan, formatVersion: "1.0" }),
    ]).toEqual([false, false, false]);
  });
});
