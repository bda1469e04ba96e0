import { describe, expect, test } from "vitest";
import * as validators from "../../src/core/manifests/validators.generated.js";
import { isObject, type JsonValue } from "../../src/core/model/json/json.ts";
import type { Plan } from "../../src/core/model/plan.ts";
import type { Result, Validation } from "../../src/core/model/result.ts";

/** Every member, the optional ones too, so that one that a schema lacks fails here. */
type Complete<T> = [JsonValue] extends [T]
  ? T
  : T extends readonly unknown[]
    ? { readonly [K in keyof T]: Complete<T[K]> }
    : T extends object
      ? { readonly [K in keyof T]-?: Complete<T[K]> }
      : T;

const exit = { code: 2, reasons: ["changes"] } as const;
const common = {
  formatVersion: "2.0",
  tool: { name: "dimsync", version: "0.1.0" },
  target: "prod",
  severalTargets: true,
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
  status: 503,
} as const;
const cause = { rule: "r", reason: "why", label: { name: "pii", source: "labels.csv:3" }, file: "a.yaml", line: 1 } as const;
const attribution = { actor: "a", at: "t", userAgent: "u", ip: "i", event: "e", confidence: "likely", own: false } as const;
const facts = { before: false, after: true, risk: "exposes", cause, removed: cause, origin: "drift", attribution } as const;
const change = { ...facts, path: "/a", after: { $secret: { env: "A" } } } as const;
const ofNodes = { ...facts, field: "hashed", count: 1, nodes: { s: { t: ["c"] } } } as const;
const manual = {
  id: "m-1",
  address: "Tag/a",
  liveId: "t-1",
  liveName: "A",
  path: "",
  manifests: ["Tag/a"],
  expected: 1,
  actual: null,
  instruction: "do",
  command: "c",
  origin: "drift",
  attribution,
} as const;
const guard = {
  guard: "maxCreates",
  message: "m",
  limit: 5,
  actual: 6,
  changed: 6,
  population: 7,
  integrations: [{ address: "Schemas/a", changed: 6, population: 7 }],
  address: "Integration/a",
  allowed: "because",
  until: "2027-01-31",
} as const;
const held = {
  address: "Schemas/a",
  kind: "Schemas",
  action: "update",
  liveId: "x",
  liveName: "X",
  changes: [change, ofNodes],
  waitsFor: ["Integration/a"],
} as const;
const notKept = { address: "Tag/a", path: "/a", wanted: 1, live: 2, since: "2027-01-31T00:00:00Z" } as const;
const column = { address: "Schemas/a", id: "a", schema: "s", table: "t", column: "c" } as const;
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

const exemption = {
  policy: "p",
  reason: "r",
  approvedBy: "a@example.com",
  expires: "2027-01-31",
  places: [{ address: "Schemas/a", path: "/x" }],
  file: "a.yaml",
  line: 1,
} as const;

