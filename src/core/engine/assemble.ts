import { kindNamed, kinds } from "../kinds/index.ts";
import { type Account, type DiffResult, emptyDiff } from "../kinds/kind.ts";
import { integrations } from "../kinds/lists.ts";
import { schemasAddress } from "../kinds/manifests.ts";
import { nameMatcher } from "../kinds/patterns/names.ts";
import { isConfigured } from "../kinds/select.ts";
import type { Project } from "../manifests/project.ts";
import { type Address, byText, objectPattern } from "../model/address.ts";
import { defined } from "../model/json/json.ts";
import { keptJson } from "../model/kept.ts";
import { groupBy } from "../model/maps.ts";
import type { Blocked, DraftItem, Item, NamedObject, Plan, Unmanaged } from "../model/plan.ts";
import type { Problem } from "../model/problem.ts";
import { accountName } from "../model/settings/config.ts";
import { type KnownAddresses, schemasOfNames, unknownAllowances, unmatchedIgnores } from "./checks/addresses.ts";
import { allowances, unusedAllowance } from "./checks/allow.ts";
import { checkGuards, type GuardInput } from "./checks/guards.ts";
import type { PolicyCheck } from "./checks/policies.ts";
import { isStrict, stricterGuards } from "./loosened/settings.ts";
import { type Findings, makePlan, type PlanHead, type PlanRules } from "./plan.ts";
import { blockedByEarlierRun, type Recovered, unknownOutcome } from "./recover.ts";
import { type ComparedRound, hasErrors, type RoundView } from "./round.ts";
import type { PlanOptions, Run } from "./run.ts";
import { everything, isCurrent, type Scope, unmatchedPaths } from "./scope.ts";

/** The results of the steps before. */
export interface RoundParts {
  readonly recovered: Recovered;
  readonly observed: RoundView;
  readonly policies: PolicyCheck;
  readonly compared: ComparedRound;
  readonly git: Plan["git"];
}

/** The plan of a run, from the results of the earlier steps. */
export function assemblePlan(run: Run, parts: RoundParts): Plan {
  const { project, scope } = run;
  const { observed, policies, compared, recovered, git } = parts;
  const found = compared.found.map((one) => blockOutsideScope(one, run.options.scope ?? everything));
  const deferred = found.flatMap((one) => one.deferred);
  const complete = observed.complete && compared.complete && !hasErrors(project);
  const findings: Findings = {
    differences: [
      ...found,
      { ...emptyDiff, manual: leftSteps(observed, compared) },
      unreportedUnknowns(found, recovered),
      { ...emptyDiff, unverifiable: policies.unverifiable() },
    ],
    problems: [
      ...project.problems.filter(
        ({ code }) => code !== "W_NO_MANIFESTS" || observed.problems.every((one) => one.code !== "E_NO_MANIFESTS"),
      ),
      ...observed.problems,
      ...unmatched(run, parts),
      ...unknownInCatalog(run, parts),
      ...policies.problems({ deferred, complete }),
    ],
    complete,
    equal: compared.equal.length,
    unmanaged: unmanaged(run, parts),
    ...defined({ loosened: compared.loosened, released: compared.released }),
    ...columnsOf(run, found),
    ...(run.kind === "Plan" ? defined({ covered: compared.coverage.covered, kept: keptIn(found) }) : {}),
    policy: policies.findings().filter(({ state }) => complete || state !== "fixed"),
    exemptions: policies.exemptions(),
    readCalls: run.calls(),
  };
  return makePlan(headOf(run, git), findings, {
    inScope: (address) => scope.item(address, observed.account),
    protectOnly: run.options.protectOnly === true,
    whyNotSend: (item) => whyNotSend(item, run, parts),
    hasFailed: (address) => run.rounds.failed.has(address),
    guards: (items) => guardFindings(items, run, { ...parts, deferred, complete }),
    locate: project.locate,
    isStopped: hasErrors(project) || run.signal.aborted,
  });
}

