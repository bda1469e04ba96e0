import type { TableTest } from "../kinds/kind.ts";
import { type Field, type NodePath, nodePointer } from "../kinds/schema-config/tree.ts";
import { type Address, byText } from "../model/address.ts";
import { own } from "../model/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Cause, PolicyFinding } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Locate, Problem } from "../model/problem.ts";
import { locationIn, type PolicyExemption, type PolicySpec, type Resource } from "../model/resource.ts";
import { type CompiledPolicy, compilePolicy, type Named, type PolicyNode } from "./compile.ts";
import { type PolicyFunction, runPolicyFunction, spotOf } from "./script.ts";

// Policies judge a state, whoever made it: what apply would leave behind in a plan, what is live in a drift report (product §2.3). They look at
// trees of schemas one integration at a time, while the tree is at hand for comparing, so that judging a fleet holds no account in memory.

/** One integration's schemas as they are to be judged. */
export interface JudgedNode extends Named {
  readonly address: Address;
  readonly live: LiveSchemas;
  /** Values that differ after apply, by JSON Pointer; empty where live is judged. */
  readonly after: ReadonlyMap<Pointer, boolean>;
  /** Why a field has the value that is judged, for the findings; undefined where no manifest decides it. */
  readonly causeOf: (path: NodePath, key: Field, value: boolean) => Cause | undefined;
}

export interface Judgement {
  readonly findings: readonly PolicyFinding[];
  /** Policies in JavaScript that could not judge, each with a sentence that says why. */
  readonly faults: readonly { readonly policy: Resource<PolicySpec>; readonly why: string }[];
  /** Tables from which data flows and whose columns are unknown, so that policies about columns say nothing of them. */
  readonly unseen: readonly NodePath[];
}

export interface PolicyEvaluator {
  /** Whether any policy looks at this integration's schemas at all. */
  readonly concerns: (integration: Named) => boolean;
  /** Of which tables the columns are judged; undefined: of none. */
  readonly judgedColumns: (integration: Named) => TableTest | undefined;
  readonly judge: (judged: JudgedNode) => Judgement;
}

/** Compiles the policies once. `functions` holds those written in JavaScript, by policy address; `today` is a day, YYYY-MM-DD. */
export function makePolicyEvaluator(
  policies: readonly Resource<PolicySpec>[],
  functions: ReadonlyMap<Address, PolicyFunction>,
  today: string,
  locate: Locate,
): PolicyEvaluator {
  const compiled = policies.map(compilePolicy);
  const concerned = (integration: Named): readonly CompiledPolicy[] => compiled.filter(({ selects }) => selects(integration));
  return {
    concerns: (integration) => concerned(integration).length > 0,
    judgedColumns: (integration) => {
      const asking = concerned(integration).filter(({ level, resource }) => level === "column" || functions.has(resource.address));
      if (asking.length === 0) return undefined;
      return (schema, table, syncMode) =>
        asking.some(({ resource, tableNamed }) => functions.has(resource.address) || tableNamed(schema, table, syncMode));
    },
    judge: (judged) => {
      const findings: PolicyFinding[] = [];
      const faults: { policy: Resource<PolicySpec>; why: string }[] = [];
      const unseen = new Map<Pointer, NodePath>();
      for (const policy of concerned(judged)) {
        const report = reporter(policy, judged, today, locate, findings);
        const judgement = functions.get(policy.resource.address);
        if (judgement === undefined) walk(policy, judged, report, (path) => unseen.set(nodePointer(path), path));
        else {
          const said = runPolicyFunction(judgement, judged);
          if ("why" in said) faults.push({ policy: policy.resource, why: said.why });
          else for (const { path, message } of said.findings) report(spotOf(path), path, message, undefined, "/spec/module");
        }
      }
      return { findings, faults, unseen: [...unseen.values()] };
    },
  };
}

type Report = (spot: PolicyNode, pointer: Pointer, message: string, cause: Cause | undefined, asked: Pointer) => void;

/** Adds a finding where no exemption that still counts means the spot. `asked` is what in the policy is not met: its line where there is no cause. */
function reporter(
  { resource, exemptions }: CompiledPolicy,
  { address, names }: JudgedNode,
  today: string,
  locate: Locate,
  findings: PolicyFinding[],
): Report {
  const { spec, name } = resource;
  const counts = ({ expires }: PolicyExemption): boolean => expires === undefined || expires >= today;
  return (spot, path, message, cause, asked) => {
    const meant = exemptions(names, spot);
    if (meant.some(counts)) return;
    const [expired] = meant;
    const { file, line } = cause ?? locate(locationIn(resource, asked, "key"));
    findings.push({
      policy: name,
      severity: spec.severity,
      address,
      path,
      message: expired === undefined ? message : `${message} (its exemption, ${expired.reason}, expired on ${expired.expires})`,
      file,
      ...(line === undefined ? {} : { line }),
    });
  };
}

