import type { TableTest } from "../kinds/kind.ts";
import type { LabelScope } from "../kinds/patterns/labels.ts";
import { matchesName } from "../kinds/patterns/nodes.ts";
import type { IntegrationNames } from "../kinds/select.ts";
import type { Address } from "../model/address.ts";
import type { PolicyFinding } from "../model/findings.ts";
import { defined } from "../model/json/json.ts";
import type { Pointer } from "../model/json/pointer.ts";
import type { LiveSchemas } from "../model/live.ts";
import { type NodePath, nodePointer } from "../model/nodes.ts";
import type { Cause } from "../model/plan.ts";
import type { Locate } from "../model/problem.ts";
import { locationIn, type PolicyExemption, type PolicySpec, type Resource } from "../model/resource.ts";
import { flatMapInSteps, type Steps } from "../model/runtime/event-loop.ts";
import type { Field } from "../model/schema-tree.ts";
import { isSameMode } from "../model/sync-mode.ts";
import { paragraph } from "../text/lines.ts";
import { type CompiledPolicy, compilePolicy, isValidOn } from "./compile.ts";
import { findViolations } from "./violations.ts";

// Policies are evaluated on one integration at a time, while its tree is in memory for the comparison, so that a fleet
// of any size can be checked.
//
// A plan changes the tree, so a policy is evaluated twice: on the live tree and on the planned one. What only the second
// evaluation finds is new, what both find is existing, and what only the first finds is fixed.

/** One integration, as policies see it. */
export interface PolicyTarget extends IntegrationNames {
  /** What the findings name. */
  readonly address: Address;
  readonly live: LiveSchemas;
  /** The values that the plan changes, by JSON Pointer; empty for a drift report. */
  readonly planned: ReadonlyMap<Pointer, boolean>;
  /** The scope of its labels; undefined if the project has none. */
  readonly columnLabels?: LabelScope | undefined;
  /** Whether this run created the integration, so that it causes every finding. */
  readonly isCreated: boolean;
  /** Why a field has its value; undefined if no manifest decides it. */
  readonly causeOf: (path: NodePath, key: Field, value: boolean) => Cause | undefined;
  /** What makes a node satisfy the policy after apply. */
  readonly fixedBy: (path: NodePath, key: Field) => Cause | undefined;
}

/** Of an integration that nothing changes, and whose values no SchemaConfig decides. */
export const unchangedTarget: Omit<PolicyTarget, "address" | "live" | "names" | "labels" | "columnLabels"> = {
  planned: new Map(),
  isCreated: false,
  causeOf: () => undefined,
  fixedBy: () => undefined,
};

export interface PolicyEvaluation {
  readonly findings: readonly PolicyFinding[];
  /** The values that violate `require` of a policy, and the valid exemptions that let them. */
  readonly exempt: readonly { readonly path: Pointer; readonly exemption: PolicyExemption }[];
  /** Replicated tables whose columns a policy checks and the service did not return. */
  readonly tablesWithoutColumns: readonly NodePath[];
}

export interface PolicyEvaluator {
  /** Whether any policy checks this integration. */
  readonly selects: (integration: IntegrationNames) => boolean;
  /** The tables whose columns policies check, as long as they are replicated; undefined if none. */
  readonly columnsNeeded: (integration: IntegrationNames) => TableTest | undefined;
  readonly evaluate: (target: PolicyTarget) => Steps<PolicyEvaluation>;
}

export interface EvaluatorOptions {
  /** YYYY-MM-DD */
  readonly today: string;
  readonly locate: Locate;
}

/** Compiles the policies once, for all integrations. */
export function newPolicyEvaluator(policies: readonly Resource<PolicySpec>[], options: EvaluatorOptions): PolicyEvaluator {
  const compiled = policies.map(compilePolicy);
  const selected = (integration: IntegrationNames) => compiled.filter(({ selects }) => selects(integration));
  return {
    selects: (integration) => selected(integration).length > 0,
    columnsNeeded: (integration) => {
      const needing = selected(integration).filter(({ nodes }) => nodes.depth === 2);
      if (needing.length === 0) return undefined;
      return (schema, table, syncMode) => needing.some((policy) => matchesTable(policy, schema, table, syncMode));
    },
    *evaluate(target) {
      const evaluations: PolicyEvaluation[] = [];
      for (const policy of selected(target)) evaluations.push(yield* evaluatePolicy({ policy, target, options }));
      const tables = evaluations.flatMap(({ tablesWithoutColumns }) => tablesWithoutColumns);
      return {
        findings: evaluations.flatMap(({ findings }) => findings),
        exempt: evaluations.flatMap(({ exempt }) => exempt),
        tablesWithoutColumns: [...new Map(tables.map((path) => [nodePointer(path), path])).values()],
      };
    },
  };
}

