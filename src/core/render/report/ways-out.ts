import { integrationOfSchemas, parseAddress } from "../../base/model/address.ts";
import { changeCount, isOutside, resyncedTables } from "../../base/model/changes.ts";
import {
  type GuardFinding,
  type GuardName,
  openFindings,
  type PolicyFinding,
  refusingGuards,
  unreviewedIn,
} from "../../base/model/findings.ts";
import { own } from "../../base/model/json/json.ts";
import { fromPointer } from "../../base/model/json/pointer.ts";
import { type Plan, readySteps } from "../../base/model/plan.ts";
import { isError } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { inlineYaml } from "../../base/yaml/print.ts";

/** What lets apply run a refused plan, other than a change of the manifests. */
export interface WayOut {
  /** "Change the manifests, or add this to dimsync.yaml:" */
  readonly intro: string;
  /** Lines. */
  readonly yaml: readonly string[];
}

/** By guard that refuses: the entry of `allow`, or the exemptions of the policies. */
export function waysOut(plan: Plan): readonly WayOut[] {
  if (plan.kind === "DriftReport") return [];
  const refusing = refusingGuards(plan);
  const entries = refusing.filter(({ rule }) => rule !== "policy").flatMap((finding) => allowEntries(plan, finding));
  const findings = refusing.some(({ rule }) => rule === "policy") ? errorsOf(plan) : [];
  const policies = [...new Set(findings.map(({ rule }) => rule))];
  return [
    ...(entries.length === 0
      ? []
      : [{ intro: "Change the manifests, or lift the guard in dimsync.yaml, for at most 30 days:", yaml: listOf("allow", entries) }]),
    ...policies.map((policy) => exemptionsOf(policy, findings)),
  ];
}

/** What only the author knows. */
const [why, who, day] = ["…", "…", "YYYY-MM-DD"];

const listOf = (key: string, entries: readonly string[]): readonly string[] => [`${key}:`, ...entries.map((entry) => `  - ${entry}`)];

const mostAddresses = 3;

/** One entry for each of a few addresses, or one for all. */
function allowEntries(plan: Plan, finding: GuardFinding): readonly string[] {
  const { rule: guard } = finding;
  const addresses = [...new Set(addressesOf(plan, finding))];
  const few = addresses.length > 0 && addresses.length <= mostAddresses ? addresses : [undefined];
  return few.map((address) => inlineYaml({ guard, ...(address === undefined ? {} : { address }), reason: why, until: day }));
}

/** What an entry of `allow` can name. `policy` is lifted by exemptions, `loosened` by a review: neither by an address. */
function addressesOf(plan: Plan, finding: GuardFinding): readonly string[] {
  const { rule, address, guard } = finding;
  const { integrations, limit = 0, changed = 0, population = 0 } = guard;
  const items = readySteps(plan);
  const isOfTarget = changed * 100 > limit * population;
  const found: Readonly<Record<GuardName, () => readonly { readonly address?: string }[]>> = {
    policy: () => [],
    loosened: () => [],
    maxCreates: () => items.filter(({ verb }) => verb === "create"),
    maxExposedColumns: () => items.filter(({ exposedColumns = 0 }) => exposedColumns > 0),
    maxChangedPercent: () => (isOfTarget ? items.filter(({ verb }) => verb === "update") : (integrations ?? [])),
    maxRemovedRelations: () => items.filter(({ verb }) => verb === "unrelate"),
    maxResyncedTables: () => items.filter((item) => resyncedTables(item) > 0),
    exposureWindow: () => (address === undefined ? [] : [{ address }]),
    unreviewed: () => unreviewedIn(plan),
    outsideChanges: () => items.filter((item) => changeCount(item, isOutside) > 0),
  };
  // A document of another program can have any name.
  return own(found, rule)?.().flatMap((one) => one.address ?? []) ?? [];
}

/** The findings that refuse: new ones, or all if existing ones refuse. */
function errorsOf(plan: Plan): readonly PolicyFinding[] {
  const errors = openFindings(plan).filter(isError);
  const added = errors.filter(({ state }) => state === "new");
  return added.length > 0 ? added : errors;
}

/** All, if they are few: the author knows which of many are meant. */
const mostExemptions = 2;

function exemptionsOf(policy: string, all: readonly PolicyFinding[]): WayOut {
  const findings = all.filter(({ rule }) => rule === policy);
  const shown = findings.length <= mostExemptions ? findings : findings.slice(0, 1);
  const more = findings.length - shown.length;
  const entries = shown.map(({ address, path }) => {
    const [, schema, , table, , column] = path.startsWith("/schemas/") ? fromPointer(path) : [];
    const integration = integrationOfSchemas(address) ?? parseAddress(address)?.name ?? "";
    const node = Object.entries({ integration, schema, table, column }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return inlineYaml({ ...Object.fromEntries(node), reason: why, approvedBy: who, expires: day });
  });
  return {
    intro: `Change the manifests, or add an exemption to the spec of ${policy}:`,
    yaml: [
      ...listOf("exemptions", entries),
      ...(more > 0 ? [`  # ${counted(more, "more finding")}: use globs, or one entry for each`] : []),
    ],
  };
}
