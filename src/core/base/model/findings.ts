import type { Finding, Plan } from "./documents.generated.d.ts";
import type { ConfigFile, WrittenGuards } from "./specs.generated.d.ts";

/** How many of the live schemas, tables and columns of an integration change. */
export type ChangedNodes = NonNullable<GuardFinding["guard"]["integrations"]>[number];

type FoundGuard = NonNullable<Finding["refuses"]>;
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

/** What the manifests give up, in the order of a review. */
export const loosenedRules = [
  "unknown",
  "policy-removed",
  "policy-weakened",
  "exemption-added",
  "exemption-widened",
  "exemption-extended",
  "guard-raised",
  "allow-added",
  "ignore-added",
  "managed-less",
  "check-dropped",
  "accepted-ahead",
  "target-gone",
  "protection-lost",
  "protection-lost-later",
  "label-lost",
  "released",
] as const;

export type LoosenedRule = (typeof loosenedRules)[number];

interface WithFindings {
  readonly findings: readonly Finding[];
}

/** A violation of a policy. */
export type PolicyFinding = Finding & Required<Pick<Finding, "state" | "address" | "path">>;

/** A refusal that a user can lift by name. */
export type GuardFinding = Finding & { readonly rule: GuardName; readonly guard: NonNullable<Finding["guard"]> };

/** An exemption that lets violations of a policy pass. */
export type ExemptionFinding = Finding & Required<Pick<Finding, "exemption">>;

export const isGuard = (finding: Finding): finding is GuardFinding => finding.guard !== undefined;

/** What a finding is about, which decides where reports have it. Those of policies have a state. */
type Family = "columns" | "loosened" | "released" | "other";

const familyByRule: ReadonlyMap<string, Family> = new Map<string, Family>([
  ...loosenedRules.map((rule) => [rule, "loosened"] as const),
  ["released", "released"],
  ...["new-column", "never-reviewed", "gone-column", "gone-table"].map((rule) => [rule, "columns"] as const),
]);

const familyOf = ({ rule }: Pick<Finding, "rule">): Family => familyByRule.get(rule) ?? "other";

/** The guards that refuse, and those that were lifted. */
export const guardFindings = ({ findings }: WithFindings): readonly GuardFinding[] => findings.filter(isGuard);

export const refusingGuards = (of: WithFindings): readonly GuardFinding[] =>
  guardFindings(of).filter(({ guard: { allowed } }) => allowed === undefined);

export const policyFindings = ({ findings }: WithFindings): readonly PolicyFinding[] =>
  findings.filter((finding): finding is PolicyFinding => finding.state !== undefined);

/** The violations of policies that remain after apply. */
export const openFindings = (of: WithFindings): readonly PolicyFinding[] => policyFindings(of).filter(({ state }) => state !== "fixed");

export const exemptionFindings = ({ findings }: WithFindings): readonly ExemptionFinding[] =>
  findings.filter((finding): finding is ExemptionFinding => finding.exemption !== undefined);

/** The findings of a family, in the order of the document. */
export const findingsOf = ({ findings }: WithFindings, family: Family): readonly Finding[] =>
  findings.filter((finding) => familyOf(finding) === family);

/** What the manifests give up since the base of a review, or since the commit that was applied last. */
export const loosenedOf = ({ findings, loosenedSince }: Pick<Plan, "findings" | "loosenedSince">): readonly Finding[] =>
  loosenedSince === undefined ? [] : findings.filter((one) => familyOf(one) === "loosened" || familyOf(one) === "released");

/** What nobody has reviewed. */
export const unreviewedIn = ({ findings }: Pick<Plan, "findings">): readonly Finding[] =>
  findings.filter(({ rule }) => rule === "new-column" || rule === "never-reviewed");
