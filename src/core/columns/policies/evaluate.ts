import type { Address } from "../../base/model/address.ts";
import type { PolicyFinding } from "../../base/model/findings.ts";
import { defined } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { locationIn, type Manifest, type PolicyExemption, type PolicySpec } from "../../base/model/manifest.ts";
import { type NodePath, nodePointer } from "../../base/model/nodes.ts";
import { type Cause, type Change, type DraftCause, type DraftFacts, locatedCause, type Plan } from "../../base/model/plan.ts";
import { type Locate, placeText } from "../../base/model/problem.ts";
import type { Field } from "../../base/model/schema-tree.ts";
import { isSameMode } from "../../base/model/sync-mode.ts";
import { paragraph } from "../../base/text/file-text.ts";
import { type IntegrationNames, type LabelScope, matchesName, type Question, type ScanOptions, type TableTest } from "../../kinds/index.ts";
import { type CompiledPolicy, compilePolicy, type Exempt, isValidOn } from "./compile.ts";
import { policyQuestion, type Violated, type Violation } from "./violations.ts";

// Policies are evaluated on one integration at a time, while its tree is in memory for the comparison, so that a fleet
// of any size can be checked.
//
// A plan changes the tree, so a policy looks at each node twice: as it is and as planned. What is only found as planned is
// new, what is found both times is existing, and what is only found as it is now is fixed.

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
  /** The values that violate `require` of a policy after apply, and the valid exemptions that let them. */
  readonly exempt: readonly Exempt[];
  /** All exemptions that cover a violation after apply, valid or not. */
  readonly covering: ReadonlySet<PolicyExemption>;
  /** Replicated tables whose columns a policy checks and the service did not return. */
  readonly tablesWithoutColumns: readonly NodePath[];
}

export interface PolicyEvaluator {
  /** Whether any policy checks this integration. */
  readonly selects: (integration: IntegrationNames) => boolean;
  /** The tables whose columns policies check, as long as they are replicated; undefined if none. */
  readonly columnsNeeded: (integration: IntegrationNames) => TableTest | undefined;
  readonly ask: (target: PolicyTarget) => AskedPolicies;
}

/** The policies of an integration, for a scan of its tree. */
export interface AskedPolicies {
  readonly questions: readonly Question[];
  /** What the scan must know for them. */
  readonly options: ScanOptions;
  /** What they found, after the scan. */
  readonly end: () => PolicyEvaluation;
}

interface EvaluatorOptions {
  /** YYYY-MM-DD */
  readonly today: string;
  readonly locate: Locate;
}

/** Compiles the policies once, for all integrations. */
export function newPolicyEvaluator(policies: readonly Manifest<PolicySpec>[], options: EvaluatorOptions): PolicyEvaluator {
  const compiled = policies.map(compilePolicy);
  const selected = (integration: IntegrationNames) => compiled.filter(({ selects }) => selects(integration));
  return {
    selects: (integration) => selected(integration).length > 0,
    columnsNeeded: (integration) => {
      const needing = selected(integration).filter(({ nodes }) => nodes.depth === 2);
      if (needing.length === 0) return undefined;
      return (schema, table, syncMode) => needing.some((policy) => matchesTable(policy, schema, table, syncMode));
    },
    ask(target) {
      const unseen = new Map<Pointer, NodePath>();
      const found: FoundOfPolicy[] = selected(target).map((policy) => ({ policy, findings: [], exempt: [], covering: new Set() }));
      const onUnseen = (path: NodePath): void => void unseen.set(nodePointer(path), path);
      const { planned, columnLabels: labels } = target;
      return {
        questions: found.map((one) =>
          policyQuestion(one.policy, { isLiteral: false, onUnseen, onViolation: (violated) => add(one, violated, { target, options }) }),
        ),
        options: { labels, ...(planned.size === 0 ? {} : { next: (path, key, now) => planned.get(nodePointer(path, key)) ?? now }) },
        end: () => ({
          findings: found.flatMap(({ findings }) => findings),
          exempt: found.flatMap(({ exempt }) => exempt),
          covering: new Set(found.flatMap(({ covering }) => [...covering])),
          tablesWithoutColumns: [...unseen.values()],
        }),
      };
    },
  };
}

/** Whether the policy checks columns of the table, as far as its names and `syncMode` decide that. */
function matchesTable({ manifest, nodes }: CompiledPolicy, schema: string, table: string, syncMode: string | undefined): boolean {
  const wanted = manifest.spec.when?.table?.syncMode;
  return matchesName(nodes, 0, schema) && matchesName(nodes, 1, table) && (wanted === undefined || isSameMode(wanted, syncMode));
}

interface FoundOfPolicy {
  readonly policy: CompiledPolicy;
  readonly findings: PolicyFinding[];
  readonly exempt: Exempt[];
  readonly covering: Set<PolicyExemption>;
}

