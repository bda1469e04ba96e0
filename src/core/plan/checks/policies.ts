import { type Address, byText, integrationOfSchemas } from "../../base/model/address.ts";
import { eachChange } from "../../base/model/changes.ts";
import type { PolicyFinding } from "../../base/model/findings.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import type { Manifest } from "../../base/model/manifest.ts";
import { type Change, type DraftFacts, type DraftStep, draftItems, stepsOf } from "../../base/model/plan.ts";
import { isError } from "../../base/model/problem.ts";
import { nodeText } from "../../base/text/paths.ts";
import type { PolicyEvaluator, PolicyTarget } from "../../columns/policies/index.ts";
import {
  causesOf,
  expiredRules,
  newPolicyEvaluator,
  notEvaluatedProblems,
  policiesIn,
  policyProblems,
  unchangedTarget,
} from "../../columns/policies/index.ts";
import type { Account, IntegrationNames, LabelScope } from "../../kinds/index.ts";
import {
  integrationNames,
  integrations,
  isRuleSet,
  isSchemaConfig,
  labelRoots,
  labelScopes,
  manifestOfSchemas,
  nameInAddresses,
  schemasAddress,
  schemasOf,
  selectedBy,
} from "../../kinds/index.ts";
import type { Project } from "../../manifests/index.ts";
import { isStrict } from "../loosened/settings.ts";
import type { PlanOptions, Run } from "../run.ts";
import { everything } from "../scope.ts";
import type { Asked, Check, CheckInput, ComparedPair, SeenIntegration } from "./check.ts";
import { exemptionProblems, exemptionUse } from "./exemptions.ts";
import { policyNames } from "./policy-names.ts";

/** What policies have found so far. */
interface Collected {
  readonly findings: PolicyFinding[];
  /** For which the service returned no columns: "public.users of orders". */
  readonly tables: string[];
  readonly exemptions: ReturnType<typeof exemptionUse>;
  readonly names: ReturnType<typeof policyNames>;
  /** Ids of integrations that need no further check: checked, gone, or still being discovered. */
  readonly done: Set<string>;
}

/** Evaluates policies on the planned state in a plan, on the live state in a drift report. */
export function checkPolicies({ run, account }: CheckInput): Check {
  const { options, today, project } = run;
  const { locate } = project;
  const invalid = policyProblems(account.manifests);
  const invalidAddresses = new Set(invalid.map(({ address }) => address));
  const policies = policiesIn(account.manifests).filter(({ address }) => !invalidAddresses.has(address));
  const collected: Collected = {
    findings: [...expiredRules(ruleManifests(account), today, locate)],
    tables: [],
    exemptions: exemptionUse(policies, locate),
    names: policyNames(policies),
    done: new Set(),
  };
  const policyRun: PolicyRun = {
    run,
    account,
    evaluator: newPolicyEvaluator(policies, { today, locate }),
    collected,
    namesOf: integrationNames(account),
    labelsOf: labelScopes(withLabelsOfBase(account, project, options)),
    configured: policies.length === 0 ? new Set() : configuredIntegrations(run, account),
  };
  const { evaluator, namesOf } = policyRun;
  return {
    columns: (id) => evaluator.columnsNeeded(namesOf(id)),
    others: (seen) => othersOf(policyRun, seen),
    tree: (seen) => askPolicies(policyRun, seen),
    end({ differences, complete }) {
      const isKnown = complete && account.isComplete && !account.isStopped;
      const waits = differences.flatMap((one) => stepsOf(one, "waits"));
      const notEvaluated = notEvaluatedProblems({
        tables: collected.tables,
        waiting: waiting(policyRun, waits),
        skipped: skipped(policyRun),
      });
      const isWhole = run.kind === "Plan" && run.scope === everything && options.protectOnly !== true && isKnown;
      const isEvaluated = isWhole && invalid.length + notEvaluated.length === 0;
      const unused = isEvaluated ? collected.exemptions.unused() : undefined;
      return {
        findings: [
          ...sorted(collected.findings)
            .filter(({ state }) => isKnown || state !== "fixed")
            .map((finding) => (refuses(finding, run) ? { ...finding, refuses: "policy" as const } : finding)),
          ...collected.exemptions.used(),
        ],
        problems: [
          ...invalid,
          ...exemptionProblems(policiesIn(account.manifests), today, unused),
          ...(isEvaluated ? collected.names.problems(account.list(integrations).items.map(({ id }) => namesOf(id))) : []),
          ...notEvaluated,
        ],
      };
    },
  };
}

/**
 * In the plan of a pull request, a column keeps the labels that it has at the base: a policy that uses a label covers the columns that lose it, too.
 */
function withLabelsOfBase(account: Account, { columnLabels: now }: Project, { base, review }: PlanOptions): Account {
  const before = review === "before merge" ? base?.columnLabels : undefined;
  if (before === undefined) return account;
  const defined = [...new Set([...(now?.defined ?? []), ...before.defined])].sort();
  const columns = [...(now?.columns ?? []), ...before.columns];
  return { ...account, columnLabels: labelRoots({ defined, columns, patterns: [...(now?.patterns ?? []), ...before.patterns] }) };
}

interface PolicyRun {
  readonly run: Run;
  readonly account: Account;
  readonly evaluator: PolicyEvaluator;
  readonly collected: Collected;
  readonly namesOf: (liveId: string) => IntegrationNames;
  /** Undefined if the project has no Classification. */
  readonly labelsOf: ((liveId: string) => LabelScope) | undefined;
  /** The ids of the integrations in scope that a SchemaConfig selects. */
  readonly configured: ReadonlySet<string>;
}