const plan: Complete<Omit<Plan, "summary" | "unmanaged">> & Pick<Plan, "summary" | "unmanaged"> = {
  ...common,
  kind: "Plan",
  elsewhere: { Integration: 30 },
  planId: "p",
  createdAt: "2027-01-31T00:00:00Z",
  git: {
    commit: "c",
    dirty: true,
    changedFiles: ["a.yaml"],
    leftOut: ["b.yaml"],
    untracked: ["c.yaml"],
    ignored: [{ file: "d.yaml", by: ".gitignore:1" }],
  },
  protected: true,
  partial: true,
  options: { only: ["Tag/*"], exclude: ["Tag/b"], ignore: [{ address: "Tag/a", path: "/name" }], assumeCompleteLists: true },
  snapshot: "2027-01-31T00:00:00Z",
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
      manifests: ["Asset/a"],
      renamedFrom: "Asset/b",
      dependsOn: ["i2"],
      changes: [change, ofNodes],
      requests: [{ method: "POST", path: "/v1/assets", body: { name: "a" } }],
      naturalKey: { name: "a" },
      binding: { id: "x", sent: { "/a": "sha256:1" }, secretVersion: 0 },
      basis: `sha256:${"0".repeat(64)}`,
      exposedColumns: 3,
    },
  ],
  manual: [manual],
  blocked: [{ address: "Asset/a", code: "E_UNBOUND", message: "m", command: "c" }],
  deferred: [{ address: "Schemas/b", waitsFor: ["Integration/b"], liveId: "x", why: "w", desired: {} }],
  unmanaged: {
    integrations: [{ id: "a", name: "A" }],
    tags: [],
    columns: 1,
    tables: [{ address: "Schemas/a", schema: "s", table: "t", columns: ["c"] }],
  },
  held: [held],
  notKept: [notKept],
  loosened: [
    {
      code: "policy-removed",
      subject: "Policy/p",
      message: "m",
      at: "base",
      file: "a.yaml",
      line: 1,
      columns: 1,
      findings: 1,
      owners: ["@a"],
    },
  ],
  released: [{ address: "Integration/a", id: "a", name: "A", columns: 1 }],
  impact: [
    {
      addresses: ["Schemas/a"],
      schema: "s",
      table: "t",
      column: "c",
      readers: [{ kind: "model", name: "m", path: "m.sql", owner: "o", via: "v", certainty: "certain" }],
      moreReaders: 1,
      tableReaders: 1,
    },
  ],
  newColumns: [{ ...column, label: "pii", replicated: true, hashed: false, since: "2027-01-31T00:00:00Z" }],
  goneColumns: [{ ...column, isTableGone: true }],
  neverReviewed: [{ address: "Schemas/a", id: "a", name: "A", columns: 1 }],
  seenColumns: [{ integrations: ["a"], after: "2027-01-31T00:00:00Z", schemas: { s: { t: ["c"] } } }],
  covered: { "SchemaConfig/a": { x: "X" } },
  unverifiable: [{ address: "Asset/a", paths: ["/connection"], reason: "r" }],
  policy: [policy],
  exemptions: [exemption],
  guards: [guard],
  diagnostics: [diagnostic],
  summary: { create: 1, update: 0, relate: 0, bind: 0, noop: 0, manual: 1, blocked: 1, deferred: 1, held: 1, protects: 0, exposes: 1 },
  exit,
};
const result: Complete<Result> = {
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
      command: "c",
      changes: [change, ofNodes],
    },
  ],
  held: [held],
  notKept: [notKept],
  manual: [manual],
  guards: [guard],
  policy: [policy],
  diagnostics: [diagnostic],
  calls: { POST: 1 },
  bindings: { "Asset/a": "x" },
  exit,
};
const validation: Complete<Validation> = {
  kind: "Validation",
  targets: ["prod", "dev"],
  manifests: 1,
  files: 1,
  diagnostics: [diagnostic],
  exit,
};
const { held: _held, options: _options, loosened: _loosened, released: _released, seenColumns: _seen, covered: _covered, ...shared } = plan;
const { held: _count, protects: _protects, exposes: _exposes, ...counts } = plan.summary;
const driftItems = plan.items.map((item) => ({ ...item, changes: item.changes.map((each) => ({ ...each, risk: "exposed" })) }));
const drift = { ...shared, kind: "DriftReport", items: driftItems, summary: { ...counts, exposed: 1, stricter: 0 } };

describe("documents that dimsync writes", () => {
  const optional = new Set(
    "git targets elsewhere severalTargets protected partial options snapshot held notKept exemptions loosened released impact newColumns goneColumns neverReviewed seenColumns covered".split(
      " ",
    ),
  );
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
      "elsewhere",
      "read",
      "planned",
      "before",
      "after",
      "desired",
      "expected",
      "actual",
      "wanted",
      "live",
      "schemas",
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
    for (const key of Object.keys(document).filter((each) => !optional.has(each))) {
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
