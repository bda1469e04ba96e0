import type { Address, EarlierCreate } from "../base/model/address.ts";
import { isFailedCreation } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import { keptById, nothingKept } from "../base/model/kept.ts";
import type { Manifest } from "../base/model/manifest.ts";
import type { List, Listed, Reads } from "../base/model/service.ts";
import { type Account, accountLists, indexed, integrations, kindNamed, kinds, labelRoots, withIdentities } from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";
import { isNotKept, type RecordsState } from "../records/index.ts";
import { identify, knownId } from "./identities.ts";
import { noOverlay, overlays } from "./overlay.ts";
import { failedRead, leftOut, type ObservedLists, type ReadById, readIds, readLists, type WantedIds } from "./reads/lists-and-ids.ts";
import type { Ignored } from "./scope.ts";

interface ObserveInput {
  readonly project: Pick<Project, "settings" | "manifests" | "elsewhere" | "columnLabels">;
  readonly comparable: readonly Manifest[];
  readonly records: KnownRecords;
  readonly reads: Reads;
  /** Absent: nothing is. */
  readonly ignored?: Ignored | undefined;
  /** What the run knows besides. Default: nothing. */
  readonly run?: Partial<RunView>;
  /** Lists to read although no manifest needs them. */
  readonly alsoNeeded?: readonly List[];
}

/** The members of a view that neither the project nor the account has. */
export type RunView = Pick<Account, "isDrift" | "recovered" | "fresh" | "listUnmanaged" | "review" | "extended" | "now" | "isRecording">;

const noRun: RunView = { isDrift: false, recovered: new Map(), fresh: new Set(), now: "", isRecording: false };

/** The records of earlier runs that say which live object a manifest has. */
export type KnownRecords = Pick<RecordsState, "bindings" | "open" | "created"> &
  Partial<Pick<RecordsState, "notKept" | "covered" | "kept">>;

/** Reads the lists and ids that the manifests need, and identifies every manifest. */
export async function observeAccount(input: ObserveInput): Promise<Account> {
  const { reads, project } = input;
  const lists = await readLists(reads, neededLists(input), project.settings.completeLists === true);
  const ids = await readIds(reads, wantedIds(input), lists);
  const account = viewOf(input, lists, ids);
  const failed = ids.flatMap((one) => (one.state === "failed" ? [[one.id, one.error] as const] : []));
  const { identities, problems } = identify(account, new Map(failed));
  const unread = failed.flatMap(([, error]) => (isFailedCreation(error) ? [] : failedRead(error)));
  const all = [...lists.problems, ...unread, ...problems];
  return {
    ...withOverlay(withIdentities(account, identities), input),
    problems: all,
    isComplete: all.every(({ isIncomplete }) => isIncomplete !== true),
  };
}

function neededLists({ project, comparable, run, alsoNeeded = [] }: ObserveInput): ReadonlySet<List> {
  const { taggedBy } = project.settings.defaults;
  const defaults = { taggedBy, isDrift: run?.isDrift === true, extended: extendedOf(project, run) };
  return new Set([...alsoNeeded, ...comparable.flatMap((manifest) => kindNamed(manifest.kind)?.lists(manifest, defaults) ?? [])]);
}

/** The pinned and bound ids, and those that earlier runs covered, in the order of the manifests. */
function wantedIds(input: ObserveInput): WantedIds {
  const covered = coveredNames(input);
  return new Map(
    kinds.flatMap(({ name, list }) => {
      if (list === undefined) return [];
      const ids = input.comparable.flatMap((manifest) => (manifest.kind === name ? (knownId(manifest, input.records.bindings) ?? []) : []));
      const isCovered = list.name === integrations.name;
      return [[list, new Map([...ids.map((id) => [id, covered.get(id)] as const), ...(isCovered ? covered : [])])]];
    }),
  );
}

/** The integrations that manifests covered in an earlier run, by id, with the name that they had then if it is recorded. */
function coveredNames({ records, comparable }: ObserveInput): ReadonlyMap<string, string | undefined> {
  const names = comparable.flatMap(({ address }) => [...(records.covered?.get(address) ?? [])]);
  const hasSchemas = comparable.some(({ kind }) => kindNamed(kind)?.schemas !== undefined);
  const kept = hasSchemas ? (records.kept?.integrations ?? []).flatMap(({ ids }) => Object.entries(ids)) : [];
  return new Map([...kept.map(([id, [name]]) => [id, name] as const), ...names]);
}

/** Ignored is what an entry names by any of its addresses. */
function withOverlay(account: Account, { ignored: isIgnored, records }: ObserveInput): Account {
  const ignored: Account["ignored"] = (address, path) => isIgnored?.(account.addressesOf(address), path) === true;
  const notKept = [...(records.notKept ?? [])].map(
    ([address, ofObject]) => [address, new Map([...ofObject].filter(([, one]) => isNotKept(one)))] as const,
  );
  return { ...account, ignored, overlay: overlays(ignored, new Map(notKept)) };
}

/** The account without identities. */
function viewOf(input: ObserveInput, { items, unread, entries, suspicions }: ObservedLists, readById: readonly ReadById[]): Account {
  const { project, records } = input;
  const run = { ...noRun, ...input.run };
  const found = (of: List): readonly Listed[] => readById.flatMap((one) => (one.state === "found" && one.list === of ? [one.object] : []));
  return indexed({
    manifests: project.manifests,
    elsewhere: new Set(project.elsewhere.map(({ address }) => address)),
    identities: new Map(),
    naming: { ofLive: new Map(), ofManifest: new Map(), manifests: new Map() },
    addressesOf: (address) => [address],
    ...(project.columnLabels === undefined ? {} : { columnLabels: labelRoots(project.columnLabels) }),
    list: accountLists(new Map([...items].map(([list, listed]) => [list.name, [...listed, ...found(list)]]))),
    goneIds: new Set(readById.flatMap(({ state, id }) => (state === "gone" ? [id] : []))),
    bindings: records.bindings,
    earlierCreates: earlierCreates(records, run.recovered),
    taggedBy: project.settings.defaults.taggedBy,
    ...noOverlay,
    covered: records.covered ?? new Map(),
    kept: keptById(records.kept ?? nothingKept),
    patch: project.settings.client,
    comparable: input.comparable,
    isStopped: false,
    problems: [],
    unreadLists: unread,
    unreadEntries: entries,
    suspicions: [...suspicions, ...readById.flatMap((one) => leftOut(one, entries))],
    isComplete: true,
    ...run,
    extended: extendedOf(project, input.run),
  });
}

const extendedOf = (project: ObserveInput["project"], run: ObserveInput["run"] | undefined): Account["extended"] =>
  project.settings.extended === true ? (run?.extended ?? { missing: new Set() }) : undefined;

const earlierCreates = ({ open, created }: KnownRecords, recovered: ReadonlyMap<Address, string>): readonly EarlierCreate[] => [
  ...[...created].map(([address, { id, naturalKey }]) => ({ address, ...defined({ id, naturalKey }) })),
  ...open.map(({ address, naturalKey }) => ({ address, ...defined({ id: recovered.get(address), naturalKey }) })),
];
