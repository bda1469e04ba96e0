import { kinds } from "../kinds/index.ts";
import { accountName } from "../model/account-name.ts";
import { type Address, byText } from "../model/address.ts";
import type { Blocked, DraftItem, Named, Plan } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import { compareUnits } from "./compare.ts";
import { judgeGuards } from "./guards.ts";
import { recover } from "./intents.ts";
import { makePlan } from "./plan.ts";
import { onceOnly, type RunReads } from "./reads.ts";
import { everything, type Scope } from "./scope.ts";
import type { PlanOptions, Session } from "./session.ts";
import { observeWorld } from "./world.ts";

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
  reads: onceOnly(session.reads),
  scope: options.scope ?? everything,
  fresh: new Set(),
  createdBefore: 0,
  exposedBefore: 0,
});

export async function planRound(session: Session, options: PlanOptions, round: Round, kind: Plan["kind"] = "Plan"): Promise<Plan> {
  const { project, clock } = session;
  const { settings, resources } = project;
  const compared = resources.filter((resource) => kinds.some(({ name }) => name === resource.kind) && mayBeInScope(resource, round.scope));
  const broken = project.problems.some(({ severity }) => severity === "error");
  const bindings = new Map(session.bindings());
  const recovered = broken
    ? { ids: new Map<Address, string>(), unknown: new Map<Address, string>() }
    : await recover(
        session.openIntents().filter(({ address }) => round.scope.item(address)),
        bindings,
        round.reads,
      );

  const observed = await observeWorld({
    resources,
    compared: broken ? [] : compared,
    bindings,
    recovered: recovered.ids,
    fresh: round.fresh,
    reads: round.reads,
    taggedBy: settings.defaults.taggedBy,
    writeSecrets: options.writeSecrets ?? (() => false),
  });
  const compare = await compareUnits(observed, broken ? [] : compared, round.scope, round.reads, session.onProgress);

  const { world, suspicions } = observed;
  const whyNotCreate = (item: DraftItem): Blocked | undefined => {
    const unknown = recovered.unknown.get(item.address);
    if (unknown !== undefined)
      return {
        address: item.address,
        code: "E_UNKNOWN_OUTCOME",
        message: `An earlier run sent a create for it and did not learn what became of it. ${unknown} It is not sent again until a person says what happened.`,
        command: `dimsync resolve ${item.address} --created=ID`,
      };
    const [suspicion] = suspicions;
    if (suspicion === undefined || item.action !== "create" || options.assumeCompleteLists === true) return undefined;
    return {
      address: item.address,
      code: "E_LIST_INCOMPLETE",
      message: `${suspicion} What looks missing may exist, so nothing is created on the word of that list. If it is complete, give --assume-complete-lists.`,
    };
  };
  const meant = new Set([
    ...compare.liveIds,
    ...[...world.identities.values()].flatMap((identity) => (identity.state === "found" ? [identity.id] : [])),
  ]);
  const deferred = compare.found.flatMap((found) => found.deferred);
  return makePlan({
    kind,
    planId: session.newId(),
    createdAt: clock.now().toISOString(),
    version: session.version,
    target: settings.target,
    account: accountName(settings.baseUrl),
    ...(session.git === undefined ? {} : { git: session.git }),
    manifestDigest: project.manifestDigest,
    found: compare.found,
    problems: [...project.problems, ...observed.problems],
    complete: observed.complete && compare.complete && !broken,
    equal: compare.equal.length,
    unmanaged: {
      integrations: unmanaged(world.integrations, meant),
      tags: unmanaged(world.tags, meant),
    },
    readCalls: session.calls(),
    inScope: round.scope.item,
    whyNotCreate,
    guards: (items) =>
      judgeGuards(items, {
        limits: settings.guards,
        population: compare.liveIds.length,
        createdBefore: round.createdBefore,
        exposedBefore: round.exposedBefore,
        allowed: options.allow ?? new Map(),
        resources,
        deferred,
      }),
    policy: [],
    locate: project.locate,
  });
}

/** Whether a manifest can have units in scope: its own address is, or that of one of its parts may be. */
function mayBeInScope(resource: Resource, scope: Scope): boolean {
  return scope.unit(resource.address) || resource.kind === "SchemaConfig";
}

/** Live objects that no manifest means, by name. */
function unmanaged(live: readonly Named[], meant: ReadonlySet<string>): readonly Named[] {
  return live
    .filter(({ id }) => !meant.has(id))
    .map(({ id, name }) => ({ id, name }))
    .sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id));
}
