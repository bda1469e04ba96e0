import { type Address, type EarlierCreate, kindOf, type NaturalKey } from "../base/model/address.ts";
import { isFailedCreation, readOr, ServiceError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import { keptById, nothingKept } from "../base/model/kept.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import { addAll } from "../base/model/maps.ts";
import { isError, type Problem } from "../base/model/problem.ts";
import type { List, Listed, Listing, Reads, UnreadEntry } from "../base/model/service.ts";
import type { Code } from "../base/model/titles.ts";
import { counted } from "../base/text/counts.ts";
import { enumerate } from "../base/text/describe.ts";
import { andMore, grouped } from "../base/text/lists.ts";
import { bindCommand } from "../base/text/shell.ts";
import { policiesIn } from "../columns/policies/index.ts";
import type { Account, Identity, Suspicion } from "../kinds/index.ts";
import {
  accountLists,
  blocked,
  conflicts,
  indexed,
  integrations,
  kindNamed,
  kindNames,
  kinds,
  labelRoots,
  mayHaveName,
  otherwise,
  selectorProblems,
  selectsByName,
  withIdentities,
} from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";
import type { RecordsState } from "../records/index.ts";
import { isNotKept } from "../records/index.ts";
import { allowances } from "./checks/allow.ts";
import { ignoredFileProblems, leftOutProblems } from "./left-out.ts";
import { pairsByObject, type Reviewed } from "./origin.ts";
import { noOverlay, overlays } from "./overlay.ts";
import type { Recovered } from "./recover.ts";
import type { PlanOptions, Run } from "./run.ts";
import { everything, type Ignored, ignoring, manifestsInScope } from "./scope.ts";

/** The account of a run: the lists and ids that its manifests need, and which object each manifest has. */
export async function observe(run: Run, earlier: Recovered): Promise<Account> {
  const { project, scope, today } = run;
  const { settings } = project;
  const hasErrors = project.problems.some(isError);
  const { ignored, problems: expired } = ignoring(settings.ignore, today);
  const comparable = hasErrors ? [] : manifestsInScope(project.manifests, scope);
  const policies = checkedPolicies(run);
  const account = await observeAccount({
    project,
    comparable,
    ignored,
    records: run.records(),
    reads: run.reads,
    alsoNeeded: listsOf(policies),
    run: { ...runView(run, earlier), review: run.review },
  });
  const git = await run.git;
  const leftOut = leftOutProblems(git, settings.folder);
  const isStopped = hasErrors || leftOut.length > 0;
  return {
    ...account,
    comparable: isStopped ? [] : comparable,
    isStopped,
    problems: [
      ...leftOut,
      ...ignoredFileProblems(git, settings),
      ...expired,
      ...allowances(settings.allow, today).problems,
      ...account.problems,
      ...unknownIntegrations(project, account, hasErrors ? [] : [...comparable, ...policies]),
      ...lostManifests(project, run.records()),
      ...otherAccount(account, run.records()),
    ],
  };
}

/** So many integrations are not deleted at once. */
const fewestGone = 3;

/** None of the recorded integrations is there, and others are: the key belongs to another account, which must get none of these rules. */
function otherAccount(account: Pick<Account, "list" | "unreadLists">, { bindings }: Pick<RecordsState, "bindings">): readonly Problem[] {
  if (account.unreadLists.has(integrations)) return [];
  const { byId } = account.list(integrations);
  const ids = [...bindings].flatMap(([address, { id }]) => (kindOf(address) === kindNames.integration ? [id] : []));
  if (ids.length < fewestGone || byId.size === 0 || ids.some((id) => byId.has(id))) return [];
  const message = `The account has none of the ${ids.length} integrations that the records know, but ${byId.size} others, so it is probably not the account of this target. Nothing is sent. Compare baseUrl and the API key of the target. If they are right, run dimsync unbind for each integration that is gone.`;
  return [{ code: "E_GONE", severity: "error", message }];
}

/** The same account by the manifests at the base. Undefined if there is no base, or if nothing is compared. */
export async function observeReviewed(run: Run, earlier: Recovered, now: Account): Promise<Reviewed | undefined> {
  const { base } = run.options;
  if (base === undefined || now.isStopped) return undefined;
  const account = base.manifests === run.project.manifests ? now : await observeBase(base, { run, earlier, now });
  const isNow = account === now;
  const unread = [...account.unreadLists].filter((list) => !now.unreadLists.has(list)).map(({ name }) => name);
  const message = `The manifests at the base ref need a list that could not be read (${unread.join(", ")}), so the origin of the differences is unknown.`;
  return {
    account: { ...account, base: noOther },
    pairs: isNow ? new Map() : pairsByObject(account),
    locate: base.locate,
    isComplete: unread.length === 0,
    isNow,
    problems: unread.length === 0 ? [] : [{ code: "I_BASE_UNREAD", severity: "info", message }],
  };
}

/** Of a comparison whose base has the same manifests. */
const noOther = { isNow: true, schemas: () => undefined } as const;

interface BaseInput {
  readonly run: Run;
  readonly earlier: Recovered;
  readonly now: Account;
}

function observeBase(base: NonNullable<PlanOptions["base"]>, { run, earlier, now }: BaseInput): Promise<Account> {
  const kindsNow = new Set(now.comparable.map(({ kind }) => kind));
  return observeAccount({
    project: { ...base, settings: run.project.settings },
    records: run.records(),
    reads: run.reads,
    // What a whole plan no longer has may be of any kind. Names may have changed since, so all of a kind are needed.
    comparable: run.scope === everything ? base.manifests : base.manifests.filter(({ kind }) => kindsNow.has(kind)),
    ignored: ignoring(base.settings?.ignore ?? [], run.today).ignored,
    alsoNeeded: listsOf(checkedPolicies(run)),
    run: { ...runView(run, earlier), review: base.review },
  });
}

/** Those of a part of the account check only that part. */
const checkedPolicies = ({ project, scope }: Run): readonly Manifest[] => (scope === everything ? policiesIn(project.manifests) : []);

const listsOf = (policies: readonly Manifest[]): readonly List[] => (policies.some(selectsByName) ? [integrations] : []);

const runView = ({ rounds, clock, kind, writer, options, missing }: Run, { ids }: Recovered): RunView => ({
  recovered: ids,
  fresh: rounds.fresh,
  now: clock.now().toISOString(),
  isRecording: kind === "Plan" && (writer !== undefined || options.isRecording === true),
  isDrift: kind === "DriftReport",
  listUnmanaged: options.listUnmanaged === true,
  ...(missing === undefined ? {} : { extended: { missing } }),
});

/** Names in selectors that no integration has. One of another target, and one whose entry of the list cannot be read, have theirs. */
function unknownIntegrations({ elsewhere }: Project, account: Account, named: readonly Manifest[]): readonly Problem[] {
  if (account.unreadLists.has(integrations)) return [];
  const others = elsewhere.filter(({ kind }) => kind === kindNames.integration).map(({ name }) => name);
  const unread = (account.unreadEntries.get(integrations) ?? []).flatMap(({ name }) => name ?? []);
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
type RunView = Pick<Account, "isDrift" | "recovered" | "fresh" | "listUnmanaged" | "review" | "extended" | "now" | "isRecording">;

const noRun: RunView = { isDrift: false, recovered: new Map(), fresh: new Set(), now: "", isRecording: false };

/** The records of earlier runs that say which live object a manifest has. */
export type KnownRecords = Pick<RecordsState, "bindings" | "open" | "created"> &
  Partial<Pick<RecordsState, "notKept" | "covered" | "kept">>;

/** Reads the lists and ids that the manifests need, and identifies every manifest. */
export async function observeAccount(input: ObserveInput): Promise<Account> {
  const lists = await observeLists(input);
  const ids = await observeIds(input, lists);
  const account = viewOf(input, lists, ids);
  const failedIds = new Map(
    ids.flatMap((one) => (one.state === "failed" || one.state === "not-created" ? [[one.id, one.error] as const] : [])),
  );
  const { identities: found, problems } = identifyAll(input, account, failedIds);
  const identities = withoutExchanged(input, withoutShared(input, found));
  const all = [...lists.problems, ...ids.flatMap((one) => (one.state === "failed" ? [failedRead(one.error)] : [])), ...problems];
  return {
    ...withOverlay(withIdentities(account, identities), input),
    problems: all,
    isComplete: all.every(({ isIncomplete }) => isIncomplete !== true),
  };
}

/** Ignored is what an entry names by any of its addresses. */
function withOverlay(account: Account, { ignored: isIgnored, records }: ObserveInput): Account {
  const ignored: Account["ignored"] = (address, path) => isIgnored?.(account.addressesOf(address), path) === true;
  const notKept = [...(records.notKept ?? [])].map(
    ([address, ofObject]) => [address, new Map([...ofObject].filter(([, one]) => isNotKept(one)))] as const,
  );
  return { ...account, ignored, overlay: overlays(ignored, new Map(notKept)) };
}

interface ObservedLists {
  readonly entries: ReadonlyMap<List, readonly UnreadEntry[]>;
  /** What was read of each list that is needed. */
  readonly items: ReadonlyMap<List, readonly Listed[]>;
  readonly unread: ReadonlySet<List>;
  readonly suspicions: readonly Suspicion[];
  readonly problems: readonly Problem[];
}

async function observeLists({ project, comparable, reads, run, alsoNeeded = [] }: ObserveInput): Promise<ObservedLists> {
  const { taggedBy } = project.settings.defaults;
  const defaults = { taggedBy, isDrift: run?.isDrift === true, extended: extendedOf(project, run) };
  const needed = new Set<List>([
    ...alsoNeeded,
    ...comparable.flatMap((manifest) => kindNamed(manifest.kind)?.lists(manifest, defaults) ?? []),
  ]);
  const unread = new Set<List>();
  const suspicions: Suspicion[] = [];
  const problems: Problem[] = [];
  const entries = new Map<List, readonly UnreadEntry[]>();
  const readList = async (list: List): Promise<readonly [List, readonly Listed[]]> => {
    try {
      const listing = await reads.list(list);
      for (const why of suspicionOf(list, listing, project.settings.completeLists === true)) suspicions.push({ list, why });
      if (listing.unread !== undefined) entries.set(list, listing.unread);
      for (const entry of listing.unread ?? []) problems.push(unreadProblem(list, entry));
      addAll(problems, lackingProblems(list, listing.items));
      return [list, listing.items];
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      unread.add(list);
      problems.push(failedRead(error));
      return [list, []];
    }
  };
  return { items: new Map(await Promise.all([...needed].map(readList))), entries, unread, suspicions, problems };
}

/** List lengths that suggest an undocumented page limit. */
const pageSizes: ReadonlySet<number> = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000]);

