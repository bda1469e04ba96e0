import { kindNamed, lists } from "../kinds/index.ts";
import { type Account, emptyDiff, type Kind, type Pair, type ReadNeeds, type Unit } from "../kinds/kind.ts";
import { integrations } from "../kinds/lists.ts";
import { kindNames, schemasAddress } from "../kinds/manifests.ts";
import { integrationMatcher, selectIntegrations } from "../kinds/select.ts";
import { selectorProblems, selectsByName } from "../kinds/written-names.ts";
import type { Project } from "../manifests/project.ts";
import { type Address, byText, parseAddress } from "../model/address.ts";
import { readOr } from "../model/errors.ts";
import { defined } from "../model/json/json.ts";
import type { Manifest } from "../model/manifest.ts";
import { getOrAdd } from "../model/maps.ts";
import type { Loosened, Manual, Plan, Released } from "../model/plan.ts";
import { isError, type Problem } from "../model/problem.ts";
import type { Reads } from "../model/service.ts";
import { policiesIn } from "../policies/validate.ts";
import type { RecordsState } from "../records/records.ts";
import { counted } from "../text/counts.ts";
import { giveUpCommand } from "../text/shell.ts";
import { allowances } from "./checks/allow.ts";
import { checkLabels } from "./checks/labels.ts";
import type { PolicyCheck, Questions } from "./checks/policies.ts";
import { type Compared, compareUnits } from "./compare.ts";
import { checkLoosened } from "./loosened/index.ts";
import { type ObservedAccount, observeAccount } from "./observe.ts";
import { type BaseView, baseView, ofSameKinds, schemasAtBase, unitsByObject } from "./origin.ts";
import { orphanedObligations } from "./orphaned.ts";
import { columnBudget, columnsNeeded } from "./reads/cached-reads.ts";
import type { Recovered } from "./recover.ts";
import type { PlanOptions, Run } from "./run.ts";
import { everything, type IgnoredPaths, ignoredPaths, ignoring, manifestsInScope } from "./scope.ts";

// The steps of a round (pipeline.ts) as calls to the modules that do the work.

/** What one round read, and the manifests that it compares. */
export interface RoundView extends ObservedAccount {
  /** The manifests in scope; none if the project has errors. */
  readonly compared: readonly Manifest[];
  /** The manifests in scope, with or without errors in the project. */
  readonly inScope: readonly Manifest[];
  readonly base: BaseView | undefined;
  readonly claimColumns: ReturnType<typeof columnBudget>;
}

/** Whether a manifest has an error. Then nothing is compared, so that the errors are all that is reported. */
export const hasErrors = ({ problems }: Pick<Project, "problems">): boolean => problems.some(isError);

export async function observeRound(run: Run, recovered: Recovered): Promise<RoundView> {
  const { project, options, kind, reads, scope, today } = run;
  const { settings } = project;
  const records = run.records();
  const { ignored, problems: expiredIgnores } = ignoring(settings.ignore, today);
  const inScope = manifestsInScope(project.manifests, scope);
  const compared = hasErrors(project) ? [] : inScope;
  // Those of a part of the account check only that part.
  const policies = scope === everything ? policiesIn(project.manifests) : [];
  const observe = (
    from: Pick<Project, "manifests" | "elsewhere" | "columnLabels">,
    of: readonly Manifest[],
    { review, ignored: isIgnored = ignored }: { readonly review?: Run["review"]; readonly ignored?: typeof ignored } = {},
  ): Promise<ObservedAccount> =>
    observeAccount({
      project: { ...from, settings },
      compared: of,
      alsoNeeded: policies.some(selectsByName) ? [integrations] : [],
      records,
      reads,
      ignored: isIgnored,
      run: {
        recovered: recovered.ids,
        fresh: run.rounds.fresh,
        now: run.clock.now().toISOString(),
        isRecording: kind === "Plan" && (run.writer !== undefined || options.isRecording === true),
        isDrift: kind === "DriftReport",
        listUnmanaged: options.listUnmanaged === true,
        review,
        ...(run.missing === undefined ? {} : { extended: { missing: run.missing } }),
      },
    });
  const observed = await observe(project, compared, { review: run.review });
  const base =
    options.base === undefined || hasErrors(project)
      ? undefined
      : baseView(
          observed,
          // What a whole plan no longer has may be of any kind.
          options.base.manifests === project.manifests
            ? observed
            : await observe(options.base, scope === everything ? options.base.manifests : ofSameKinds(options.base.manifests, compared), {
                review: options.base.review,
                ignored: ignoring(options.base.settings?.ignore ?? [], today).ignored ?? (() => false),
              }),
          options.base.locate,
        );
  const problems: readonly Problem[] = [
    ...expiredIgnores,
    ...allowances(settings.allow, today).problems,
    ...observed.problems,
    ...unknownIntegrations(project, observed, hasErrors(project) ? [] : [...compared, ...policies]),
    ...(base?.problems ?? []),
    ...lostManifests(project, records),
  ];
  const account: Account = { ...observed.account, base: base && schemasAtBase(base.view) };
  return { ...observed, account, problems, inScope, compared, base: base?.view, claimColumns: columnBudget() };
}