function walk(policy: CompiledPolicy, judged: JudgedNode, report: Report, unseen: (path: NodePath) => void): void {
  const { level, resource } = policy;
  const { require = {}, message } = resource.spec;
  const isChanged = judged.after.size > 0;
  const stateOf = (path: NodePath, key: Field, live: boolean): boolean =>
    isChanged ? (judged.after.get(nodePointer(path, key)) ?? live) : live;
  /** `culprit`: the node whose value is to blame, where it isn't the node itself. */
  const check = (path: NodePath, key: Field, is: boolean, culprit: NodePath = path): void => {
    if (require[key] === undefined || require[key] === is) return;
    const [schema, table, column] = path;
    const spot = { schema, ...(table === undefined ? {} : { table }), ...(column === undefined ? {} : { column }) };
    report(spot, nodePointer(path, key), message, judged.causeOf(culprit, key, is), `/spec/require/${key}`);
  };
  for (const schema of Object.keys(judged.live)) {
    const liveSchema = own(judged.live, schema);
    if (liveSchema === undefined) continue;
    const schemaOn = stateOf([schema], "enabled", liveSchema.enabled);
    if (!policy.schema(schema, schemaOn)) continue;
    if (level === "schema") check([schema], "enabled", schemaOn);
    if (level !== "table" && level !== "column") continue;
    for (const table of Object.keys(liveSchema.tables)) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) continue;
      const isOn = stateOf([schema, table], "enabled", liveTable.enabled);
      // What is replicated of a table is nothing while its schema is switched off, whatever its own switch says.
      const flows = schemaOn && isOn;
      if (!policy.table(table, flows, liveTable.syncMode)) continue;
      if (level === "table") check([schema, table], "enabled", flows, isOn && !flows ? [schema] : [schema, table]);
      // A column that can't flow breaks no rule about what flows.
      if (level === "table" || !flows) continue;
      if (liveTable.columns === undefined) unseen([schema, table]);
      for (const column of Object.keys(liveTable.columns ?? {})) {
        const live = own(liveTable.columns, column);
        if (live === undefined) continue;
        const path = [schema, table, column] as const;
        const enabled = stateOf(path, "enabled", live.enabled);
        const hashed = stateOf(path, "hashed", live.hashed);
        if (!policy.column(column, isChanged ? { ...live, enabled, hashed } : live)) continue;
        check(path, "enabled", enabled);
        check(path, "hashed", hashed);
      }
    }
  }
}

/** Something that policies should have judged and could not. */
export type NotEvaluated =
  /** A policy in JavaScript failed; `text` ends a sentence that begins with the module's name. */
  | { readonly why: "fault"; readonly policy: Resource<PolicySpec>; readonly integration: string; readonly text: string }
  /** A table whose columns are unknown. */
  | { readonly why: "unseen"; readonly node: string }
  /** A unit whose integration or schema is not there yet. */
  | { readonly why: "waits"; readonly address: Address };

/** So many examples are named. */
const shown = 3;

/** A policy that could not judge must not look like one that found nothing. */
export function policyNotes(unjudged: readonly NotEvaluated[]): readonly Problem[] {
  const faults = new Map<
    Address,
    { readonly policy: Resource<PolicySpec>; readonly told: (readonly [integration: string, text: string])[] }
  >();
  const unseen: string[] = [];
  const waiting: string[] = [];
  for (const one of unjudged) {
    if (one.why === "unseen") unseen.push(one.node);
    else if (one.why === "waits") waiting.push(one.address);
    else {
      const known = faults.get(one.policy.address) ?? { policy: one.policy, told: [] };
      known.told.push([one.integration, one.text]);
      faults.set(one.policy.address, known);
    }
  }
  return [
    ...[...faults.values()].sort((a, b) => byText(a.policy.address, b.policy.address)).map(faultProblem),
    ...(unseen.length === 0
      ? []
      : [
          {
            code: "W_POLICY_UNSEEN",
            severity: "warning",
            summary: "Policies could not see columns",
            message: `The service tells no columns of ${listed(unseen)}, so no policy has judged ${unseen.length === 1 ? "them" : "those tables"}. Have the schema discovered again, or look at the columns in the service.`,
          } as const,
        ]),
    ...(waiting.length === 0
      ? []
      : [
          {
            code: "I_POLICY_WAITS",
            severity: "info",
            summary: "Policies judge later",
            message: `The schemas of ${listed(waiting)} are not there yet, so no policy has judged them. apply judges them once they are discovered, before it changes them.`,
          } as const,
        ]),
  ];
}

function faultProblem({
  policy,
  told,
}: {
  readonly policy: Resource<PolicySpec>;
  readonly told: readonly (readonly [string, string])[];
}): Problem {
  const sorted = [...told].sort(([a], [b]) => byText(a, b));
  const [integration, text] = sorted[0] ?? ["", ""];
  const more = sorted.length === 1 ? "" : `, and could not judge ${sorted.length - 1} more`;
  return {
    code: "E_POLICY_MODULE",
    severity: "error",
    summary: "A policy module fails",
    message: `${policy.spec.module ?? policy.address} ${text}, when it was asked about integration ${JSON.stringify(integration)}${more}. A policy that can't judge stops the run. Its default export takes ({ integration, labels, schemas }) and returns [{ path, message }], an empty list where all is well.`,
    place: locationIn(policy, "/spec/module"),
    address: policy.address,
  };
}

function listed(names: readonly string[]): string {
  const sorted = [...names].sort(byText);
  const first = sorted.slice(0, shown).join(", ");
  return sorted.length > shown ? `${first} and ${sorted.length - shown} more` : first;
}
