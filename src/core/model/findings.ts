import type { GuardFinding } from "./documents.generated.d.ts";

export type { GuardFinding, PolicyFinding, UsedExemption } from "./documents.generated.d.ts";

/** How many of the live schemas, tables and columns of an integration change. */
export type ChangedNodes = NonNullable<GuardFinding["integrations"]>[number];

export type GuardName = GuardFinding["guard"];

/** The guards, in the order of their findings. */
export const guardNames = [
  "maxCreates",
  "maxExposedColumns",
  "maxChangedPercent",
  "maxRemovedRelations",
  "maxResyncedTables",
  "exposureWindow",
  "policy",
  "unreviewed",
  "outsideChanges",
  "loosened",
  "planDiffers",
] as const satisfies readonly GuardName[];