function askPolicies(policies: PolicyRun, seen: SeenIntegration): Asked | undefined {
  const { evaluator, collected } = policies;
  const target = seen.pair === undefined ? otherTarget(policies, seen) : pairTarget(policies, seen.pair, seen.tree);
  if (target === undefined) return undefined;
  const { questions, options, end } = evaluator.ask(target);
  return {
    questions,
    options,
    end() {
      const { findings, exempt, covering, tablesWithoutColumns } = end();
      collected.names.add(target);
      const [integration = ""] = target.names;
      for (const finding of findings) collected.findings.push(finding);
      collected.exemptions.add(target.address, exempt, covering);
      for (const path of tablesWithoutColumns) collected.tables.push(`${nodeText(path)} of ${integration}`);
    },
  };
}

/**
 * Policies apply to the planned state. In a plan, a unit with errors is not evaluated, because its
 * planned state is unknown.
 */
function pairTarget(
  policies: PolicyRun,
  { kind: { schemas }, unit, live, difference }: ComparedPair,
  tree: LiveSchemas | undefined,
): PolicyTarget | undefined {
  const { run, account, evaluator, collected, namesOf } = policies;
  const { liveId } = unit;
  const isPlan = run.kind === "Plan";
  const isRefused = isPlan && difference.problems.some(isError);
  if (schemas === undefined || liveId === undefined || (isRefused && tree !== undefined)) return undefined;
  collected.done.add(liveId);
  const integration = namesOf(liveId);
  const isDiscovering = stepsOf(difference, "waits").length > 0;
  if (tree === undefined || isDiscovering || !evaluator.selects(integration)) return undefined;
  const changes: Change<DraftFacts>[] = [];
  for (const item of draftItems(difference))
    for (const change of eachChange(item)) {
      changes.push(change);
    }
  return {
    ...integration,
    address: unit.address,
    live: tree,
    planned: isPlan ? plannedValues(changes) : new Map(),
    isCreated: account.fresh.has(liveId),
    columnLabels: policies.labelsOf?.(liveId),
    ...causesOf({
      decisionOf: (field) => schemas.decision(unit, live, field),
      changes,
      kindOfPlan: run.kind,
      locate: run.project.locate,
    }),
  };
}

function otherTarget({ collected, namesOf, labelsOf }: PolicyRun, { id, address, tree }: SeenIntegration): PolicyTarget | undefined {
  collected.done.add(id);
  return tree && { ...namesOf(id), address, live: tree, columnLabels: labelsOf?.(id), ...unchangedTarget };
}

/** The integrations of the scope that have a manifest and no SchemaConfig, and that a policy selects. */
function othersOf({ run, account, evaluator, namesOf, configured }: PolicyRun, seen: ReadonlySet<string>) {
  if (account.isStopped) return [];
  const isInScope = (...addresses: readonly Address[]): boolean => addresses.some((address) => run.scope.item(address, account));
  return [...account.naming.manifests].flatMap(([id, manifest]) => {
    const address = schemasAddress(nameInAddresses(id, account));
    const isOther = !seen.has(id) && (run.kind === "DriftReport" || !configured.has(id));
    return isOther && isInScope(manifest.address, address) && evaluator.selects(namesOf(id)) ? [{ address, id }] : [];
  });
}

/** The manifests whose rules count in this scope. */
function ruleManifests({ comparable, manifests }: Account): readonly Manifest[] {
  const configs = comparable.filter(isSchemaConfig);
  return configs.length === 0 ? [] : [...configs, ...manifests.filter(isRuleSet)];
}

const configuredIntegrations = ({ scope }: Run, account: Account): ReadonlySet<string> =>
  new Set(
    account.comparable
      .filter(isSchemaConfig)
      .flatMap(({ spec }) => selectedBy(spec, account))
      .flatMap((one) => (one.state === "found" && scope.item(schemasOf(one, account), account) ? [one.id] : [])),
  );

/** Integrations whose SchemaConfig has errors, or whose schemas could not be read. */
const skipped = ({ configured, collected, evaluator, namesOf, account }: PolicyRun): readonly string[] =>
  [...configured].filter((id) => !collected.done.has(id) && evaluator.selects(namesOf(id))).map((id) => nameInAddresses(id, account));

const waiting = ({ account, evaluator, namesOf }: PolicyRun, waits: readonly DraftStep[]): readonly Address[] =>
  waits.flatMap(({ address, liveId }) => {
    if (integrationOfSchemas(address) === undefined) return [];
    const integration = liveId === undefined ? namesOfManifest(address, account) : namesOf(liveId);
    return evaluator.selects(integration) ? [address] : [];
  });

/** Of an integration that does not exist yet; `address` is that of its schemas. */
function namesOfManifest(address: Address, { lookup }: Account): IntegrationNames {
  const manifest = lookup.manifests.get(manifestOfSchemas(address) ?? "");
  return { names: manifest === undefined ? [] : [manifest.name], labels: manifest?.labels ?? {} };
}

function refuses({ severity, state }: PolicyFinding, run: Run): boolean {
  if (severity !== "error") return false;
  // A violation elsewhere must not stop a run that only protects.
  const refusesExisting = run.kind === "DriftReport" || (isStrict(run) && run.options.protectOnly !== true);
  return state === "new" || (state === "existing" && refusesExisting);
}

const plannedValues = (changes: readonly Change<DraftFacts>[]): ReadonlyMap<Pointer, boolean> =>
  new Map(changes.flatMap(({ path, after }) => (typeof after === "boolean" ? [[path, after] as const] : [])));

/** In place: sorting what is sorted already is quick. */
const sorted = (findings: PolicyFinding[]): readonly PolicyFinding[] =>
  findings.sort((a, b) => byText(a.rule, b.rule) || byText(a.address, b.address) || byText(a.path, b.path));
