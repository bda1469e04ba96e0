import type { Address } from "../../base/model/address.ts";
import { readOr, ServiceError } from "../../base/model/errors.ts";
import { defined } from "../../base/model/json/json.ts";
import { addAll } from "../../base/model/maps.ts";
import type { Problem } from "../../base/model/problem.ts";
import type { List, Listed, Listing, Reads, UnreadEntry } from "../../base/model/service.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore } from "../../base/text/lists.ts";
import { entryText, type Suspicion } from "../../kinds/index.ts";

export interface ObservedLists {
  readonly entries: ReadonlyMap<List, readonly UnreadEntry[]>;
  /** What was read of each list that is needed. */
  readonly items: ReadonlyMap<List, readonly Listed[]>;
  readonly unread: ReadonlySet<List>;
  readonly suspicions: readonly Suspicion[];
  readonly problems: readonly Problem[];
}

/** Reads these lists. `hasNoPages`: the service has said that its lists are complete. */
export async function readLists(reads: Reads, needed: ReadonlySet<List>, hasNoPages: boolean): Promise<ObservedLists> {
  const unread = new Set<List>();
  const suspicions: Suspicion[] = [];
  const problems: Problem[] = [];
  const entries = new Map<List, readonly UnreadEntry[]>();
  const readList = async (list: List): Promise<readonly [List, readonly Listed[]]> => {
    try {
      const listing = await reads.list(list);
      for (const why of suspicionOf(list, listing, hasNoPages)) suspicions.push({ list, why });
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

export type ReadById = { readonly list: List; readonly id: string } & (
  | { readonly state: "found"; readonly object: Listed }
  | { readonly state: "gone" }
  | { readonly state: "failed"; readonly error: ServiceError }
);

/** The ids to read of each list, with the names that earlier runs have recorded. */
export type WantedIds = ReadonlyMap<List, ReadonlyMap<string, string | undefined>>;

/** Reads the ids that their list does not contain. */
export function readIds(reads: Reads, wanted: WantedIds, { items, unread, entries }: ObservedLists): Promise<readonly ReadById[]> {
  const readOne = async (list: List, id: string, name: string | undefined): Promise<ReadById> => {
    const object = await readOr(
      () => reads.one(list, id),
      (error) => error,
    );
    if (object instanceof ServiceError) return { list, id, state: "failed", error: object };
    if (object !== undefined) return { list, id, state: "found", object };
    const entry = entries.get(list)?.find((one) => mayBe(one, id, name));
    return entry === undefined ? { list, id, state: "gone" } : { list, id, state: "failed", error: unreadError(list, id, entry) };
  };
  return Promise.all(
    [...wanted].flatMap(([list, ids]) => {
      const listed = unread.has(list) ? undefined : items.get(list);
      if (listed === undefined) return [];
      const known = new Set(listed.map(({ id }) => id));
      return [...ids].flatMap(([id, name]) => (known.has(id) ? [] : [readOne(list, id, name)]));
    }),
  );
}

/** Whether an entry that could not be read may be the object. */
const mayBe = (entry: UnreadEntry, id: string, name: string | undefined): boolean =>
  entry.id === undefined ? entry.name === undefined || name === undefined || entry.name === name : entry.id === id;

/** What the list lacks although it has it. */
export const leftOut = (one: ReadById, entries: ObservedLists["entries"]): readonly Suspicion[] => {
  const { id, list } = one;
  const { name } = list;
  return one.state === "found" && isListed(one.object) && !entries.get(list)?.some((entry) => mayBe(entry, id, one.object.name))
    ? [{ list, why: `GET /v1/${name} does not contain ${id}, but GET /v1/${name}/${id} returns it.` }]
    : [];
};

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

/** The list may lack what the service still creates. */
const isListed = (object: Listed): boolean => !("isInCreation" in object);

function unreadError({ name }: List, id: string, { why }: UnreadEntry): ServiceError {
  const path = `/v1/${name}/${id}`;
  const reason = `An earlier run covered ${id}, GET of it returns 404, and an entry of the list that may be it cannot be read. ${why}`;
  return new ServiceError("E_MALFORMED_ANSWER", `GET ${path}: ${reason}`, { method: "GET", path, sent: "answered", reason });
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
