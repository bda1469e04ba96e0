import pLimit from "p-limit";
import type { Account, DiffResult, Pair, TableTest } from "../../kinds/kind.ts";
import { isRuleSet, isSchemaConfig, manifestOfSchemas, schemasAddress } from "../../kinds/manifests.ts";
import { type LabelScope, labelRoots } from "../../kinds/patterns/labels.ts";
import { type Question, scan, tablesToRead, unknownColumns, withColumns } from "../../kinds/schemas.ts";
import { type IntegrationNames, integrationNames, labelScopes, nameInAddresses, schemasOf, selectedBy } from "../../kinds/select.ts";
import type { Project } from "../../manifests/project.ts";
import { type Address, byText, integrationOfSchemas } from "../../model/address.ts";
import { eachChange } from "../../model/changes.ts";
import { ServiceError } from "../../model/errors.ts";
import type { PolicyFinding, UsedExemption } from "../../model/findings.ts";
import type { Pointer } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Manifest } from "../../model/manifest.ts";
import { addAll } from "../../model/maps.ts";
import type { Change, Deferred, DraftFacts, Unverifiable } from "../../model/plan.ts";
import { isError, type Problem } from "../../model/problem.ts";
import { causesOf } from "../../policies/causes.ts";
import { newPolicyEvaluator, type PolicyEvaluator, type PolicyTarget, unchangedTarget } from "../../policies/evaluate.ts";
import { notEvaluatedProblems } from "../../policies/not-evaluated.ts";
import { expiredRules, policiesIn, policyProblems } from "../../policies/validate.ts";
import { nodeText } from "../../text/paths.ts";
import { isStrict } from "../loosened/settings.ts";
import { failedRead } from "../observe.ts";
import type { ClaimColumns, RunReads } from "../reads/cached-reads.ts";
import type { PlanOptions, Run } from "../run.ts";
import { everything } from "../scope.ts";
import { exemptionProblems, exemptionUse } from "./exemptions.ts";

/** A unit after its comparison. `live` is undefined if the object is gone. */
export interface CheckedUnit extends Pair {
  readonly live: unknown;
  readonly difference: DiffResult;
}

/** Evaluates policies on the trees that a run reads. */
export interface PolicyCheck {
  /** Evaluates the policies on a unit's tree, while it is in memory, and asks the other questions about it. */
  readonly checkUnit: (compared: CheckedUnit, others: Questions) => void;
  readonly columnsNeeded: (liveId: string) => TableTest | undefined;
  /** Reads and checks the integrations of the scope that have a manifest and no SchemaConfig. */
  readonly checkOthers: (reads: RunReads, others: Others) => Promise<{ readonly complete: boolean }>;
  /**
   * Tables of integrations without a SchemaConfig, whose columns policies need but the service does
   * not return.
   */
  readonly unverifiable: () => readonly Unverifiable[];
  readonly findings: () => readonly PolicyFinding[];
  /** The exemptions that let violations pass. */
  readonly exemptions: () => readonly UsedExemption[];
  /** The findings that make the guard `policy` refuse. */
  readonly refusing: () => readonly PolicyFinding[];
  /** Problems of the policies and their exemptions, and what they could not check. `complete`: whether every read succeeded. */
  readonly problems: (found: { readonly deferred: readonly Deferred[]; readonly complete: boolean }) => readonly Problem[];
}

/** Further questions about the tree of an integration. */
export type Questions = (liveId: string) => readonly Question[];

interface Others {
  /** The ids that were compared. */
  readonly compared: readonly string[];
  readonly questions: Questions;
  /** Gets what is read. */
  readonly onTree: ((liveId: string, live: LiveSchemas) => void) | undefined;
}

/** What the round has read. */
interface CheckedAccount {
  readonly account: Account;
  /** The manifests of this run's scope. */
  readonly compared: readonly Manifest[];
  readonly claimColumns: ClaimColumns;
}

/** What a check has collected so far. */
interface Collected {
  readonly findings: PolicyFinding[];
  /** For which the service returned no columns: "public.users of orders". */
  readonly tables: string[];
  readonly failedReads: Problem[];
  readonly unverifiable: Unverifiable[];
  readonly exemptions: ReturnType<typeof exemptionUse>;
  /** Ids of integrations that need no further check: checked, gone, or still being discovered. */
  readonly done: Set<string>;
}