/** Integrations that left a selector, except for those that `ignore` in the config excludes. */
const leftSteps = ({ account }: RoundView, { coverage }: ComparedRound): DiffResult["manual"] =>
  coverage.manual.filter(({ address, path }) => !account.ignored(address, path));

function headOf(run: Run, git: Plan["git"]): PlanHead {
  const { kind, options: given } = run;
  const { scope = everything } = given;
  const { settings, manifestDigest } = run.project;
  const options = kind === "Plan" ? recordedOptions(given) : {};
  return {
    kind,
    planId: run.newId(),
    createdAt: run.clock.now().toISOString(),
    tool: { name: "dimsync", version: run.version },
    target: settings.target,
    ...(settings.severalTargets === undefined ? {} : { severalTargets: settings.severalTargets }),
    account: accountName(settings.baseUrl),
    ...(git === undefined ? {} : { git }),
    ...(settings.protected ? { protected: true } : {}),
    ...(scope === everything ? {} : { partial: true }),
    ...(given.review === "after merge" ? { loosenedSince: "applied" } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    manifestDigest: manifestDigest(),
    ...elsewhereCounts(run.project),
  };
}

/** Those that change what is sent. */
const recordedOptions = ({ scope, protectOnly }: PlanOptions): NonNullable<Plan["options"]> => ({
  ...Object.fromEntries(Object.entries(scope?.patterns ?? {}).filter(([, globs]) => globs.length > 0)),
  ...(protectOnly === true ? { protectOnly } : {}),
});

/** The manifests of objects that only other targets have. */
function elsewhereCounts({ elsewhere }: Project): Pick<Plan, "elsewhere"> {
  const ofObjects = elsewhere.filter(({ kind }) => kindNamed(kind)?.identify !== undefined);
  const counts = [...groupBy(ofObjects, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length] as const);
  return counts.length === 0 ? {} : { elsewhere: Object.fromEntries(counts) };
}

/** What is kept of the integrations that were compared, for the records. */
function keptIn(found: readonly DiffResult[]): Plan["kept"] {
  const byId = new Map(found.flatMap(({ kept }) => (kept === undefined ? [] : [[kept.id, kept] as const])));
  return byId.size === 0 ? undefined : keptJson(byId);
}

/** New and gone columns, in the order of the units, if columns are reviewed. */
function columnsOf({ review }: Run, found: readonly DiffResult[]): Pick<Plan, "newColumns" | "goneColumns" | "neverReviewed"> {
  if (review === undefined) return {};
  const all = found.flatMap((one) => one.review ?? []);
  return {
    newColumns: all.flatMap(({ newColumns }) => newColumns),
    goneColumns: all.flatMap(({ goneColumns }) => goneColumns),
    neverReviewed: all.flatMap(({ neverReviewed }) => neverReviewed ?? []),
  };
}

/** Why an object or relation that looks missing may not be created, or one that looks needless removed, if so. What a failed read could hide is blocked before. */
function whyNotSend(item: DraftItem, run: Run, { recovered, observed }: RoundParts): Blocked | undefined {
  const { unknown } = recovered;
  const { created, bindings } = run.records();
  const blocked = blockedByEarlierRun(item, { unknown, created, bindings });
  if (blocked !== undefined || item.action === "relate") return blocked;
  const { address } = item;
  const isCreate = item.action === "create";
  // Assets are in no list, but integrations show them. A tag selects integrations.
  const needed = (isCreate ? kindNamed(item.kind)?.list : undefined) ?? integrations;
  const suspicion = observed.suspicions.find(({ list }) => list === needed);
  if (suspicion === undefined) return undefined;
  return {
    address,
    code: "E_LIST_INCOMPLETE",
    message: `${suspicion.why} ${isCreate ? "An object that looks missing may exist, so nothing is created" : "An integration that the manifest selects may be missing, so no relation is removed"} based on that list.`,
  };
}

function guardFindings(
  items: readonly Item[],
  run: Run,
  { observed, compared, policies, deferred, complete }: RoundParts & Pick<DiffResult, "deferred"> & { readonly complete: boolean },
): ReturnType<PlanRules["guards"]> {
  const { options, scope, rounds, today, kind } = run;
  const { settings, manifests } = run.project;
  const { addressesOf } = observed.account;
  const isProtecting = options.protectOnly === true;
  const { guards, unused } = checkGuards(items, {
    limits: stricterGuards(settings.guards, options.review === "before merge" ? options.base?.settings?.guards : undefined),
    isStrict: isStrict(run),
    loosened: complete ? (compared.loosened ?? []) : [],
    reviewedEntries: options.base?.settings?.allow,
    sizes: compared.found.flatMap(({ size }) => size ?? []),
    before: rounds.counted,
    allowed: options.allow ?? new Map(),
    entries: allowances(settings.allow, today).current,
    isNamed: (pattern, address) => addressesOf(address).some(nameMatcher([objectPattern(pattern)])),
    manifests,
    // With --protect-only, nothing is created, and so nothing waits for a create.
    deferred: isProtecting ? [] : deferred,
    inScope: (address) => scope.item(address, observed.account),
    unscopedSchemasOf: (liveId) => unscopedSchemas(liveId, run, observed.account),
    policy: policies.refusing(),
    // New columns elsewhere must not stop a run that only protects.
    unreviewed: isProtecting ? [] : unreviewedColumns(compared.found),
  });
  const isWhole = kind === "Plan" && !isProtecting && scope === everything && complete;
  const known = knownAddresses(run, { observed, compared });
  // An unknown address has its own problem.
  const leftOver = isWhole ? unused.filter((entry) => unknownAllowances([entry], known).length === 0) : [];
  return { guards, problems: leftOver.map(unusedAllowance) };
}

/** The address of the schemas of a live integration, if a SchemaConfig selects it and the run leaves them out. */
function unscopedSchemas(liveId: string, { options: { scope = everything } }: Run, account: Account): Address | undefined {
  const address = schemasAddress(account.naming.ofLive.get(liveId) ?? liveId);
  return isConfigured(address, account) && !scope.item(address, account) ? address : undefined;
}

/** The columns that nobody has reviewed and that refuse the plan, by integration. */
const unreviewedColumns = (found: readonly DiffResult[]): GuardInput["unreviewed"] =>
  found.flatMap(({ review }) => {
    if (review?.refuses !== true) return [];
    const { newColumns, neverReviewed } = review;
    const address = neverReviewed?.address ?? newColumns[0]?.address ?? "";
    return [{ address, columns: newColumns.length + (neverReviewed?.columns ?? 0) }];
  });

/** Addresses of --only, --exclude, `ignore` and `allow` that match nothing. Unknown while manifests or reads fail. */
function unmatched(run: Run, { observed, compared }: RoundParts): readonly Problem[] {
  const { project, scope, today, options } = run;
  // What protects does not wait for a correction of these.
  if (options.protectOnly === true) return [];
  const problems = [...observed.problems, ...compared.found.flatMap((one) => one.problems)];
  if (hasErrors(project) || !observed.complete || hasErrors({ problems })) return [];
  if (scope === everything) {
    const { ignore, allow } = project.settings;
    const known = knownAddresses(run, { observed, compared });
    return [
      ...unmatchedIgnores(
        ignore.filter((entry) => isCurrent(entry, today)),
        known,
      ),
      ...unmatchedPaths(compared.missingPaths),
      ...unknownAllowances(allowances(allow, today).current, known),
    ];
  }
  // What only manifests can match is checked before anything is read.
  if (observed.inScope.every(({ kind }) => kindNamed(kind)?.schemas === undefined)) return [];
  return scope.problems([...project.manifests.map(({ address }) => address), ...compared.parts]);
}

function knownAddresses({ project, options }: Run, { observed, compared }: Pick<RoundParts, "observed" | "compared">): KnownAddresses {
  const { account } = observed;
  const { manifests, elsewhere, settings } = project;
  const addresses = (all: readonly { readonly address: Address }[] = []): readonly Address[] => all.map(({ address }) => address);
  const earlier = [...account.kept.values()].flatMap(({ identity: [name] }) => name ?? []);
  const others = [...elsewhere, ...(options.base?.manifests ?? [])];
  return {
    now: [...new Set([...compared.parts.flatMap(account.addressesOf), ...addresses(manifests)])],
    others: [
      ...addresses(others),
      ...account.bindings.keys(),
      ...schemasOfNames([...earlier, ...account.kept.keys(), ...others.map(({ name }) => name)]),
    ],
    hasOtherTargets: settings.severalTargets === true,
  };
}

/** Entries of the catalog without an integration; not known if the list of integrations may be incomplete, or was not read: then it is empty. */
function unknownInCatalog({ review }: Run, { observed }: RoundParts): readonly Problem[] {
  const { items } = observed.account.list(integrations);
  const isSuspicious = observed.suspicions.some(({ list }) => list === integrations);
  return items.length === 0 || !observed.complete || isSuspicious ? [] : (review?.problems(items) ?? []);
}

/** An unknown outcome is reported even if no manifest declares the object any more. */
function unreportedUnknowns(found: readonly DiffResult[], { unknown }: Recovered): DiffResult {
  const reported = new Set(found.flatMap(({ items, blocked }) => [...items, ...blocked].map(({ address }) => address)));
  return { ...emptyDiff, blocked: [...unknown].flatMap(([address, why]) => (reported.has(address) ? [] : [unknownOutcome(address, why)])) };
}

/** Blocks what waits for something that --only or --exclude leaves out: it would wait forever. */
function blockOutsideScope(found: DiffResult, scope: Scope): DiffResult {
  const outOfScope = found.deferred.flatMap(({ address, waitsFor, liveId }) => {
    const outside = liveId === undefined ? waitsFor.find((other) => !scope.item(other)) : undefined;
    return outside === undefined ? [] : [{ address, outside }];
  });
  if (outOfScope.length === 0) return found;
  return {
    ...found,
    deferred: found.deferred.filter(({ address }) => !outOfScope.some((one) => one.address === address)),
    blocked: [
      ...found.blocked,
      ...outOfScope.map(
        ({ address, outside }): Blocked => ({
          address,
          code: "E_DEPENDENCY",
          message: `It needs ${outside}, which does not exist yet and is left out of this run by --only or --exclude.`,
        }),
      ),
    ],
  };
}

/** Live objects that no manifest stands for. */
function unmanaged({ options }: Run, { observed, compared }: RoundParts): Omit<Unmanaged, "columns"> {
  const { list, identities } = observed.account;
  const managed = new Set([
    ...compared.liveIds,
    ...[...identities.values()].flatMap((identity) =>
      identity.state === "found" || identity.state === "blocked" ? (identity.id ?? []) : [],
    ),
  ]);
  const tables = options.listUnmanaged === true ? compared.found.flatMap(({ unmanagedTables = [] }) => unmanagedTables) : undefined;
  const lists = kinds.flatMap((kind) => kind.list ?? []);
  const objects = lists.map((one) => [one.name, namesOf(list(one).items, managed)] as const);
  return { ...Object.fromEntries(objects), ...(tables === undefined ? {} : { tables }) };
}

/** By name, without the managed ones. */
function namesOf(live: readonly NamedObject[], managed: ReadonlySet<string>): readonly NamedObject[] {
  return live
    .filter(({ id }) => !managed.has(id))
    .map(({ id, name }) => ({ id, name }))
    .sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id));
}