/** Why the list may be incomplete, if it may. */
function suspicionOf({ name, isCreated }: List, { items, completeness, why }: Listing<unknown>, hasNoPages: boolean): readonly string[] {
  if (completeness === "short") return [why ?? `GET /v1/${name} returned fewer objects than it announced.`];
  // What is never created is not created twice.
  const mayBeOnePage = isCreated === true && completeness === "unknown" && pageSizes.has(items.length) && !hasNoPages;
  return mayBeOnePage
    ? [
        `GET /v1/${name} returned exactly ${items.length} ${name}, which may be only the first page. If its lists have no pages, set service: { lists: complete } for the target in dimsync.yaml.`,
      ]
    : [];
}

type ReadById = { readonly list: List; readonly id: string } & (
  | { readonly state: "found"; readonly object: Listed }
  | { readonly state: "gone" }
  | { readonly state: "not-created"; readonly error: ServiceError }
  | { readonly state: "failed"; readonly error: ServiceError }
);

/** Reads the pinned and bound ids that their list does not contain, and those that earlier runs covered, in the order of the manifests. */
function observeIds(input: ObserveInput, { items, unread, entries }: ObservedLists): Promise<readonly ReadById[]> {
  const covered = coveredNames(input);
  const readOne = async (list: List, id: string): Promise<ReadById> => {
    const object = await readOr(
      () => input.reads.one(list, id),
      (error) => error,
    );
    if (object instanceof ServiceError) return { list, id, state: isFailedCreation(object) ? "not-created" : "failed", error: object };
    if (object !== undefined) return { list, id, state: "found", object };
    const entry = entries.get(list)?.find((one) => mayBe(one, id, covered.get(id)));
    return entry === undefined ? { list, id, state: "gone" } : { list, id, state: "failed", error: unreadError(list, id, entry) };
  };
  return Promise.all(
    kinds.flatMap(({ name, list }) => {
      const listed = list === undefined || unread.has(list) ? undefined : items.get(list);
      if (list === undefined || listed === undefined) return [];
      const known = new Set(listed.map(({ id }) => id));
      const ids = new Set([
        ...input.comparable.flatMap((manifest) => (manifest.kind === name ? (knownId(manifest, input) ?? []) : [])),
        ...(list.name === integrations.name ? covered.keys() : []),
      ]);
      return [...ids].filter((id) => !known.has(id)).map((id) => readOne(list, id));
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

/** Whether an entry that could not be read may be the object. */
const mayBe = (entry: UnreadEntry, id: string, name: string | undefined): boolean =>
  entry.id === undefined ? entry.name === undefined || name === undefined || entry.name === name : entry.id === id;

function unreadError({ name }: List, id: string, { why }: UnreadEntry): ServiceError {
  const path = `/v1/${name}/${id}`;
  const reason = `An earlier run covered ${id}, GET of it returns 404, and an entry of the list that may be it cannot be read. ${why}`;
  return new ServiceError("E_MALFORMED_ANSWER", `GET ${path}: ${reason}`, { method: "GET", path, sent: "answered", reason });
}

/** The list may lack what the service still creates. */
const isListed = (object: Listed): boolean => !("isInCreation" in object);

const leftOut = (one: ReadById, entries: ObservedLists["entries"]): readonly Suspicion[] => {
  const { id, list } = one;
  const { name } = list;
  return one.state === "found" && isListed(one.object) && !entries.get(list)?.some((entry) => mayBe(entry, id, one.object.name))
    ? [{ list, why: `GET /v1/${name} does not contain ${id}, but GET /v1/${name}/${id} returns it.` }]
    : [];
};

const knownId = ({ id, address }: Manifest, { records }: Pick<ObserveInput, "records">): string | undefined =>
  id ?? records.bindings.get(address)?.id;

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
  ...[...created].map(([address, { id, naturalKey }]) => createOf(address, id, naturalKey)),
  ...open.map(({ address, naturalKey }) => createOf(address, recovered.get(address), naturalKey)),
];

const createOf = (address: Address, id: string | undefined, naturalKey: NaturalKey | undefined): EarlierCreate => ({
  address,
  ...defined({ id, naturalKey }),
});

/** Identifies all manifests, in the order of the registry: a kind may use the identities of those before it. */
function identifyAll(
  input: ObserveInput,
  account: Account,
  failedIds: ReadonlyMap<string, ServiceError>,
): { readonly identities: ReadonlyMap<Address, Identity>; readonly problems: readonly Problem[] } {
  const identities = new Map<Address, Identity>();
  const view = { ...account, identities };
  const { unreadLists, unreadEntries } = account;
  const comparable = new Set(input.comparable);
  const problems: Problem[] = [];
  for (const kind of kinds)
    for (const manifest of account.manifests) {
      if (manifest.kind !== kind.name || kind.identify === undefined) continue;
      const isUnread = kind.lists(manifest, account).some((list) => unreadLists.has(list));
      const id = knownId(manifest, input) ?? "";
      const failure = failedIds.get(id);
      const identity =
        failure !== undefined && isFailedCreation(failure)
          ? blocked("E_CREATION_FAILED", creationFailed(id, failure))
          : isUnread || failure !== undefined
            ? unreadIdentity
            : unlessUnread(manifest, kind.identify(manifest, view), kind.list === undefined ? [] : (unreadEntries.get(kind.list) ?? []));
      identities.set(manifest.address, identity);
      if (identity.state === "blocked" && identity.code === "E_AMBIGUOUS" && comparable.has(manifest))
        problems.push(problemIn(manifest, "/metadata/name", { code: identity.code, message: `${manifest.address}: ${identity.message}` }));
    }
  return { identities, problems };
}

const unreadIdentity: Identity = {
  state: "blocked",
  code: "E_READ_FAILED",
  message: "A read that it needs failed, so it is not known whether it exists.",
};

/** What looks missing may be an entry that could not be read. */
function unlessUnread(manifest: Manifest, identity: Identity, entries: readonly UnreadEntry[]): Identity {
  const isMissing = identity.state === "absent" || (identity.state === "blocked" && missingCodes.has(identity.code));
  const first = isMissing ? entries.find(({ name }) => mayHaveName(manifest, name)) : undefined;
  if (first === undefined) return identity;
  const { address } = manifest;
  return blocked(
    "E_READ_FAILED",
    `It may be an entry of the list that could not be read: ${entryText(first)}. ${otherwise(address, "fix or remove that entry")}`,
    bindCommand(address, first.id),
  );
}

const missingCodes: ReadonlySet<Code> = new Set(["E_INTEGRATION_MISSING", "E_TAG_MISSING"]);

/** `"Draft" (x9)`, or `entry 3` if it shows neither. */
const entryText = ({ id, name, index }: Omit<UnreadEntry, "why">): string =>
  name === undefined ? (id ?? `entry ${index}`) : id === undefined ? JSON.stringify(name) : `${JSON.stringify(name)} (${id})`;

const unreadProblem = ({ name }: List, entry: UnreadEntry): Problem => ({
  code: "W_ENTRY_UNREAD",
  severity: "warning",
  message: `dimsync cannot read ${entryText(entry)} in the list of ${name}, and continues without it. ${entry.why} Nothing that refers to it is compared.`,
});

/** One warning for all objects of a list that are shown in part. */
function lackingProblems(list: List, items: readonly Listed[]): readonly Problem[] {
  const lacking = items.flatMap((item) => {
    const member = isListed(item) ? list.lacks?.(item) : undefined;
    return member === undefined ? [] : [{ item, member }];
  });
  if (lacking.length === 0) return [];
  const members = enumerate([...new Set(lacking.map(({ member }) => member))], "or");
  const objects = lacking.map(({ item: { id, name = "" } }) => entryText({ index: 0, id, ...(name === "" ? {} : { name }) }));
  const guess = lacking.length === 1 ? "It may be a draft." : "They may be drafts.";
  const message = `GET /v1/${list.name} shows no ${members} of ${andMore(objects, "object")}. ${guess} dimsync compares only what the service shows.`;
  return [{ code: "W_ENTRY_UNREAD", severity: "warning", message }];
}

/** The sentence for an integration that the service could not create. */
export const creationFailed = (id: string, { reason }: ServiceError): string =>
  `The service could not create the integration ${id}: ${reason} Delete it in the service and unbind its address, or leave it out with --exclude.`;

/** A failed read as a problem of the plan. Nothing is concluded from data that was not read. */
export function failedRead(error: ServiceError, address?: Address): Problem {
  const isBound = error.code === "E_COLUMN_READS";
  return {
    code: isBound ? error.code : "E_READ_FAILED",
    severity: "error",
    message: `${error.message} The plan is incomplete: what needs this read is blocked.`,
    ...defined({ address, status: error.status }),
    isIncomplete: true,
    ...(isBound ? {} : { read: { call: `${error.method} ${error.path}`, cause: causeOf(error) } }),
  };
}

/** The same text for all requests that fail for the same reason: a status, a refused connection, or a sentence about the response. */
function causeOf({ code, status, reason }: ServiceError): string {
  if (code === "E_SERVICE_STATUS" || code === "E_UNAUTHORIZED") return `${code} ${status}`;
  return code === "E_SERVICE_UNREACHABLE" || code === "E_TIMEOUT" ? code : `${code} ${reason}`;
}

/**
 * Manifests that cannot be distinguished are blocked, and nothing else: two with one live object would overwrite each other in every run. One that
 * is pinned or bound to it stays.
 */
function withoutShared(input: ObserveInput, identities: ReadonlyMap<Address, Identity>): ReadonlyMap<Address, Identity> {
  const { manifests } = input.project;
  const found = manifests.flatMap((manifest) => {
    const identity = identities.get(manifest.address);
    return identity?.state === "found" ? [{ manifest, ...identity }] : [];
  });
  const isLookedUp = ({ by }: (typeof found)[number]): boolean => by !== "pin" && by !== "binding";
  const shared = grouped(found, ({ manifest, id }) => `${manifest.kind} ${id}`).flatMap((all) => {
    if (all.length === 1) return [];
    const names = enumerate(
      all.map(({ manifest }) => manifest.address),
      "and",
    );
    const message = `${names} refer to the same object, ${all[0].id}. Keep one of them, or pin other ids with metadata.id.`;
    const lookedUp = all.filter(isLookedUp);
    return (lookedUp.length > 0 && all.length - lookedUp.length === 1 ? lookedUp : all).map(
      ({ manifest }) => [manifest.address, message] as const,
    );
  });
  const alike = conflicts(manifests, input.records.bindings).flatMap(({ pair, message }) =>
    pair.filter((manifest) => knownId(manifest, input) === undefined).map(({ address }) => [address, message] as const),
  );
  const idOf = new Map(found.map(({ manifest, id }) => [manifest.address, id]));
  const refused = [...alike, ...shared].map(
    ([address, message]) => [address, { ...blocked("E_SHARED_IDENTITY", message), ...defined({ id: idOf.get(address) }) }] as const,
  );
  return refused.length === 0 ? identities : new Map([...identities, ...refused]);
}

/** The digests of what names an object, in what is recorded of it. */
const nameDigests = ["/name", "/create/sourceConfig/name"];

/**
 * Manifests that exchanged their names, in pairs or in a chain, are blocked: each but the last says now what was sent for another one, which says
 * something else itself. Sent, it would turn each object into another.
 */
function withoutExchanged(input: ObserveInput, identities: ReadonlyMap<Address, Identity>): ReadonlyMap<Address, Identity> {
  const { bindings } = input.records;
  const changed = input.project.manifests.flatMap((manifest) => {
    const { address, kind, id: pin } = manifest;
    const binding = bindings.get(address);
    if (binding?.sent === undefined || (pin !== undefined && pin !== binding.id)) return [];
    const now = kindNamed(kind)?.baseline?.(manifest).sent;
    const name = nameDigests.find((path) => now?.[path] !== undefined && binding.sent?.[path] !== undefined) ?? "";
    const [was, is] = [binding.sent[name], now?.[name]];
    return was === is ? [] : [{ address, id: binding.id, was: `${kind} ${was}`, is: `${kind} ${is}` }];
  });
  const whoWas = new Map(changed.map((one) => [one.was, one]));
  const whoIs = new Map(changed.map((one) => [one.is, one]));
  const exchanged = changed.flatMap(({ address, id, was, is }) => {
    const [next, before] = [whoWas.get(is), whoIs.get(was)];
    const said =
      next !== undefined
        ? `its manifest says now what was sent for ${next.address} (${next.id})`
        : before && `what was sent for it is now in the manifest of ${before.address} (${before.id})`;
    if (said === undefined) return [];
    const way = next === undefined ? "correct the others first." : "bind each to its object:";
    const message = `It is bound to ${id}, and ${said}: manifests exchanged their names. Nothing is sent for them. Give the manifests their earlier names again; if this is meant, ${way}`;
    return [[address, { ...blocked("E_OTHER_OBJECT", message, next && bindCommand(address, next.id)), id }] as const];
  });
  return exchanged.length === 0 ? identities : new Map([...identities, ...exchanged]);
}
