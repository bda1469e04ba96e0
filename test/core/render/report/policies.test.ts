// Findings with one message are one group, and each keeps its place.
import { expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/core/base/model/findings.ts";
import type { Entry, Row } from "../../../../src/core/render/blocks.ts";
import { policyEntries } from "../../../../src/core/render/report/policies.ts";

const finding = (line: number, members: Partial<PolicyFinding> = {}): PolicyFinding => ({
  ...{ rule: "Policy/pii", severity: "error", message: "personal data must be hashed", address: "Schemas/orders" },
  ...{ path: `/schemas/public/tables/t${line}/columns/email/hashed`, state: "existing", file: "a.yaml", line },
  ...members,
});

const existing = (findings: readonly PolicyFinding[]): readonly Entry[] => policyEntries(findings, "existing");
const places = (spans: Row): readonly string[] =>
  spans.flat().flatMap((span) => (typeof span !== "string" && span.as === "place" ? [span.text] : []));

test("findings with one message are one group, and each keeps its place", () => {
  const [group] = existing([finding(4), finding(9)]);
  expect([places(group?.head ?? []), group?.rows?.map(places)]).toEqual([[""], [["a.yaml:4"], ["a.yaml:9"]]]);
});

test("a place that all findings share is that of the group", () => {
  const [group] = existing([finding(4), finding(4, { address: "Schemas/returns" })]);
  expect([places(group?.head ?? []), group?.rows?.map(places)]).toEqual([["a.yaml:4"], [[""], [""]]]);
});

test("findings of other severities and messages are other groups, errors first", () => {
  const groups = existing([finding(1, { severity: "warning" }), finding(2), finding(3, { message: "x" })]);
  expect(groups.map(({ tone, notes }) => [tone, notes?.flat()[0]])).toEqual([
    ["bad", "personal data must be hashed"],
    ["bad", "x"],
    ["warn", "personal data must be hashed"],
  ]);
});