/** What a policy is evaluated on. */
interface Check {
  readonly target: PolicyTarget;
  readonly options: EvaluatorOptions;
}

function add({ policy, findings, exempt, covering }: FoundOfPolicy, violated: Violated, check: Check): void {
  const { path, key, next } = violated;
  const { today } = check.options;
  // This run causes every finding of an integration that it creates.
  const now = check.target.isCreated ? undefined : violated.now;
  const violation = next ?? now;
  if (violation === undefined) return;
  const all = policy.exemptions(
    check.target.names,
    path.filter((name) => name !== undefined),
  );
  const exemption = all.find((one) => isValidOn(one, today));
  // What the plan fixes needs no exemption any more.
  if (next !== undefined) {
    for (const one of all) covering.add(one);
    if (exemption !== undefined) exempt.push({ path: nodePointer(path, key), exemption });
  }
  if (exemption === undefined) {
    const expired = all.find(({ expires }) => expires < today);
    const state = next === undefined ? "fixed" : now === undefined ? "new" : "existing";
    findings.push(toFinding({ ...violation, path, key, state, expired }, policy.manifest, check));
  }
}

interface Found extends Violation, Pick<Violated, "path" | "key"> {
  readonly state: PolicyFinding["state"];
  /** An exemption that covers the node and is named in the message. */
  readonly expired: PolicyExemption | undefined;
}

function toFinding(found: Found, manifest: Manifest<PolicySpec>, { target, options }: Check): PolicyFinding {
  const { path, key, actual, decidedAt, state, expired } = found;
  const { spec } = manifest;
  const message = paragraph(spec.message);
  const cause = state === "fixed" ? target.fixedBy(path, key) : target.causeOf(decidedAt, key, actual);
  const { file, line } = cause ?? options.locate(locationIn(manifest, `/spec/require/${key}`, "key"));
  return {
    rule: manifest.address,
    severity: spec.severity,
    state,
    address: target.address,
    path: nodePointer(path, key),
    message: expired === undefined ? message : `${message} (${expiredText(expired, manifest, options.locate)})`,
    actual,
    required: !actual,
    file,
    ...defined({ line }),
  };
}

function expiredText(exemption: PolicyExemption, manifest: Manifest<PolicySpec>, locate: Locate): string {
  const index = (manifest.spec.exemptions ?? []).indexOf(exemption);
  const place = placeText(locate(locationIn(manifest, `/spec/exemptions/${index}/expires`)));
  return `its exemption, ${exemption.reason}, expired on ${exemption.expires}: ${place}. To keep the exemption, have it approved again and set a later date`;
}

interface CauseInput {
  /** The value that manifests set for a field, and where. */
  readonly decisionOf: (field: {
    readonly path: NodePath;
    readonly key: Field;
  }) => { readonly value: boolean; readonly cause: DraftCause } | undefined;
  readonly changes: readonly Change<DraftFacts>[];
  readonly kindOfPlan: Plan["kind"];
  readonly locate: Locate;
}

/** Which line of a manifest findings name: a plan's findings those of the planned state, a drift report's those of the live state. */
export function causesOf({ decisionOf, changes, kindOfPlan, locate }: CauseInput): Pick<PolicyTarget, "causeOf" | "fixedBy"> {
  const changeAt = new Map(changes.map((change) => [change.path, change]));
  const located = (cause: DraftCause | undefined): Cause | undefined => (cause === undefined ? undefined : locatedCause(cause, locate));
  /** The change of a node, or of one above it, that sets `enabled` to a value. */
  const switchedTo = (path: NodePath, value: boolean) =>
    nodesUp(path)
      .map((node) => changeAt.get(nodePointer(node, "enabled")))
      .find((change) => change?.after === value)?.cause;
  const decidedAs = (path: NodePath, key: Field, value: boolean) => {
    const decision = decisionOf({ path, key });
    return decision?.value === value ? decision.cause : undefined;
  };
  return {
    causeOf: (path, key, value) => {
      const change = changeAt.get(nodePointer(path, key));
      // In a drift report, the account was changed there, not by a manifest.
      if (kindOfPlan === "DriftReport") return change === undefined ? located(decidedAs(path, key, value)) : undefined;
      if (change !== undefined) return located(change.cause);
      // A manifest keeps the value, or it enables the node, which is then replicated with the value that it has.
      return located(decidedAs(path, key, value) ?? switchedTo(path, true));
    },
    fixedBy: (path, key) => located(changeAt.get(nodePointer(path, key))?.cause ?? switchedTo(path, false)),
  };
}

/** The node and those above it, the deepest first. */
function nodesUp([schema, table, column]: NodePath): readonly NodePath[] {
  return [
    ...(table === undefined || column === undefined ? [] : [[schema, table, column] as const]),
    ...(table === undefined ? [] : [[schema, table] as const]),
    [schema],
  ];
}