/** Whether the policy checks columns of the table, as far as its names and `syncMode` decide that. */
function matchesTable({ resource, nodes }: CompiledPolicy, schema: string, table: string, syncMode: string | undefined): boolean {
  const wanted = resource.spec.when?.table?.syncMode;
  return matchesName(nodes, 0, schema) && matchesName(nodes, 1, table) && (wanted === undefined || isSameMode(wanted, syncMode));
}

/** A violation before exemptions are applied and the manifest's line is looked up. */
interface Found extends Pick<PolicyFinding, "message" | "actual" | "required"> {
  /** The node. */
  readonly names: readonly string[];
  readonly path: Pointer;
  /** Node and field that decide it. */
  readonly decided: { readonly at: NodePath; readonly node: NodePath; readonly key: Field };
  /** Where the policy requires it. */
  readonly requirement: Pointer;
}

/** What a policy needs to be evaluated on an integration. */
interface Check {
  readonly policy: CompiledPolicy;
  readonly target: PolicyTarget;
  readonly options: EvaluatorOptions;
}

interface Run {
  readonly found: readonly Found[];
  readonly tablesWithoutColumns: readonly NodePath[];
}

function* evaluatePolicy(check: Check): Steps<PolicyEvaluation> {
  const { planned, isCreated } = check.target;
  const after = yield* runPolicy(check, planned);
  const before = isCreated ? noRun : planned.size === 0 ? after : yield* runPolicy(check, new Map());
  const exempt: PolicyEvaluation["exempt"][number][] = [];
  const all = yield* withStates(before.found, after.found);
  return {
    findings: yield* flatMapInSteps(all, (one): readonly PolicyFinding[] => {
      const covering = check.policy.exemptions(check.target.names, one.found.names);
      const exemption = covering.find((each) => isValidOn(each, check.options.today));
      if (exemption === undefined) return [toFinding(one, check, covering[0])];
      exempt.push({ path: one.found.path, exemption });
      return [];
    }),
    exempt,
    tablesWithoutColumns: after.tablesWithoutColumns,
  };
}

const noRun: Run = { found: [], tablesWithoutColumns: [] };

function* runPolicy({ policy, target }: Check, planned: PolicyTarget["planned"]): Steps<Run> {
  const { spec } = policy.resource;
  const { violations, tablesWithoutColumns } = yield* findViolations(policy, {
    tree: target.live,
    isLive: true,
    labels: target.columnLabels,
    value: planned.size === 0 ? (_path, _key, own) => own : (path, key, own) => planned.get(nodePointer(path, key)) ?? own,
  });
  const message = paragraph(spec.message);
  const found = yield* flatMapInSteps(violations, ({ path, key, actual, decidedAt }): readonly Found[] => [
    {
      names: path.filter((name) => name !== undefined),
      path: nodePointer(path, key),
      message,
      actual,
      required: !actual,
      decided: { at: decidedAt, node: path, key },
      requirement: `/spec/require/${key}`,
    },
  ]);
  return { found, tablesWithoutColumns };
}

interface FoundWithState {
  readonly found: Found;
  readonly state: PolicyFinding["state"];
}

/** Compares the findings before and after the plan. A policy has at most one finding at a path. */
function* withStates(before: readonly Found[], after: readonly Found[]): Steps<readonly FoundWithState[]> {
  if (before === after) return after.map((found) => ({ found, state: "existing" }));
  const pathsOf = (all: readonly Found[]): Steps<readonly Pointer[]> => flatMapInSteps(all, ({ path }) => [path]);
  const [pathsBefore, pathsAfter] = [new Set(yield* pathsOf(before)), new Set(yield* pathsOf(after))];
  const fixed = yield* flatMapInSteps(before, (found) => (pathsAfter.has(found.path) ? [] : [{ found, state: "fixed" as const }]));
  return [
    ...(yield* flatMapInSteps(after, (found): readonly FoundWithState[] => [
      { found, state: pathsBefore.has(found.path) ? "existing" : "new" },
    ])),
    ...fixed,
  ];
}

/** `expired`: an exemption that covers the node and is named in the message. */
function toFinding(
  { found, state }: FoundWithState,
  { policy: { resource }, target, options }: Check,
  expired: PolicyExemption | undefined,
): PolicyFinding {
  const { path, message, actual, required } = found;
  const { file, line } = causeOf(found, state, target) ?? options.locate(locationIn(resource, found.requirement, "key"));
  return {
    policy: resource.name,
    severity: resource.spec.severity,
    state,
    address: target.address,
    path,
    message: expired === undefined ? message : `${message} (its exemption, ${expired.reason}, expired on ${expired.expires})`,
    ...defined({ actual, required }),
    file,
    ...defined({ line }),
  };
}

function causeOf({ actual, decided }: Found, state: PolicyFinding["state"], target: PolicyTarget): Cause | undefined {
  if (actual === undefined) return undefined;
  const { at, node, key } = decided;
  return state === "fixed" ? target.fixedBy(node, key) : target.causeOf(at, key, actual);
}
