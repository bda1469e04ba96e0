import pLimit from "p-limit";
import type { AccountView, DiffResult, Kind, TableTest, Unit } from "../kinds/kind.ts";
import type { Program } from "../kinds/schema-config/compiled-config.ts";
import { judgedTablesWithoutColumns } from "../kinds/schema-config/coverage.ts";
import { decisionOf } from "../kinds/schema-config/explain.ts";
import { withColumns } from "../kinds/schema-config/index.ts";
import { type NodePath, nodePointer, nodeText } from "../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { type Address, byText, parseAddress } from "../model/address.ts";
import { ServiceError } from "../model/errors.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Cause, Deferred, DraftChange, Plan, PolicyFinding } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Locate, Problem, SourceLocation } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import type { Named } from "../policies/compile.ts";
import { type JudgedNode, makePolicyEvaluator, type NotEvaluated, policyNotes } from "../policies/evaluate.ts";
import { expiredRules, policiesIn, policyProblems } from "../policies/validate.ts";
import type { ClaimColumns, RunReads } from "./cached-reads.ts";
import { failedRead } from "./observe.ts";
import type { Scope } from "./scope.ts";
import type { PlanOptions } from "./session.ts";

export interface PolicyCheck {
  /** Judges a unit's tree while it is at hand; undefined where there is no policy. */
  readonly inspect: ((kind: Kind, unit: Unit, live: unknown, found: DiffResult) => void) | undefined;
  readonly judgedColumns: (liveId: string) => TableTest | undefined;
  /** Reads and judges the managed integrations of the scope that no schema configuration has read. */
  readonly judgeRest: (reads: RunReads, scope: Scope, compared: readonly string[]) => Promise<{ readonly complete: boolean }>;
  readonly findings: () => readonly PolicyFinding[];
  /** What is wrong with policies, and what they could not judge. `deferred` are the units that wait. */
  readonly problems: (deferred: readonly Deferred[]) => readonly Problem[];
}

export interface PolicyCheckInput {
  readonly account: AccountView;
  /** The manifests of this round's scope. */
  readonly compared: readonly Resource[];
  readonly options: PlanOptions;
  readonly kindOfPlan: Plan["kind"];
  readonly today: string;
  readonly concurrency: number;
  readonly claimColumns: ClaimColumns;
  readonly locate: Locate;
}

/** Puts the policies to the trees that pass by: the planned state in a plan, the live one in a drift report (product §2.3). */
export function checkPolicies({
  account: world,
  compared,
  options,
  kindOfPlan,
  today,
  concurrency,
  claimColumns,
  locate,
}: PolicyCheckInput): PolicyCheck {
  const mistakes = policyProblems(world.resources);
  const wrong = new Set(mistakes.map(({ address }) => address));
  const policies = policiesIn(world.resources).filter(({ address }) => !wrong.has(address));
  const found: PolicyFinding[] = [...expiredRules(governing(world.resources, compared), today, locate)];
  const findings = (): readonly PolicyFinding[] =>
    [...found].sort((a, b) => byText(a.policy, b.policy) || byText(a.address, b.address) || byText(a.path, b.path));
  if (policies.length === 0)
    return {
      inspect: undefined,
      judgedColumns: () => undefined,
      judgeRest: async () => ({ complete: true }),
      findings,
      problems: () => mistakes,
    };
  const judge = makePolicyEvaluator(policies, options.policyFunctions ?? new Map(), today, locate);
  const identityOf = namesIn(world);
  const unjudged: NotEvaluated[] = [];
  const failed: Problem[] = [];

  const judgeTree = (judged: JudgedNode): void => {
    const { findings: more, faults, unseen } = judge.judge(judged);
    found.push(...more);
    const [integration = ""] = judged.names;
    for (const { policy, why } of faults) unjudged.push({ why: "fault", policy, integration, text: why });
    for (const path of unseen) unjudged.push({ why: "unseen", node: `${nodeText(path)} of ${integration}` });
  };
  const placed = ({ rule, place }: { readonly rule?: string; readonly place: SourceLocation }): Cause => {
    const { file, line } = locate(place);
    return { ...(rule === undefined ? {} : { rule }), file, ...(line === undefined ? {} : { line }) };
  };

  return {
    judgedColumns: (liveId) => judge.judgedColumns(identityOf(liveId)),
    inspect: (kind, unit, live, difference) => {
      if (kind.readsSchemas !== true || unit.liveId === undefined || live === undefined) return;
      const identity = identityOf(unit.liveId);
      // What is still being discovered isn't what it will be: it is judged with the changes that are planned for it.
      if (!judge.concerns(identity) || difference.deferred.length > 0) return;
      // Units of this kind are made by it alone.
      const { program } = unit as SchemaConfigUnit;
      const tree = live as LiveSchemas;
      const changes = difference.items.flatMap((item) => item.changes);
      const causeOf = kindOfPlan === "Plan" ? causesAfter(program, tree, changes) : causesOfLive(program, tree, changes);
      judgeTree({
        ...identity,
        address: unit.address,
        live: tree,
        after: kindOfPlan === "Plan" ? valuesAfter(changes) : new Map(),
        causeOf: (path, key, value) => {
          const cause = causeOf(path, key, value);
          return cause === undefined ? undefined : placed(cause);
        },
      });
    },
    async judgeRest(reads, scope, comparedIds) {
      const done = new Set(comparedIds);
      const limit = pLimit(concurrency);
      const rest = [...world.identities].flatMap(([address, identity]) =>
        identity.state === "found" && address.startsWith("Integration/") && !done.has(identity.id) && scope.item(address)
          ? [{ address, id: identity.id, integration: identityOf(identity.id) }]
          : [],
      );
      await Promise.all(
        rest
          .filter(({ integration }) => judge.concerns(integration))
          .map(({ address, id, integration }) =>
            limit(async () => {
              try {
                const live = await reads.schemas(id);
                if (live === undefined) return;
                const judged = judge.judgedColumns(integration);
                const unread = judged === undefined ? [] : judgedTablesWithoutColumns(live, judged);
                claimColumns(id, unread.length);
                const whole = await withColumns(id, live, unread, reads);
                judgeTree({ ...integration, address, live: whole, after: new Map(), causeOf: () => undefined });
              } catch (error) {
                if (!(error instanceof ServiceError)) throw error;
                failed.push(failedRead(error, address));
              }
            }),
          ),
      );
      return { complete: failed.length === 0 };
    },
    findings,
    problems: (deferred) => [
      ...mistakes,
      ...failed,
      ...policyNotes([
        ...unjudged,
        ...deferred
          .filter(
            ({ address, liveId }) => address.startsWith("SchemaConfig/") && judge.concerns(awaited(address, liveId, identityOf, world)),
          )
          .map(({ address }): NotEvaluated => ({ why: "waits", address })),
      ]),
    ],
  };
}