/** Names in selectors that no integration has. One of another target, and one whose entry of the list cannot be read, have theirs. */
function unknownIntegrations(
  { elsewhere }: Project,
  { account, unreadLists, entries }: ObservedAccount,
  named: readonly Manifest[],
): readonly Problem[] {
  if (unreadLists.has(integrations)) return [];
  const others = elsewhere.filter(({ kind }) => kind === kindNames.integration).map(({ name }) => name);
  const unread = (entries.get(integrations) ?? []).flatMap(({ name }) => name ?? []);
  return selectorProblems(named, account, [...others, ...unread]);
}

/** A project without manifests whose objects earlier runs have managed: its files were lost, and a plan without differences would say that all is well. */
function lostManifests({ problems, settings: { target } }: Project, { bindings }: RecordsState): readonly Problem[] {
  const none = problems.find(({ code }) => code === "W_NO_MANIFESTS");
  if (none === undefined || bindings.size === 0) return [];
  const known = counted(bindings.size, "object");
  const message = `The records of target ${target} have the ids of ${known}, but nothing is compared: ${none.message}`;
  return [{ ...none, code: "E_NO_MANIFESTS", severity: "error", message }];
}

/** What was compared, and what the manifests no longer have since the base. */
export interface ComparedRound extends Compared {
  /** Absent if there is no base, or if it is not known. */
  readonly loosened?: readonly Loosened[];
  readonly released?: readonly Released[];
  /** `ignore` entries whose path no compared object has. */
  readonly missingPaths: IgnoredPaths["missing"];
  /** What selectors by live name cover. */
  readonly coverage: Coverage;
}

/**
 * Compares the manifests in scope, and checks policies on the integrations that no SchemaConfig has
 * read.
 */
export async function compareRound(run: Run, view: RoundView, policies: PolicyCheck): Promise<ComparedRound> {
  const { options, reads, scope, kind } = run;
  const labels = checkLabels(run.project, view, scope === everything);
  const loosened =
    options.review !== undefined && options.base !== undefined && view.base !== undefined
      ? checkLoosened({ base: options.base, head: run.project, today: run.today }, view, view.base)
      : undefined;
  const paths = ignoredPaths(run.project.settings.ignore, run.today);
  const questions: Questions = (liveId) => (labels === undefined ? [] : [labels.ask(liveId)]);
  const needs: ReadNeeds = {
    policyColumns: columnsNeeded(run, policies.columnsNeeded, view.account.kept),
    claimColumns: view.claimColumns,
    isNew: (id) => run.rounds.fresh.has(id) || isRecent(view.account.list(integrations).byId.get(id)?.createdAt, run.clock.now()),
  };
  const compared = await compareUnits({
    observed: view,
    compared: view.compared,
    scope,
    reads,
    onProgress: run.onProgress,
    base: view.base,
    protectOnly: options.protectOnly === true,
    concurrency: run.project.settings.client.concurrency,
    needs,
    checkUnit: (unit) => {
      paths.look(unit, unit.live, view.account);
      policies.checkUnit(unit, questions);
      if (loosened !== undefined) loosened.checkUnit(unit);
    },
    signal: run.signal,
  });
  if (hasErrors(run.project)) return { ...compared, missingPaths: paths.missing, coverage: { manual: [] } };
  const others = await policies.checkOthers(reads, { compared: compared.configured, questions, onTree: loosened?.checkTree });
  const complete = compared.complete && others.complete;
  const { base } = view;
  const isWhole = base?.isComplete === true && kind === "Plan" && scope === everything && complete && view.complete;
  const released = isWhole
    ? await releasedObjects({ account: view.account, base, compared, reads, needs, onLive: loosened?.checkReleased })
    : undefined;
  const coverage = await checkCoverage({ account: view.account, reads, needs });
  const isKnown = scope === everything && view.complete && !view.unreadLists.has(integrations);
  const orphans = isKnown ? await orphanedObligations({ account: view.account, reads, compared, left: coverage.manual }) : [];
  const problems = complete ? (labels?.problems() ?? []) : [];
  return {
    ...compared,
    found: [...compared.found, ...orphans, ...(problems.length === 0 ? [] : [{ ...emptyDiff, problems }])],
    complete,
    missingPaths: paths.missing,
    coverage,
    ...defined({ loosened: released && toTell(options, loosened?.entries(released)), released }),
  };
}

