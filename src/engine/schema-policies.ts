import type { Found, Kind, Unit, World } from "../kinds/kind.ts";
import { enabledTablesWithoutColumns } from "../kinds/schema-config/columns-to-read.ts";
import { withColumns } from "../kinds/schema-config/index.ts";
import { labelOf } from "../kinds/select.ts";
import { type Address, byText } from "../model/address.ts";
import { ServiceError } from "../model/errors.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Cause, Plan, PolicyFinding } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import { toPointer } from "../model/pointer.ts";
import type { Locate, Problem } from "../model/problem.ts";
import { type PolicySpec, placeIn, type Resource, type SchemaRule } from "../model/resource.ts";
import type { Round } from "./pipeline.ts";
import { makeJudge } from "./policies.ts";
import type { PlanOptions } from "./session.ts";
import { failedRead } from "./world.ts";

interface Judging {
  /** Judges a unit's tree while it is at hand; undefined where there is no policy. */
  readonly inspect: ((kind: Kind, unit: Unit, live: unknown, found: Found) => void) | undefined;
  /** Whether a policy needs the columns of an integration. */
  readonly needsColumns: (liveId: string) => boolean;
  /** Reads and judges the managed integrations that no schema configuration selects. */
  readonly judgeRest: (round: Round) => Promise<{ readonly complete: boolean; readonly problems: readonly Problem[] }>;
  readonly findings: () => readonly PolicyFinding[];
}

/** Puts the policies to the trees that pass by: the planned state in a plan, the live one in a drift report (product §2.3). */
export function judgeSchemas(world: World, options: PlanOptions, kindOfPlan: Plan["kind"], today: string, locate: Locate): Judging {
  const policies = world.resources.filter(({ kind }) => kind === "Policy") as readonly Resource<PolicySpec>[];
  const expired = expiredRules(world.resources, today, locate);
  if (policies.length === 0)
    return {
      inspect: undefined,
      needsColumns: () => false,
      judgeRest: async () => ({ complete: true, problems: [] }),
      findings: () => expired,
    };
  const judge = makeJudge(policies, options.policyFunctions ?? new Map(), today, locate);
  const found: PolicyFinding[] = [...expired];
  const done = new Set<string>();

  const judgeTree = (address: Address, liveId: string, live: LiveSchemas, changes: Found["items"]): void => {
    done.add(liveId);
    const { names, labels } = identityOf(liveId, world);
    if (!judge.concerns(names, labels)) return;
    const drafts = changes.flatMap((item) => item.changes);
    const after = new Map<Pointer, boolean>(
      kindOfPlan === "Plan" ? drafts.flatMap(({ path, after: value }) => (typeof value === "boolean" ? [[path, value] as const] : [])) : [],
    );
    const causeOf = (path: readonly string[], key: "enabled" | "hashed"): Cause | undefined => {
      const [schema = "", table, column] = path;
      const pointer = toPointer([
        "schemas",
        schema,
        ...(table === undefined ? [] : ["tables", table]),
        ...(column === undefined ? [] : ["columns", column]),
        key,
      ]);
      const cause = drafts.find((change) => change.path === pointer)?.cause;
      if (cause === undefined || kindOfPlan !== "Plan") return undefined;
      const { file, line } = locate(cause.place);
      return { ...(cause.rule === undefined ? {} : { rule: cause.rule }), file, ...(line === undefined ? {} : { line }) };
    };
    found.push(...judge.judge({ address, names, labels, live, after, causeOf }));
  };

  const needsColumns = (liveId: string): boolean => {
    const { names, labels } = identityOf(liveId, world);
    return judge.needsColumns(names, labels);
  };
  return {
    needsColumns,
    inspect: (kind, unit, live, { items }) => {
      if (kind.name === "SchemaConfig" && unit.liveId !== undefined && live !== undefined)
        judgeTree(unit.address, unit.liveId, live as LiveSchemas, items);
    },
    async judgeRest({ reads, scope }) {
      const problems: Problem[] = [];
      const rest = [...world.identities].filter(
        ([address, identity]) =>
          address.startsWith("Integration/") && identity.state === "found" && !done.has(identity.id) && scope.item(address),
      );
      await Promise.all(
        rest.map(async ([address, identity]) => {
          if (identity.state !== "found") return;
          const { names, labels } = identityOf(identity.id, world);
          if (!judge.concerns(names, labels)) return;
          try {
            const live = await reads.schemas(identity.id);
            if (live === undefined) return;
            const unread = judge.needsColumns(names, labels) ? enabledTablesWithoutColumns(live) : [];
            judgeTree(address, identity.id, await withColumns(identity.id, live, unread, reads), []);
          } catch (error) {
            if (!(error instanceof ServiceError)) throw error;
            problems.push(failedRead(error, address));
          }
        }),
      );
      return { complete: problems.length === 0, problems };
    },
    findings: () => [...found].sort((a, b) => byText(a.policy, b.policy) || byText(a.address, b.address) || byText(a.path, b.path)),
  };
}

/** The names that an integration goes by, its manifest's first, and its manifest's labels. */
function identityOf(
  liveId: string,
  world: World,
): { readonly names: readonly string[]; readonly labels: Readonly<Record<string, string>> } {
  const label = labelOf(liveId, world);
  const live = world.integrations.find(({ id }) => id === liveId)?.name;
  const manifest = world.resources.find(({ kind, name }) => kind === "Integration" && name === label);
  return { names: [...new Set([label, ...(live === undefined ? [] : [live])])], labels: manifest?.labels ?? {} };
}

/** Rules past their `expires`: they still decide, and somebody said that they should be looked at by then (product §2.3). */
function expiredRules(resources: readonly Resource[], today: string, locate: Locate): readonly PolicyFinding[] {
  return resources.flatMap((resource) => {
    if (resource.kind !== "SchemaConfig" && resource.kind !== "RuleSet") return [];
    const { rules = [] } = resource.spec as { readonly rules?: readonly SchemaRule[] };
    return rules.flatMap((rule, index): readonly PolicyFinding[] => {
      if (!("match" in rule) || rule.expires === undefined || rule.expires >= today) return [];
      const { file, line } = locate(placeIn(resource, `/spec/rules/${index}`));
      const message = `The rule ${rule.id ?? index + 1} was to hold until ${rule.expires}${rule.reason === undefined ? "" : ` (${rule.reason})`}. Remove it, or give it another day.`;
      return [
        {
          policy: "rule-expired",
          severity: "warning",
          address: resource.address,
          path: `/spec/rules/${index}`,
          message,
          file,
          ...(line === undefined ? {} : { line }),
        },
      ];
    });
  });
}
