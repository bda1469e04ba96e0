import { expect, test } from "vitest";
import { withMembers } from "../../src/model/plan.ts";
import { fullPlan } from "../render/full-plan.ts";

test("a copy of a plan with other members computes the digest of the manifests only when it is read", () => {
  let computed = 0;
  const plan = Object.defineProperty({ ...fullPlan }, "manifestDigest", {
    enumerable: true,
    get: () => {
      computed++;
      return "sha256:00";
    },
  });
  const copy = withMembers(withMembers(plan, { exit: { code: 2, reasons: ["changes"] } }), { executable: false });
  expect(computed).toBe(0);
  expect(copy).toEqual({ ...fullPlan, manifestDigest: "sha256:00", exit: { code: 2, reasons: ["changes"] }, executable: false });
  expect(Object.keys(copy)).toEqual(Object.keys(fullPlan));
});