/** After a merge, nothing is said if nothing is given up. */
const toTell = ({ review }: PlanOptions, all: readonly Loosened[] = []): readonly Loosened[] | undefined =>
  review === "before merge" || all.length > 0 ? all : undefined;

/** An integration of an earlier run, or of somebody else, may still be in creation for this long. */
const newForMs = 60 * 60 * 1000;

const isRecent = (createdAt: string | undefined, now: Date): boolean =>
  createdAt !== undefined && Math.abs(now.getTime() - Date.parse(createdAt)) < newForMs;

interface ReleasedInput {
  readonly account: Account;
  readonly base: BaseView;
  readonly compared: Pick<Compared, "objects" | "parts">;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
  /** Called with the live object of each, which is read for its columns, and what the current manifests have of it. */
  readonly onLive: ((base: Pair, now: Unit | undefined, live: unknown) => void) | undefined;
}

/**
 * The live objects that the base manifests have and the current ones do not, an integration and its schemas as one. Reads
 * the schemas to count the columns that only the base manifests covered.
 */
async function releasedObjects({ account, base, compared, reads, needs, onLive }: ReleasedInput): Promise<readonly Released[]> {
  const parts = new Set(compared.parts);
  const released = [...base.unitByObject].flatMap(([object, one]) =>
    one.unit.liveId === undefined ||
    base.account.goneIds.has(one.unit.liveId) ||
    compared.objects.has(object) ||
    parts.has(one.unit.address)
      ? []
      : [one],
  );
  const found = new Map<string, Released>();
  for (const one of released) {
    const { liveId: id = "", address } = one.unit;
    const key = keyOf(one);
    // Its schemas come after the integration.
    if (!found.has(key)) found.set(key, { address, id, name: nameOf(one, base), columns: 0 });
  }
  // A SchemaConfig for many integrations can still cover some of the columns.
  const current = found.size === 0 ? undefined : unitsByObject(account);
  for (const [object, one] of base.unitByObject) {
    const known = found.get(keyOf(one));
    if (known === undefined || one.kind.schemas === undefined) continue;
    const now = current?.get(object)?.unit;
    // 0 if they cannot be read: the plan must not fail for them.
    const columns = await readOr(
      async () => {
        const live = await one.kind.observe?.(one.unit, reads, needs);
        if (onLive !== undefined) onLive(one, now, live);
        const before = await managedColumns(one, live, base.account);
        const still = now === undefined ? 0 : await managedColumns({ ...one, unit: now }, live, account);
        return Math.max(0, before - still);
      },
      () => 0,
    );
    found.set(keyOf(one), { ...known, columns });
  }
  return [...found.values(), ...releasedRelations(base, account)].sort((a, b) => byText(a.address, b.address));
}

/** The relations that the base manifests declare and the current ones do not. Those of an object that is released itself are not listed. */
function releasedRelations(base: BaseView, account: Account): readonly Released[] {
  const all = [...base.unitByObject].filter(([, { kind }]) => kind.related !== undefined);
  const current = unitsByObject(account, [...new Set(all.map(([, { kind }]) => kind))]);
  return all.flatMap(([object, { kind, unit: before }]) => {
    const now = current.get(object)?.unit;
    const still = now && kind.related?.(now.manifest, account);
    if (still === undefined) return [];
    return [...(kind.related?.(before.manifest, base.account) ?? [])]
      .filter((id) => !still.has(id))
      .map((id) => ({ address: `${before.address}#${id}` as const, id, name: nameOfLive(id, base.account) ?? id, columns: 0 }));
  });
}

