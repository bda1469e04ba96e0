import { type Address, toAddress } from "../../../src/core/base/model/address.ts";
import type { LiveIntegration, LiveUser } from "../../../src/core/base/model/live.ts";
import type { Manifest } from "../../../src/core/base/model/manifest.ts";
import { systemClock } from "../../../src/core/base/model/runtime/clock.ts";
import type { Reads } from "../../../src/core/base/model/service.ts";
import { kinds } from "../../../src/core/kinds/index.ts";
import { type Account, type DiffResult, emptyDiff, type Identity } from "../../../src/core/kinds/kind.ts";
import { type LiveTag, tags } from "../../../src/core/kinds/lists.ts";
import { accountLists, indexed } from "../../../src/core/kinds/lookup.ts";
import { withIdentities } from "../../../src/core/kinds/select.ts";
import type { Project } from "../../../src/core/manifests/project.ts";
import { type NotKeptBefore, noOverlay, overlays } from "../../../src/core/plan/overlay.ts";
import { cachedReads } from "../../../src/core/plan/reads/cached-reads.ts";
import { noRounds, type Run } from "../../../src/core/plan/run.ts";
import { everything } from "../../../src/core/plan/scope.ts";
import { inLists, type Lists } from "../steps.ts";

/** A manifest in the form that kinds get. `more` replaces its other members. */
export function resourceOf(kind: string, name: string, spec: unknown, more: Partial<Manifest> = {}): Manifest {
  return {
    kind,
    name,
    address: toAddress(kind, name),
    id: undefined,
    labels: {},
    lifecycle: { create: kind === "Asset" || kind === "Tag" ? "never" : "ifMissing" },
    spec,
    place: { file: "main.yaml", document: 0, pointer: "" },
    ...more,
  };
}

export const warehouse = { id: "d-12", name: "Warehouse", type: "snowflake" };

export const liveIntegration = (id: string, name: string, source: string, more: Partial<LiveIntegration> = {}): LiveIntegration => ({
  id,
  name,
  createdAt: "2026-02-02T09:30:00.000Z",
  paused: false,
  source: { id: `s-${id}`, name: source, type: "postgres" },
  destination: warehouse,
  ...more,
});

export const liveTag = (id: string, name: string, more: Partial<LiveTag> = {}): LiveTag => ({
  id,
  name,
  description: "as it is",
  owner: "u-1",
  origin: "custom",
  createdAt: undefined,
  lastUpdatedAt: undefined,
  taggedResources: [],
  ...more,
});

export const user = (id: string, email: string, name: string): LiveUser => ({ id, email, name, createdAt: undefined });

/** The members of a view that hold nothing. */
export const nothingElse = {
  covered: new Map(),
  kept: new Map(),
  now: "2026-11-28T08:00:00.000Z",
  isRecording: true,
  naming: { ofLive: new Map(), ofManifest: new Map(), manifests: new Map() },
  addressesOf: (address: Address) => [address],
  goneIds: new Set<string>(),
  bindings: new Map(),
  earlierCreates: [],
  elsewhere: new Set<Address>(),
  isDrift: false,
  recovered: new Map(),
  fresh: new Set<string>(),
  taggedBy: undefined,
  ...noOverlay,
  comparable: [],
  isStopped: false,
  problems: [],
  unreadLists: new Set<never>(),
  unreadEntries: new Map(),
  suspicions: [],
  isComplete: true,
} as const;

/** Members of a view, and what its overlay is made of. */
export interface OverlaidAccount extends Partial<Account> {
  readonly notKept?: NotKeptBefore;
}

export const withOverlay = ({ notKept = new Map(), ignored = () => false, ...more }: OverlaidAccount): Partial<Account> => ({
  ...more,
  ignored,
  overlay: overlays(ignored, notKept),
});

/** A run that compares everything with what `reads` returns, and what of it a comparison needs. */
export const comparingRun = (reads: object, { concurrency = 1, ...more }: Partial<Run> & { readonly concurrency?: number } = {}): Run => {
  const run: Partial<Run> = {
    options: {},
    scope: everything,
    reads: cachedReads(reads as Reads),
    clock: systemClock,
    signal: new AbortController().signal,
    onProgress: undefined,
    rounds: noRounds,
    project: { settings: { client: { concurrency } } } as Project,
    ...more,
  };
  return run as Run; // nothing else of it is needed
};

/** Members of a view, and lists. */
export interface SmallAccount extends OverlaidAccount {
  readonly integrations?: readonly LiveIntegration[];
  readonly tags?: readonly LiveTag[];
  readonly users?: readonly LiveUser[];
}

/**
 * The account as read, with all objects identified in the order of kinds. `more` replaces members
 * of the small account.
 */
export function accountViewOf(manifests: readonly Manifest[], { integrations, tags, users, ...more }: SmallAccount = {}): Account {
  const identities = new Map<Address, Identity>();
  const lists = {
    integrations: integrations ?? [liveIntegration("8f1c", "Orders", "orders-pg"), liveIntegration("b27d", "Billing", "billing-pg")],
    tags: tags ?? [liveTag("t-1", "PII")],
    users: users ?? [user("u-1", "dana@example.com", "Dana"), user("u-2", "bot@example.com", "Automation")],
  };
  const view = indexed({
    ...nothingElse,
    manifests,
    comparable: manifests,
    identities,
    list: accountLists(new Map(Object.entries(lists))),
    ...withOverlay(more),
  });
  for (const kind of kinds)
    for (const manifest of manifests) {
      const identity = manifest.kind === kind.name ? kind.identify?.(manifest, view) : undefined;
      if (identity !== undefined) identities.set(manifest.address, identity);
    }
  return withIdentities(view, identities);
}

/**
 * The differences for the manifests of one kind. Tags are compared with the tags of the view, other
 * objects with the lists.
 */
export function foundIn(view: Account, kindName: string): Omit<DiffResult, "steps"> & Lists {
  const kind = kinds.find(({ name }) => name === kindName);
  if (kind === undefined) throw new Error(`There is no kind ${kindName}.`);
  const { units, steps, problems } = kind.units(
    view.manifests.filter((manifest) => manifest.kind === kindName),
    view,
  );
  const live = view.list(tags).byId;
  const found = [{ ...emptyDiff, steps, problems }, ...units.map((unit) => kind.diff(unit, live.get(unit.liveId ?? ""), view))];
  return inLists({
    steps: found.flatMap((one) => one.steps),
    unmanagedColumns: 0,
    problems: found.flatMap((one) => one.problems),
  });
}

/** The requests of the items, as "METHOD path" and body. */
export const requestsOf = ({ items }: Pick<Lists, "items">): readonly (readonly [string, unknown])[] =>
  items.flatMap(({ requests }) => requests.map(({ method, path, body }) => [`${method} ${path}`, body] as const));
