import type { GuardFinding } from "./documents.generated.d.ts";
import type { ConfigFile, WrittenGuards } from "./specs.generated.d.ts";

export type { GuardFinding, PolicyFinding, UsedExemption } from "./documents.generated.d.ts";

/** How many of the live schemas, tables and columns of an integration change. */
export type ChangedNodes = NonNullable<GuardFinding["integrations"]>[number];

type FoundGuard = GuardFinding["guard"];
type LiftedGuard = NonNullable<ConfigFile["allow"]>[number]["guard"];

type Settings = Required<WrittenGuards>;
type Row<Name> = Name extends keyof Settings
  ? Settings[Name] extends number
    ? { readonly limit: number }
    : { readonly mode: Settings[Name] }
  : Readonly<Record<never, never>>;

/**
 * Each guard with the default of its setting, in the order of findings. A limit can be raised and a mode turned off in dimsync.yaml; a guard
 * without a setting can only be lifted. Names, defaults, the flag `--allow` and what a review compares with the base follow from it.
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
  outsideChanges: { mode: "report" },
  loosened: { mode: "report" },
  planDiffers: { mode: "report" },
} as const satisfies { readonly [Name in FoundGuard | LiftedGuard | keyof Settings]: Row<Name> };

export type GuardName = keyof typeof guards;

export const guardNames = Object.keys(guards) as readonly GuardName[]; // the keys of the table

type With<S> = { [Name in GuardName]: (typeof guards)[Name] extends S ? Name : never }[GuardName];
const withSetting = <S extends "limit" | "mode">(setting: S) =>
  guardNames.filter((name): name is With<Record<S, unknown>> => setting in guards[name]);

export const limitGuards = withSetting("limit");
export const modeGuards = withSetting("mode");