/** The same for an integration and its schemas. */
const keyOf = ({ kind, unit: { liveId = "" } }: Pair): string =>
  `${kind.schemas !== undefined || kind.name === kindNames.integration ? kindNames.integration : kind.name} ${liveId}`;

const managedColumns = async ({ kind, unit }: Pair, live: unknown, view: Account): Promise<number> =>
  kind.diff(unit, live, view).size?.managedColumns ?? 0;

const nameOf = ({ unit: { liveId = "", address } }: Pair, { account }: BaseView): string =>
  nameOfLive(liveId, account) ?? parseAddress(address)?.name ?? "";

const nameOfLive = (id: string, account: Account): string | undefined =>
  lists.map((list) => account.list(list).byId.get(id)?.name).find((name) => name !== undefined);

// A selector by live name covers what has such a name. A rename in the account takes an integration out of it, and nothing in the manifests
// shows that. So the records keep what each selector covered, by id.

/** An integration that a selector covered and that has another name now. */
interface Left {
  readonly kind: Kind;
  readonly manifest: Manifest;
  readonly id: string;
  readonly before: string;
  readonly now: string;
}

interface Coverage {
  /** For the records: what each selector covers, and what has left it by a rename. Absent if no manifest has such a selector. */
  readonly covered?: NonNullable<Plan["covered"]>;
  readonly manual: readonly Manual[];
}

interface CoverageInput {
  readonly account: Account;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
}

/** What selectors by live name cover, and what has left them. Reads the schemas of the latter. */
async function checkCoverage(input: CoverageInput): Promise<Coverage> {
  const { account } = input;
  const covered = new Map<Address, Map<string, string>>();
  const left: Left[] = [];
  const { byId } = account.list(integrations);
  for (const manifest of account.manifests) {
    const kind = kindNamed(manifest.kind);
    const selectors = (kind?.selection?.selectors(manifest) ?? []).filter(({ names }) => names !== undefined);
    if (kind === undefined || selectors.length === 0) continue;
    const ids = getOrAdd(covered, manifest.address, () => new Map<string, string>());
    for (const selector of selectors)
      for (const one of selectIntegrations(selector, account)) {
        const live = one.state === "found" ? byId.get(one.id) : undefined;
        if (live !== undefined) ids.set(live.id, live.name);
      }
    const labels = (id: string) => account.naming.manifests.get(id)?.labels ?? {};
    for (const [id, before] of account.covered.get(manifest.address) ?? []) {
      const now = byId.get(id)?.name;
      const wasSelected = selectors.some((selector) => integrationMatcher(selector)({ names: [before], labels: labels(id) }));
      if (now === undefined || now === before || ids.has(id) || !wasSelected || kind.selection?.covers(manifest, id, account) === true)
        continue;
      ids.set(id, before);
      left.push({ kind, manifest, id, before, now });
    }
  }
  const manual = await Promise.all(left.map((one) => stepFor(one, left, input)));
  if (covered.size === 0) return { manual };
  const entries = [...covered].sort(([a], [b]) => byText(a, b));
  return { manual, covered: Object.fromEntries(entries.map(([address, ids]) => [address, sortedRecord(ids)])) };
}

const sortedRecord = (ids: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries([...ids].sort(([a], [b]) => byText(a, b)));

async function stepFor(one: Left, all: readonly Left[], input: CoverageInput): Promise<Manual> {
  const { kind, manifest, id, before, now } = one;
  const { account } = input;
  const isTaken = account.list(integrations).byName.has(before) || all.some((other) => other.before === before && other.id !== id);
  const lost = (await kind.selection?.lost(manifest, id, input)) ?? "";
  const address = kind.schemas === undefined ? `${manifest.address}#${id}` : schemasAddress(isTaken ? id : before);
  return {
    address,
    path: "/name",
    manifests: [manifest.address],
    expected: before,
    actual: now,
    instruction: `Integration ${before} (${id}) was renamed ${now} and left ${manifest.address}: ${lost}. To keep it as it was, add ${JSON.stringify(now)} to the names of the selector. If that is no longer needed, give it up:`,
    command: giveUpCommand(address),
    // The records show it, also without a base.
    origin: "drift",
    obligation: true,
    liveId: id,
  };
}
