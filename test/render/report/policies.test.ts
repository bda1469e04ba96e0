import { expect, test } from "vitest";
import type { PolicyFinding } from "../../../src/model/findings.ts";
import { policiesOf } from "../../../src/render/report/policies.ts";

const finding = (line: number, members: Partial<PolicyFinding> = {}): PolicyFinding => ({
  ...{ policy: "pii", severity: "error", message: "personal data must be hashed", address: "Schemas/orders" },
  ...{ path: `/schemas/public/tables/t${line}/columns/email/hashed`, state: "existing", file: "a.yaml", line },
  ...members,
});

test("findings with one message are one group, and each keeps its place", () => {
  const { existing } = policiesOf([finding(4), finding(9)], "Plan");
  expect(existing).toMatchObject([{ place: "", nodes: [{ place: "a.yaml:4" }, { place: "a.yaml:9" }] }]);
});

test("a place that all findings share is that of the group", () => {
  const { existing } = policiesOf([finding(4), finding(4, { address: "Schemas/returns" })], "Plan");
  expect(existing).toMatchObject([{ place: "a.yaml:4", nodes: [{ place: "" }, { place: "" }] }]);
});

test("findings of other severities and messages are other groups, errors first", () => {
  const groups = policiesOf([finding(1, { severity: "warning" }), finding(2), finding(3, { message: "x" })], "Plan").existing;
  expect(groups.map(({ severity, message }) => [severity, message])).toEqual([
    ["error", "personal data must be hashed"],
    ["error", "x"],
    ["warning", "personal data must be hashed"],
  ]);
});
