import { type Address, byText } from "../../base/model/address.ts";
import type { ColumnLabels } from "../../base/model/columns.ts";
import type { PolicyFinding } from "../../base/model/findings.ts";
import { emptyRecord } from "../../base/model/json/json.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import {
  locationIn,
  type Manifest,
  type PolicySpec,
  problemIn,
  type SchemaConfigSpec,
  type SchemaTree,
} from "../../base/model/manifest.ts";
import type { NodePath } from "../../base/model/nodes.ts";
import type { Locate, Problem, Severity } from "../../base/model/problem.ts";
import { levelNames, literalPointer } from "../../base/model/schema-tree.ts";
import { capitalized, ruleText } from "../../base/text/describe.ts";
import { paragraph } from "../../base/text/file-text.ts";
import { andMore } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import {
  type IntegrationNames,
  isIntegration,
  isPolicy,
  isRuleSet,
  isSchemaConfig,
  type LabelScope,
  labelRoots,
  missingOf,
  policyAddress,
  scan,
} from "../../kinds/index.ts";
import { type CompiledPolicy, compilePolicy, isValidOn } from "./compile.ts";
import { policyQuestion, type Violated, type Violation } from "./violations.ts";

export const policiesIn = (manifests: readonly Manifest[]): readonly Manifest<PolicySpec>[] => manifests.filter(isPolicy);

/** Policies that can never find anything, each as an error at its line. */
export function policyProblems(manifests: readonly Manifest[]): readonly Problem[] {
  return policiesIn(manifests).flatMap((manifest): readonly Problem[] => {
    const found = problemOf(manifest);
    if (found === undefined) return [];
    const [pointer, message] = found;
    return [problemIn(manifest, pointer, { code: "E_WRONG_VALUE", message: `${manifest.address} ${message}` })];
  });
}

/** What is wrong with a policy; the message follows its address. */
function problemOf(policy: Manifest<PolicySpec>): readonly [pointer: string, message: string] | undefined {
  const { require, when } = policy.spec;
  if (require === undefined)
    return ["/spec", "has no spec.require, so it can never find anything. Add what must be true, such as require: { hashed: true }."];
  const { depth } = compilePolicy(policy).nodes;
  if (depth === undefined)
    return [
      when === undefined ? "/spec" : "/spec/when",
      "names no column, table or schema in spec.when, so it can never find anything. Add what it checks, such as column: {} for every replicated column.",
    ];
  if (require.hashed !== undefined && depth !== 2)
    return [
      "/spec/require/hashed",
      `requires hashed, but checks ${levelNames[depth]}s, which cannot be hashed. Add columns to spec.when, such as column: {} for every replicated column.`,
    ];
  return undefined;
}

/** Rules after their `expires` date. They still apply, because a date alone must not expose data. */
export function expiredRules(manifests: readonly Manifest[], today: string, locate: Locate): readonly PolicyFinding[] {
  return manifests.flatMap((manifest) => {
    if (!isSchemaConfig(manifest) && !isRuleSet(manifest)) return [];
    const { rules = [] } = manifest.spec;
    return rules.flatMap((rule, index): readonly PolicyFinding[] => {
      if (!("match" in rule) || rule.expires === undefined || rule.expires >= today) return [];
      const { file, line } = locate(locationIn(manifest, `/spec/rules/${index}/expires`, "key"));
      const why = rule.reason === undefined ? "" : ` (${rule.reason})`;
      return [
        {
          rule: policyAddress("rule-expired"),
          severity: "warning",
          state: "existing",
          address: manifest.address,
          path: `/spec/rules/${index}`,
          message: `${capitalized(ruleText(rule.id ?? `rule ${index + 1}`))} expired on ${rule.expires}${why} and still applies. Remove it, or set a later date.`,
          file,
          ...(line === undefined ? {} : { line }),
        },
      ];
    });
  });
}

/** What policies could not check. It is reported, because otherwise it would look like "no findings". */
interface NotEvaluated {
  /** Tables without columns in the response: "public.users of orders". */
  readonly tables: readonly string[];
  /** Integrations whose SchemaConfig has errors, or whose schemas could not be read. */
  readonly skipped: readonly string[];
  /** The schemas of integrations that do not exist yet, or have none yet. */
  readonly waiting: readonly Address[];
}

export const notEvaluatedProblems = ({ tables, skipped, waiting }: NotEvaluated): readonly Problem[] => [
  ...aboutAll(skipped, "integration", {
    code: "W_POLICY_SKIPPED",
    severity: "warning",
    message: (integrations) =>
      `Policies were not evaluated on ${integrations}: the SchemaConfig has errors, or the schemas could not be read. This plan may violate policies there. Fix the errors and plan again.`,
  }),
  ...aboutAll(tables, "table", {
    code: "W_COLUMNS_UNKNOWN",
    severity: "warning",
    message: (shown) =>
      `The service returned no columns for ${shown}, so policies did not check ${tables.length === 1 ? "them" : "these tables"}. Have the service discover the schema again, or check the columns in its user interface.`,
  }),
  ...aboutAll(waiting, "object", {
    code: "I_POLICY_WAITS",
    severity: "info",
    message: (addresses) =>
      `The schemas of ${addresses} do not exist yet, so policies did not check them. apply checks them once they are discovered, before it changes them.`,
  }),
];

/** One problem about all of these, if there are any. */
const aboutAll = (
  names: readonly string[],
  one: string,
  { message, ...text }: Pick<Problem, "code" | "severity"> & { readonly message: (names: string) => string },
): readonly Problem[] => (names.length === 0 ? [] : [{ ...text, message: message(andMore([...names].sort(byText), one)) }]);

