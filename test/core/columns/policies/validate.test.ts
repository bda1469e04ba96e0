// A policy that can never find anything is refused where it is written.
import { expect, test } from "vitest";
import { policyProblems } from "../../../../src/core/columns/policies/validate.ts";
import { resourceOf } from "../../../support/accounts/view.ts";

const hashed = { require: { hashed: true } };

test.each<[string, object, readonly string[]]>([
  ["columns that must be hashed", { ...hashed, when: { column: {} } }, []],
  ["tables that must be disabled", { require: { enabled: false }, when: { table: {} } }, []],
  ["nothing required", { when: { column: {} } }, ["/spec has no spec.require"]],
  ["nothing checked", { ...hashed, when: { integration: { names: ["orders"] } } }, ["/spec/when names no column"]],
  ["no condition at all", hashed, ["/spec names no column"]],
  ["tables that must be hashed", { ...hashed, when: { table: {} } }, ["/spec/require/hashed requires hashed, but checks tables"]],
  ["schemas that must be hashed", { ...hashed, when: { schema: {} } }, ["/spec/require/hashed requires hashed, but checks schemas"]],
])("%s", (_, spec, expected) => {
  const found = policyProblems([resourceOf("Policy", "p", spec)]).map(({ code, place, message }) => [
    code,
    `${place?.pointer} ${message.replace("Policy/p ", "")}`,
  ]);
  expect(found).toEqual(expected.map((text) => ["E_WRONG_VALUE", expect.stringContaining(text)]));
});