/** The configurations of the scope, and the rule sets, which speak through them. */
function governing(resources: readonly Resource[], compared: readonly Resource[]): readonly Resource[] {
  const configs = compared.filter(({ kind }) => kind === "SchemaConfig");
  return configs.length === 0 ? [] : [...configs, ...resources.filter(({ kind }) => kind === "RuleSet")];
}

/** What an integration goes by: found by its id at each table, so that it is made once. */
function namesIn({ resources, identities, integrations }: AccountView): (liveId: string) => Named {
  const liveNames = new Map(integrations.map(({ id, name }) => [id, name]));
  const manifests = new Map<string, Resource>();
  for (const resource of resources) {
    const identity = resource.kind === "Integration" ? identities.get(resource.address) : undefined;
    if (identity?.state === "found") manifests.set(identity.id, resource);
  }
  return (liveId) => {
    const manifest = manifests.get(liveId);
    const known = [manifest?.name, liveNames.get(liveId)].filter((name) => name !== undefined);
    return { names: known.length === 0 ? [liveId] : [...new Set(known)], labels: manifest?.labels ?? {} };
  };
}

function awaited(address: Address, liveId: string | undefined, identityOf: (liveId: string) => Named, { resources }: AccountView): Named {
  if (liveId !== undefined) return identityOf(liveId);
  const name = parseAddress(address)?.on ?? "";
  return { names: [name], labels: resources.find((resource) => resource.kind === "Integration" && resource.name === name)?.labels ?? {} };
}

type CauseFinder = (path: NodePath, key: "enabled" | "hashed", value: boolean) => DraftChange["cause"];

const valuesAfter = (changes: readonly DraftChange[]): ReadonlyMap<Pointer, boolean> =>
  new Map(changes.flatMap(({ path, after }) => (typeof after === "boolean" ? [[path, after] as const] : [])));

/** Of a planned state: who changes the field, who wants it as it already is, or else who switches on what makes it flow. */
function causesAfter(program: Program, live: LiveSchemas, changes: readonly DraftChange[]): CauseFinder {
  const changeAt = new Map(changes.map((change) => [change.path, change]));
  return (path, key, value) => {
    const change = changeAt.get(nodePointer(path, key));
    if (change !== undefined) return change.cause;
    const decision = decisionOf(program, live, path, key);
    if (decision?.value === value) return decision.cause;
    return waysDown(path)
      .map((node) => changeAt.get(nodePointer(node, "enabled")))
      .find((opened) => opened?.after === true)?.cause;
  };
}

/** Of the live state: who wants it so. What differs from the manifests was made by somebody else. */
function causesOfLive(program: Program, live: LiveSchemas, changes: readonly DraftChange[]): CauseFinder {
  const different = new Set(changes.map(({ path }) => path));
  return (path, key, value) => {
    if (different.has(nodePointer(path, key))) return undefined;
    const decision = decisionOf(program, live, path, key);
    return decision?.value === value ? decision.cause : undefined;
  };
}

/** The node and those above it, the deepest first. */
function waysDown([schema, table, column]: NodePath): readonly NodePath[] {
  return [
    ...(table === undefined || column === undefined ? [] : [[schema, table, column] as const]),
    ...(table === undefined ? [] : [[schema, table] as const]),
    [schema],
  ];
}