// What is certain before any account is read: literal entries that violate a policy. A false report would be worse than
// none, so whatever depends on the account or on another manifest is left out, or is a warning if only the account
// shows whether the node is replicated. Rules are not checked here: which nodes they match depends on the live names.

type Config = Manifest<SchemaConfigSpec>;

interface OfflineOptions {
  /** YYYY-MM-DD */
  readonly today: string;
  /** Whether `ignore` in dimsync.yaml excludes differences of a SchemaConfig, so that its literal entries may never be sent. */
  readonly ignoring: boolean;
  readonly labels?: ColumnLabels | undefined;
}

export function literalProblems(manifests: readonly Manifest[], options: OfflineOptions): readonly Problem[] {
  const invalid = new Set(policyProblems(manifests).map(({ address }) => address));
  const policies = policiesIn(manifests)
    .filter(({ address, spec }) => spec.require !== undefined && !invalid.has(address))
    .map(compilePolicy);
  if (policies.length === 0) return [];
  const configs = manifests.filter(isSchemaConfig);
  const labels = options.labels && labelRoots(inSource(options.labels));
  return configs.flatMap((config) => {
    if (config.spec.schemas === undefined || configs.some((other) => mayOverride(other, config, manifests))) return [];
    const target = targetOf(config, manifests);
    return policies
      .filter((policy) => certainlySelects(policy, target))
      .flatMap((policy) => problemsOf(policy, config, { ...options, scope: labels?.({ names: target?.names ?? [] }) }));
  });
}

/** The labels that do not depend on names in the destination, which only the service returns. */
const inSource = (labels: ColumnLabels): ColumnLabels => ({ ...labels, columns: labels.columns.filter(({ side }) => side === "source") });

/** The integration of a manifest, without its live name, which is unknown. Undefined: an integration without a manifest, or several. */
function targetOf({ spec: { integration } }: Config, manifests: readonly Manifest[]): IntegrationNames | undefined {
  const manifest = manifests
    .filter(isIntegration)
    .find(({ name, id }) => (typeof integration === "string" ? name === integration : integration !== undefined && id === integration.id));
  return manifest === undefined ? undefined : { names: [manifest.name], labels: manifest.labels };
}

/** A name that `!` excludes may be the live name, which is unknown. */
function certainlySelects({ manifest, selects }: CompiledPolicy, target: IntegrationNames | undefined): boolean {
  const when = manifest.spec.when?.integration;
  if (when === undefined) return true;
  return target !== undefined && when.names?.some((text) => text.startsWith("!")) !== true && selects(target);
}

function mayOverride(other: Config, config: Config, manifests: readonly Manifest[]): boolean {
  if (other === config || (other.spec.priority ?? 0) <= (config.spec.priority ?? 0)) return false;
  const [one, two] = [targetOf(other, manifests), targetOf(config, manifests)];
  return one === undefined || two === undefined || one.names[0] === two.names[0];
}

function problemsOf(
  policy: CompiledPolicy,
  config: Config,
  { today, ignoring, scope }: OfflineOptions & { readonly scope: LabelScope | undefined },
): readonly Problem[] {
  // Which integration is exempt is left open: one that may be exempt is not reported.
  const exemptions = (policy.manifest.spec.exemptions ?? []).filter((exemption) => isValidOn(exemption, today));
  const anywhere = compilePolicy({
    ...policy.manifest,
    spec: { ...policy.manifest.spec, exemptions: exemptions.map(({ integration: _, ...rest }) => rest) },
  });
  const isExempt = (path: NodePath): boolean =>
    anywhere.exemptions(
      [""],
      path.filter((name) => name !== undefined),
    ).length > 0;
  const maySkip = ignoring || ["ignore", "nowhere"].includes(missingOf(config));
  const problems: Problem[] = [];
  const question = policyQuestion(policy, {
    isLiteral: true,
    onViolation: ({ path, key, next }) => {
      if (next !== undefined && !isExempt(path))
        problems.push(toProblem(policy.manifest, config, { ...next, path, key, isCertain: next.isCertain && !maySkip }));
    },
  });
  scan(withTables(config.spec.schemas), [question], { isLiteral: true, labels: scope });
  return problems;
}

function withTables(literal: SchemaTree = {}): LiveSchemas {
  const tree = emptyRecord<LiveSchemas[string]>();
  for (const [schema, entry] of Object.entries(literal)) tree[schema] = { tables: {}, ...entry };
  return tree;
}

function toProblem(
  policy: Manifest<PolicySpec>,
  config: Config,
  { path, key, actual, isCertain }: Violation & Pick<Violated, "path" | "key">,
): Problem {
  const { severity: ofPolicy, message } = policy.spec;
  const severity: Severity = isCertain || ofPolicy === "info" ? ofPolicy : "warning";
  const doubt = isCertain ? "" : " It violates the policy if the node is replicated; dimsync plan checks the account.";
  return problemIn(config, literalPointer(path, key), {
    code: severity === "error" ? "E_POLICY" : severity === "warning" ? "W_POLICY" : "I_POLICY",
    severity,
    message: `${config.address} sets ${key} of ${nodeText(path)} to ${actual}, but ${policy.address} requires ${!actual}: ${paragraph(message).replace(/\.$/u, "")}.${doubt} Change the entry, or add an exemption with a reason.`,
  });
}
