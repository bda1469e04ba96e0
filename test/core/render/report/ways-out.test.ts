// A refusal ends with the entries that lift it.
import { expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/core/base/model/findings.ts";
import type { ReadyStep } from "../../../../src/core/base/model/plan.ts";
import { waysOut } from "../../../../src/core/render/report/ways-out.ts";
import { guard } from "../../../support/findings.ts";
import { plan } from "../plans.ts";

const item = (address: string, more: Partial<ReadyStep>): ReadyStep => ({
  ...{ id: address, address, verb: "update", standing: "ready", dependsOn: [], changes: [], requests: [] },
  ...more,
});
const creates = (count: number): readonly ReadyStep[] =>
  Array.from({ length: count }, (_, index) => item(`Asset/a${index}`, { verb: "create" }));
const finding = (path: string, more: Partial<PolicyFinding> = {}): PolicyFinding => ({
  ...{ rule: "Policy/pii", severity: "error", state: "new", address: "Schemas/orders", path, message: "x", file: "p.yaml", line: 9 },
  ...more,
});
const entry = (text: string): string => `  - { ${text}, reason: "…", until: YYYY-MM-DD }`;
const exemption = (text: string): string => `  - { ${text}, reason: "…", approvedBy: "…", expires: YYYY-MM-DD }`;
const email = "/schemas/public/tables/a~1b/columns/email";

test.each<[string, Parameters<typeof plan>[0], readonly string[]]>([
  ["nothing refuses", { findings: [guard("maxCreates", { allowed: "import" })] }, []],
  ["a drift report", { kind: "DriftReport", findings: [guard("maxCreates")] }, []],
  [
    "a few creates",
    { findings: [guard("maxCreates")], items: [...creates(2), item("Tag/pii", { verb: "update" })] },
    ["allow:", entry("guard: maxCreates, address: Asset/a0"), entry("guard: maxCreates, address: Asset/a1")],
  ],
  ["many creates", { findings: [guard("maxCreates")], items: creates(4) }, ["allow:", entry("guard: maxCreates")]],
  [
    "exposed columns",
    { findings: [guard("maxExposedColumns")], items: [item("Schemas/a b", { exposedColumns: 60 }), item("Schemas/c", {})] },
    ["allow:", entry("guard: maxExposedColumns, address: Schemas/a b")],
  ],
  [
    "one integration that changes too much",
    {
      findings: [
        guard("maxChangedPercent", {
          ...{ limit: 30, changed: 90, population: 1000 },
          integrations: [{ address: "Schemas/hr", changed: 90, population: 100 }],
        }),
      ],
      items: [item("Schemas/hr", { verb: "update" }), item("Schemas/b", { verb: "update" })],
    },
    ["allow:", entry("guard: maxChangedPercent, address: Schemas/hr")],
  ],
  [
    "a target that changes too much",
    {
      findings: [guard("maxChangedPercent", { limit: 30, changed: 90, population: 100 })],
      items: [item("Schemas/hr", { verb: "update" }), item("Schemas/b", { verb: "update" })],
    },
    ["allow:", entry("guard: maxChangedPercent, address: Schemas/hr"), entry("guard: maxChangedPercent, address: Schemas/b")],
  ],
  [
    "an exposure window",
    { findings: [guard("exposureWindow", { address: "Integration/i" })], items: [] },
    ["allow:", entry("guard: exposureWindow, address: Integration/i")],
  ],
  [
    "a policy",
    {
      findings: [
        guard("policy"),
        finding(`${email}/hashed`),
        finding("", { address: "Integration/i", rule: "Policy/other" }),
        finding("/x", { severity: "warning" }),
      ],
    },
    [
      "Change the manifests, or add an exemption to the spec of Policy/pii:",
      "exemptions:",
      exemption("integration: orders, schema: public, table: a/b, column: email"),
      "Change the manifests, or add an exemption to the spec of Policy/other:",
      "exemptions:",
      exemption("integration: i"),
    ],
  ],
  [
    "existing findings that refuse, without those that are fixed",
    { findings: [guard("policy"), finding(email, { state: "existing" }), finding(email, { state: "fixed" })] },
    [
      "Change the manifests, or add an exemption to the spec of Policy/pii:",
      "exemptions:",
      exemption("integration: orders, schema: public, table: a/b, column: email"),
    ],
  ],
])("%s", (_, members, lines) => {
  const intro = "Change the manifests, or lift the guard in dimsync.yaml, for at most 30 days:";
  const found = waysOut(plan(members)).flatMap((way) => (way.intro === intro ? way.yaml : [way.intro, ...way.yaml]));
  expect(found).toEqual(lines);
});

test("many findings of a policy are counted", () => {
  const findings = Array.from({ length: 8 }, () => finding(email));
  const [way] = waysOut(plan({ findings: [guard("policy"), ...findings] }));
  expect(way?.yaml.slice(-1)).toEqual(["  # 7 more findings: use globs, or one entry for each"]);
  expect(way?.yaml).toHaveLength(3);
});