/** Evaluates policies on the planned state in a plan, on the live state in a drift report. */
export function checkPolicies(run: Run, view: CheckedAccount): PolicyCheck {
  const { options, today } = run;
  const { locate } = run.project;
  const { account } = view;
  const invalid = policyProblems(account.manifests);
  const invalidAddresses = new Set(invalid.map(({ address }) => address));
  const policies = policiesIn(account.manifests).filter(({ address }) => !invalidAddresses.has(address));
  const collected: Collected = {
    findings: [...expiredRules(ruleManifests(view), today, locate)],
    tables: [],
    failedReads: [],
    unverifiable: [],
    exemptions: exemptionUse(policies, locate),
    done: new Set(),
  };
  const findings = () => sorted(collected.findings);
  const refusing = () => findings().filter((finding) => refuses(finding, run));
  const evaluator = newPolicyEvaluator(policies, { today, locate });
  const check: Check = {
    run,
    view,
    evaluator,
    collected,
    namesOf: integrationNames(account),
    labelsOf: labelScopes(withLabelsOfBase(account, run.project, options)),
    configured: policies.length === 0 ? new Set() : configuredIntegrations(run, view),
  };
  return {
    checkUnit: (unit, others) => checkUnit(check, unit, others),
    columnsNeeded: (liveId) => evaluator.columnsNeeded(check.namesOf(liveId)),
    checkOthers: (reads, others) => checkOthers(check, reads, others),
    unverifiable: () => collected.unverifiable,
    findings,
    exemptions: collected.exemptions.used,
    refusing,
    problems: ({ deferred, complete }) => {
      const notEvaluated = notEvaluatedProblems({ ...collected, waiting: waiting(check, deferred), skipped: skipped(check) });
      const isWhole = run.kind === "Plan" && run.scope === everything && options.protectOnly !== true && complete;
      const unused = isWhole && invalid.length + notEvaluated.length === 0 ? collected.exemptions.unused() : undefined;
      const ofExemptions = exemptionProblems(policiesIn(account.manifests), today, unused);
      return [...invalid, ...ofExemptions, ...collected.failedReads, ...notEvaluated];
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

interface Check {
  readonly run: Run;
  readonly view: CheckedAccount;
  readonly evaluator: PolicyEvaluator;
  readonly collected: Collected;
  readonly namesOf: (liveId: string) => IntegrationNames;
  /** Undefined if the project has no Classification. */
  readonly labelsOf: ((liveId: string) => LabelScope) | undefined;
  /** The ids of the integrations in scope that a SchemaConfig selects. */
  readonly configured: ReadonlySet<string>;
}

function checkUnit(check: Check, compared: CheckedUnit, questions: Questions): void {
  const { kind, unit, live } = compared;
  const { schemas } = kind;
  if (schemas === undefined || unit.liveId === undefined) return;
  const tree = live === undefined ? undefined : schemas.tree(live);
  const target = targetOf(check, compared, tree);
  if (tree !== undefined) evaluate(check, tree, { target, others: questions(unit.liveId) });
}

/**
 * Policies apply to the planned state. In a plan, a unit with errors is not evaluated, because its
 * planned state is unknown.
 */
function targetOf(
  check: Check,
  { kind: { schemas }, unit, live, difference }: CheckedUnit,
  tree: LiveSchemas | undefined,
): PolicyTarget | undefined {
  const { run, view, evaluator, collected, namesOf } = check;
  const { liveId } = unit;
  const isPlan = run.kind === "Plan";
  const isRefused = isPlan && difference.problems.some(isError);
  if (schemas === undefined || liveId === undefined || (isRefused && tree !== undefined)) return undefined;
  collected.done.add(liveId);
  const integration = namesOf(liveId);
  const isDiscovering = difference.deferred.length > 0;
  if (tree === undefined || isDiscovering || !evaluator.selects(integration)) return undefined;
  const changes: Change<DraftFacts>[] = [];
  for (const item of difference.items)
    for (const change of eachChange(item)) {
      changes.push(change);
    }
  return {
    ...integration,
    address: unit.address,
    live: tree,
    planned: isPlan ? plannedValues(changes) : new Map(),
    isCreated: view.account.fresh.has(liveId),
    columnLabels: check.labelsOf?.(liveId),
    ...causesOf({
      decisionOf: (field) => schemas.decision(unit, live, field),
      changes,
      kindOfPlan: run.kind,
      locate: run.project.locate,
    }),
  };
}

async function checkOthers(
  check: Check,
  reads: RunReads,
  { compared, questions, onTree }: Others,
): Promise<{ readonly complete: boolean }> {
  const { run, view, evaluator, collected, namesOf, configured } = check;
  const limit = pLimit(run.project.settings.client.concurrency);
  const known = new Set(compared);
  const isOther = (id: string): boolean => !known.has(id) && (run.kind === "DriftReport" || !configured.has(id));
  const { scope } = run;
  const { account } = view;
  const isInScope = (...addresses: readonly Address[]): boolean => addresses.some((address) => scope.item(address, account));
  const others = [...account.naming.manifests].flatMap(([id, manifest]) => {
    const address = schemasAddress(nameInAddresses(id, account));
    return isInScope(manifest.address, address) && isOther(id) ? [{ address, id, integration: namesOf(id) }] : [];
  });
  const readAndEvaluate = async ({ address, id, integration }: (typeof others)[number]): Promise<void> => {
    try {
      const read = (await reads.schemas(id))?.tree;
      collected.done.add(id);
      if (read === undefined) return;
      const needed = evaluator.columnsNeeded(integration);
      const tables = needed === undefined ? [] : tablesToRead(undefined, read, needed);
      view.claimColumns(id, tables.length);
      const { tree, withoutColumns } = await withColumns({ id, tree: read }, tables, reads);
      addAll(collected.unverifiable, unknownColumns(address, withoutColumns));
      if (onTree !== undefined) onTree(id, tree);
      const target = { ...integration, address, live: tree, columnLabels: check.labelsOf?.(id), ...unchangedTarget };
      evaluate(check, tree, { target, others: questions(id) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      collected.failedReads.push(failedRead(error, address));
    }
  };
  await Promise.all(others.filter(({ integration }) => evaluator.selects(integration)).map((other) => limit(() => readAndEvaluate(other))));
  return { complete: collected.failedReads.length === 0 };
}

interface Asked {
  /** Undefined: no policies. */
  readonly target: PolicyTarget | undefined;
  readonly others: readonly Question[];
}

function evaluate({ evaluator, collected }: Check, tree: LiveSchemas, { target, others }: Asked): void {
  const policies = target && evaluator.ask(target);
  const questions = [...others, ...(policies?.questions ?? [])];
  if (questions.length > 0) scan(tree, questions, policies?.options);
  if (policies === undefined || target === undefined) return;
  const { findings, exempt, covering, tablesWithoutColumns } = policies.end();
  const [integration = ""] = target.names;
  for (const finding of findings) collected.findings.push(finding);
  collected.exemptions.add(target.address, exempt, covering);
  for (const path of tablesWithoutColumns) collected.tables.push(`${nodeText(path)} of ${integration}`);
}

/** The manifests whose rules count in this scope. */
function ruleManifests({ account, compared }: CheckedAccount): readonly Manifest[] {
  const configs = compared.filter(isSchemaConfig);
  return configs.length === 0 ? [] : [...configs, ...account.manifests.filter(isRuleSet)];
}

const configuredIntegrations = ({ scope }: Run, { account, compared }: CheckedAccount): ReadonlySet<string> =>
  new Set(
    compared
      .filter(isSchemaConfig)
      .flatMap(({ spec }) => selectedBy(spec, account))
      .flatMap((one) => (one.state === "found" && scope.item(schemasOf(one, account), account) ? [one.id] : [])),
  );

/** Integrations whose SchemaConfig has errors, or whose schemas could not be read. */
const skipped = ({ configured, collected, evaluator, namesOf, view }: Check): readonly string[] =>
  [...configured].filter((id) => !collected.done.has(id) && evaluator.selects(namesOf(id))).map((id) => nameInAddresses(id, view.account));

const waiting = ({ view, evaluator, namesOf }: Check, deferred: readonly Deferred[]): readonly Address[] =>
  deferred.flatMap(({ address, liveId }) => {
    if (integrationOfSchemas(address) === undefined) return [];
    const integration = liveId === undefined ? namesOfManifest(address, view.account) : namesOf(liveId);
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
  findings.sort((a, b) => byText(a.policy, b.policy) || byText(a.address, b.address) || byText(a.path, b.path));
