import { expect, test } from "vitest";
import { countsIn, stateOf } from "../../../../src/features/controller/work/outcome.ts";
import { change, item, plan } from "../../../core/render/plans.ts";

test("a setting that protects less makes an account exposed, and is not counted as a column", () => {
  const setting = change({ path: "/onSchemaUpdate", risk: "exposed" });
  const column = change({ path: "/schemas/public/tables/users/columns/email/hashed", risk: "exposed" });
  const report = plan({
    items: [
      item({ address: "Integration/orders", kind: "Integration", changes: [setting] }),
      item({ address: "Schemas/orders", kind: "Schemas", changes: [column] }),
    ],
    summary: { ...plan().summary, exposed: 2 },
  });
  expect(countsIn({ report })).toMatchObject({ exposed_columns: 1, differences: 2 });
  expect(stateOf({ ...report, items: report.items.slice(0, 1) })).toBe("exposed");
});
