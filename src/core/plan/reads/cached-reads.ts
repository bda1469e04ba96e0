import { ServiceError } from "../../base/model/errors.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { List, Listed, Listing, Reads } from "../../base/model/service.ts";

/** Reads of one run: a list or an object is read once. Schemas and columns are not cached, because of their size. */
export interface RunReads extends Reads {
  /** Adds an object that this run has created to a list that was read before. */
  remember(list: List, created: Listed): void;
  /** The same without what was read so far, but with what was added. */
  again(): RunReads;
}

export function cachedReads(reads: Reads, added = new Map<string, Map<string, Listed>>()): RunReads {
  const { list, one } = readOnce(reads);
  return {
    ...reads,
    list: async <T extends Listed>(of: List<T>) => {
      const listing = await list(of);
      const more = added.get(of.name) as ReadonlyMap<string, T> | undefined; // what a list of this name decoded
      return more === undefined ? listing : withAdded(listing, more);
    },
    one,
    remember: ({ name }, object) => void getOrAdd(added, name, () => new Map<string, Listed>()).set(object.id, object),
    again: () => cachedReads(reads, added),
  };
}

/** Reads also schemas and columns once: for several comparisons of one account as it is now. */
export function heldReads(reads: RunReads): RunReads {
  return {
    ...reads,
    schemas: onceBy((id) => id, reads.schemas),
    columns: onceBy((...path) => JSON.stringify(path), reads.columns),
  };
}

/** Each list once, and each object once the service has created it. */
const readOnce = (reads: Reads): Pick<Reads, "list" | "one"> => ({
  list: onceBy(({ name }) => name, reads.list) as Reads["list"], // the key decides the type
  one: onceBy(({ name }, id) => JSON.stringify([name, id]), reads.one, isInCreation) as Reads["one"],
});

const isInCreation = (object: object | undefined): boolean => object !== undefined && "isInCreation" in object;

/** The list with the objects that it does not contain yet. */
function withAdded<T extends Listed>(listing: Listing<T>, added: ReadonlyMap<string, T>): Listing<T> {
  const listed = new Set(listing.items.map(({ id }) => id));
  const missing = [...added.values()].filter(({ id }) => !listed.has(id));
  return missing.length === 0 ? listing : { ...listing, items: [...listing.items, ...missing] };
}

/** The same result for every call with the same key, until it is transient. */
function onceBy<Args extends readonly unknown[], T>(
  keyOf: (...args: Args) => string,
  read: (...args: Args) => Promise<T>,
  isTransient: (result: T) => boolean = () => false,
) {
  const results = new Map<string, Promise<T>>();
  return async (...args: Args): Promise<T> => {
    const key = keyOf(...args);
    const result = await getOrAdd(results, key, () => read(...args));
    if (isTransient(result)) results.delete(key);
    return result;
  };
}

/**
 * Call before reading the columns of tables with one request each. Throws ServiceError
 * `E_COLUMN_READS` if the run would exceed its limit.
 */
type ClaimColumns = (integrationId: string, tables: number) => void;

/** The tables of a run whose columns are read with one request each. */
const mostColumnReads = 20_000;

/**
 * Some responses have no columns (docs/service-interface.md). A rule for all columns of a fleet
 * then needs one request per table, which can take hours on a service that others use too. An integration is read whole or not at all.
 */
export function columnBudget(): ClaimColumns {
  let claimed = 0;
  return (integrationId, tables) => {
    if (claimed + tables > mostColumnReads)
      throw new ServiceError(
        "E_COLUMN_READS",
        `The service returned the schemas of ${integrationId} without columns. Rules or policies need the columns of ${tables} of its tables, which takes one request each. With ${claimed} for other integrations, that is more than the ${mostColumnReads} requests that a run sends for them, so the columns were not read. Restrict the rules and policies for columns to fewer schemas and tables, or select fewer integrations with --only.`,
        { method: "GET", path: `/v1/integrations/${integrationId}/schemas`, sent: "never" },
      );
    claimed += tables;
  };
}
