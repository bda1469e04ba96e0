import type { GuardFinding } from "./documents.generated.d.ts";
import type { ConfigFile, WrittenGuards } from "./specs.generated.d.ts";

export type { GuardFinding, PolicyFinding, UsedExemption } from "./documents.generated.d.ts";

/** How many of the live schemas, tables and columns of an integration change. */
export type ChangedNodes = NonNullable<GuardFinding["integrations"]>[number];

type FoundGuard = GuardFinding["guard"];
type LiftedGuard = NonNullable<ConfigFile["allow"]>[number]["guard"];

type Row<Name> = Name extends keyof WrittenGuards ? { readonly limit: number } : Readonly<Record<never, never>>;

/**
 * Each guard with its default limit, in the order of findings. A limit can be raised in dimsync.yaml; a guard without one can only be lifted. Names,
 * defaults, the flag `--allow` and what a review compares with the base follow from it.
 */
export const guards = {
  maxCreates: { limit: 5 },
  maxExposedColumns: { limit: 50 },
  maxChangedPercent: { limit: 30 },
  maxRemovedRelations: { limit: 5 },
  maxResyncedTables: { limit: 5 },
  exposureWindow: {},
  policy: {},
  unreviewed: {},
  outsideChanges: {},
  loosened: {},
} as const satisfies { readonly [Name in FoundGuard | LiftedGuard | keyof WrittenGuards]: Row<Name> };

export type GuardName = keyof typeof guards;

export const guardNames = Object.keys(guards) as readonly GuardName[]; // the keys of the table

export const limitGuards = guardNames.filter((name): name is keyof WrittenGuards => "limit" in guards[name]);
