import { kinds } from "../kinds/index.ts";
import { type DiffResult, emptyDiff } from "../kinds/kind.ts";
import { type Address, byText } from "../model/address.ts";
import { accountName } from "../model/config.ts";
import type { Blocked, DraftItem, NamedObject, Plan } from "../model/plan.ts";
import type { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { cachedReads, columnBudget, type RunReads } from "./cached-reads.ts";
import { checkPolicies } from "./check-policies.ts";
import { type BaseView, compareUnits, objectOf } from "./compare.ts";
import { checkGuards } from "./guards.ts";
import { ignoring } from "./ignore.ts";
import { type ObservedAccount, observeAccount } from "./observe.ts";
import { makePlan } from "./plan.ts";
import { heldBack, recover, unknownOutcome } from "./recover.ts";
import { everything, type Scope } from "./scope.ts";
import type { PlanOptions, Session } from "./session.ts";

// The flow on one page: manifests and bindings say which live objects are meant (observeWorld), every unit is read and compared (compareUnits),
// the differences become a plan (makePlan) that guards judge (judgeGuards). Planning stops here; `apply` (apply.ts) goes on with the same plan:
// there is no second engine that could see it otherwise.

/** One round of observing and planning. The first has everything in scope; a later one of an apply has only what waited. */
export interface Round {
  readonly reads: RunReads;
  readonly scope: Scope;
  /** Ids of integrations that this run has created: their schemas may still grow. */
  readonly fresh: ReadonlySet<string>;
  readonly createdBefore: number;
  readonly exposedBefore: number;
}

export async function plan(session: Session, options: PlanOptions = {}, kind: Plan["kind"] = "Plan"): Promise<Plan> {
  return planRound(session, options, firstRound(session, options), kind);
}

export const firstRound = (session: Session, options: PlanOptions): Round => ({
  reads: cachedReads(session.reads),
  scope: options.scope ?? everything,
  fresh: new Set(),
  createdBefore: 0,
  exposedBefore: 0,
});

export async function planRound(session: Session, options: PlanOptions, round: Round, kind: Plan["kind"] = "Plan"): Promise<Plan> {
  const { project, clock } = session;
  const { settings, resources } = project;
  const compared = inScope(resources, round.scope);
  const broken = project.problems.some(({ severity }) => severity === "error");
  const bindings = new Map(session.records().bindings);
  const recovered = broken
    ? { ids: new Map<Address, string>(), unknown: new Map<Address, string>(), settled: [] }
    : await recover(
        session.records().open.filter(({ address }) => round.scope.item(address)),
        bindings,
        round.reads,
      );

  const today = clock.now().toISOString().slice(0, 10);
  const { ignored, problems: expiredIgnores } = ignoring([...settings.ignore, ...(options.ignore ?? [])], today);
  const view = (of: readonly Resource[], which: readonly Resource[]): Promise<ObservedAccount> =>
    observeAccount({
      resources: of,
      compared: which,
      bindings,
      recovered: recovered.ids,
      fresh: round.fresh,
      reads: round.reads,
      taggedBy: settings.defaults.taggedBy,
      writeSecrets: options.writeSecrets ?? (() => false),
      longestSeen: session.records().longestSeen,
      ignored,
      listUnmanaged: options.listUnmanaged,
      maxBodyBytes: settings.client.maxBodyBytes,
    });
  const wanted = broken ? [] : compared;
  const observed = await view(resources, wanted);
  const base =
    options.base === undefined ? undefined : baseView(observed, await view(options.base.resources, alike(options.base.resources, wanted)));
  const { concurrency, maxColumnReads } = settings.client;
  const claimColumns = columnBudget(maxColumnReads);
  const judging = checkPolicies({
    world: observed.world,
    compared: wanted,
    options,
    kindOfPlan: kind,
    today,
    concurrency,
    claimColumns,
    locate: project.locate,
  });
  const compare = await compareUnits({
    observed,
    compared: wanted,
    scope: round.scope,
    reads: round.reads,
    onProgress: session.onProgress,
    base: base?.view,
    concurrency,
    needs: { judgedColumns: judging.judgedColumns, claimColumns },
    inspect: judging.inspect,
  });
  const judged = broken ? { complete: true } : await judging.judgeRest(round.reads, round.scope, compare.configured);

  const { world, suspicions } = observed;
  const complete = observed.complete && compare.complete && judged.complete && !broken;
  const whyNotCreate = (item: DraftItem): Blocked | undefined => {
    const held = heldBack(item, recovered.unknown, session.records().created);
    if (held !== undefined) return held;
    if (!complete && item.action === "create")
      return {
        address: item.address,
        code: "E_READ_FAILED",
        message:
          "It looks missing, and a read failed: nothing is created from an incomplete picture. It is planned again once all reads succeed.",
      };
    const [suspicion] = suspicions;
    if (suspicion === undefined || item.action !== "create" || options.assumeCompleteLists === true) return undefined;
    return {
      address: item.address,
      code: "E_LIST_INCOMPLETE",
      message: `${suspicion} What looks missing may exist, so nothing is created on the word of that list. If it is complete, give --assume-complete-lists.`,
    };
  };
  const unmeant =
    broken || !observed.complete
      ? []
      : round.scope.problems(
          compared.map(({ address }) => address),
          compare.parts,
        );
  const meant = new Set([
    ...compare.liveIds,
    ...[...world.identities.values()].flatMap((identity) => (identity.state === "found" ? [identity.id] : [])),
  ]);
  const found = compare.found.map((one) => withoutStrangers(one, options.scope ?? everything));
  const deferred = found.flatMap((one) => one.deferred);
  // An unknown outcome is told whether or not a manifest still asks for the object.
  const told = new Set(found.flatMap(({ items, blocked }) => [...items, ...blocked].map(({ address }) => address)));
  const untold = [...recovered.unknown].flatMap(([address, why]) => (told.has(address) ? [] : [unknownOutcome(address, why)]));
  return makePlan({
    kind,
    planId: session.newId(),
    createdAt: clock.now().toISOString(),
    version: session.version,
    target: settings.target,
    account: accountName(settings.baseUrl),
    ...(session.git === undefined ? {} : { git: session.git }),
    snapshot: session.snapshot,
    manifestDigest: project.manifestDigest,
    found: [...found, { ...emptyDiff, blocked: untold }],
    problems: [
      ...project.problems,
      ...expiredIgnores,
      ...unmeant,
      ...observed.problems,
      ...(base?.problems ?? []),
      ...judging.problems(deferred),
    ],
    complete,
    equal: compare.equal.length,
    unmanaged: {
      integrations: unmanaged(world.integrations, meant),
      tags: unmanaged(world.tags, meant),
      ...(options.listUnmanaged === true ? { tables: found.flatMap(({ unmanagedTables = [] }) => unmanagedTables) } : {}),
    },
    readCalls: session.calls(),
    inScope: round.scope.item,
    whyNotCreate,
    guards: (items) =>
      checkGuards(items, {
        limits: settings.guards,
        population: compare.liveIds.length,
        createdBefore: round.createdBefore,
        exposedBefore: round.exposedBefore,
        allowed: options.allow ?? new Map(),
        resources,
        deferred,
        inScope: round.scope.item,
        policy: judging.findings(),
      }),
    policy: judging.findings(),
    locate: project.locate,
  });
}

/** What waits for something that this run leaves out would wait for ever: it is blocked. */
function withoutStrangers(found: DiffResult, scope: Scope): DiffResult {
  const stuck = found.deferred.flatMap(({ address, waitsFor, liveId }) => {
    const stranger = liveId === undefined ? waitsFor.find((other) => !scope.item(other)) : undefined;
    return stranger === undefined ? [] : [{ address, stranger }];
  });
  if (stuck.length === 0) return found;
  return {
    ...found,
    deferred: found.deferred.filter(({ address }) => !stuck.some((one) => one.address === address)),
    blocked: [
      ...found.blocked,
      ...stuck.map(({ address, stranger }) => ({
        address,
        code: "E_DEPENDENCY",
        message: `It needs ${stranger}, which does not exist yet and is left out of this run by --only or --exclude.`,
      })),
    ],
  };
}

/** The base manifests that can be about the same objects: those of the kinds that are compared, since a name may have changed. */
function alike(resources: readonly Resource[], compared: readonly Resource[]): readonly Resource[] {
  const wanted = new Set(compared.map(({ kind }) => kind));
  return resources.filter(({ kind }) => wanted.has(kind));
}

/** The units that the base manifests make of the same account, by the live object that they are about. */
function baseView(
  now: ObservedAccount,
  { world, unreadLists }: ObservedAccount,
): { readonly view: BaseView; readonly problems: readonly Problem[] } {
  const found = kinds.flatMap((kind) =>
    kind
      .units(
        world.resources.filter((resource) => resource.kind === kind.name),
        world,
      )
      .units.map((unit) => [objectOf(kind, unit), unit] as const),
  );
  const unread = [...unreadLists].filter((name) => !now.unreadLists.has(name));
  const why: Problem = {
    code: "W_BASE_UNREAD",
    severity: "warning",
    summary: "Origins are not known",
    message: `The manifests at the base ref need a list that could not be read (${unread.join(", ")}), so where the differences come from can't be told.`,
  };
  return { view: { world, unitByObject: new Map(found), isWhole: unread.length === 0 }, problems: unread.length === 0 ? [] : [why] };
}

/** The manifests that can have units in scope. Schema configurations are layers of each other: where one may, all are needed. */
function inScope(resources: readonly Resource[], scope: Scope): readonly Resource[] {
  const named = new Set(resources.filter(({ address }) => scope.manifest(address)));
  const layers = [...named].some(({ kind }) => kind === "SchemaConfig");
  return resources.filter(
    (resource) => kinds.some(({ name }) => name === resource.kind) && (named.has(resource) || (layers && resource.kind === "SchemaConfig")),
  );
}

/** Live objects that no manifest means, by name. */
function unmanaged(live: readonly NamedObject[], meant: ReadonlySet<string>): readonly NamedObject[] {
  return live
    .filter(({ id }) => !meant.has(id))
    .map(({ id, name }) => ({ id, name }))
    .sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id));
}
