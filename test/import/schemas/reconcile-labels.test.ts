import { expect, test } from "vitest";
import { reconcileSchemas } from "../../../src/import/schemas/reconcile.ts";
import { labelRoots } from "../../../src/kinds/patterns/labels.ts";
import type { ColumnLabels } from "../../../src/model/labels.ts";
import { compareFleet, config, shop } from "../../kinds/schema-config/fleet.ts";

const labels: ColumnLabels = {
  defined: ["pii"],
  patterns: [
    {
      ...{ label: "pii", match: { column: "phone" } },
      origin: { text: "personal", place: { file: "p.yaml", document: 0, pointer: "" }, isInManifest: true },
    },
  ],
  columns: [],
};

test("rules match by label also in a SchemaConfig that import has changed", () => {
  const live = shop();
  // A table that is gone makes import rewrite the literal tree; the account has the phone number unhashed, against the rule.
  const shops = config({
    rules: [{ match: { label: "pii" }, set: { hashed: true } }],
    schemas: { public: { tables: { orders: { enabled: true }, gone: { enabled: true } } } },
  });
  const [unit] = compareFleet({ manifests: [shops], live: { shop: live }, view: { columnLabels: labelRoots(labels) } }).units;
  if (unit === undefined) throw new Error("no unit");
  const { spec } = reconcileSchemas({ resources: [shops], rules: unit.rules, live, literal: false, inPlace: true, isIgnored: () => false });
  expect(spec.schemas).toEqual({
    public: { tables: { orders: { enabled: true } } },
    sales: { tables: { customers: { columns: { phone: { hashed: false } } } } },
  });
});
