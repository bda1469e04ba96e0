// What the folders above need of the kind whose units are the schemas of integrations, and of no other kind: policies, labels, `explain`,
// import and the register work on schemas. The registry (index.ts) has what every kind has. No other file outside this folder
// imports a kind (build/layers.mjs).

export { missingOf, ruleProblems, unreviewedIn } from "./schema-config/compiled-config.ts";
export { tablesToRead, tablesWithoutColumns } from "./schema-config/coverage.ts";
export { evaluate } from "./schema-config/evaluate.ts";
export { isFixed, overlayOf } from "./schema-config/evaluation.ts";
export { absenceOf, decisionIn, disabledAbove, type Explanation, explain } from "./schema-config/explain.ts";
export { schemaConfig, unknownColumns } from "./schema-config/index.ts";
export { switchedOffBy } from "./schema-config/new-columns.ts";
export { readableElsewhere } from "./schema-config/obligations.ts";
export { declaredPriorityProblems } from "./schema-config/priorities.ts";
export { type LostChange, type LostNode, layersOf, lostNodes, withoutAlike } from "./schema-config/protection.ts";
export { readSchemas, wholeSchemas, withColumns } from "./schema-config/read.ts";
export type { RuleCache } from "./schema-config/rules/rule-cache.ts";
export { ruleSetsIn, spliceRules } from "./schema-config/rules/rule-sets.ts";
export {
  type Known,
  labelsOfColumn,
  type NodeState,
  type Question,
  type ScannedColumn,
  type ScannedNode,
  type ScannedSchema,
  type ScannedTable,
  type ScanOptions,
  scan,
  whereLabelsAre,
} from "./schema-config/scan.ts";
export { type SchemaConfigUnit, schemaUnits } from "./schema-config/units.ts";
