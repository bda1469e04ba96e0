import type { ListedObject, ReadNeeds } from "../../kinds/kind.ts";
import { ServiceError } from "../../model/errors.ts";
import type { LiveIntegration, LiveTag } from "../../model/live.ts";
import type { Listing, Reads } from "../../model/service.ts";
import type { Session } from "../session.ts";

/** Reads of one run: a list or an object is read once. Schemas and columns are not cached, because of their size. */
export interface RunReads extends Reads {
  /** Adds an object that this run has created to a list that was read before. */
  remember(created: ListedObject): void;
}

export function cachedReads(reads: Reads): RunReads {
  const integrations = new Map<string, LiveIntegration>();
  const tags = new Map<string, LiveTag>();
  return {
    integrations: withAdded(
      once(() => reads.integrations()),
      integrations,
    ),
    integration: onceById((id) => reads.integration(id)),
    schemas: (id) => reads.schemas(id),
    columns: (id, schema, table) => reads.columns(id, schema, table),
    tags: withAdded(
      once(() => reads.tags()),
      tags,
    ),
    tag: onceById((id) => reads.tag(id)),
    users: once(() => reads.users()),
    auditLogs: (query) => reads.auditLogs(query),
    remember: ({ list, object }) => {
      if (list === "tags") tags.set(object.id, object);
      else integrations.set(object.id, object);
    },
  };
}

/** Reads everything once, also schemas and columns: for several comparisons of one account as it is now. */
export function heldReads(reads: Reads): Reads {
  const held = new Map<string, ReturnType<Reads["columns"]>>();
  return {
    ...reads,
    integrations: once(() => reads.integrations()),
    integration: onceById((id) => reads.integration(id)),
    schemas: onceById((id) => reads.schemas(id)),
    columns: (...path) => {
      const key = JSON.stringify(path);
      const result = held.get(key) ?? reads.columns(...path);
      held.set(key, result);
      return result;
    },
    tags: once(() => reads.tags()),
    tag: onceById((id) => reads.tag(id)),
    users: once(() => reads.users()),
  };
}

/** The list with the objects that it does not contain yet. */
function withAdded<T extends { readonly id: string }>(
  read: () => Promise<Listing<T>>,
  added: ReadonlyMap<string, T>,
): () => Promise<Listing<T>> {
  return async () => {
    const listing = await read();
    if (added.size === 0) return listing;
    const listed = new Set(listing.items.map(({ id }) => id));
    const missing = [...added.values()].filter(({ id }) => !listed.has(id));
    return missing.length === 0 ? listing : { ...listing, items: [...listing.items, ...missing] };
  };
}

/** The same result for every call. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= read();
    return result;
  };
}

function onceById<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return (id) => {
    const result = results.get(id) ?? read(id);
    results.set(id, result);
    return result;
  };
}

/**
 * Call before reading the columns of tables with one request each. Throws ServiceError
 * `E_COLUMN_READS` if the run would exceed its limit.
 */
export type ClaimColumns = (integrationId: string, tables: number) => void;

/** Which columns must be read: to review columns, all of them; otherwise those that policies check. */
export const columnsNeeded = ({ review }: Pick<Session, "review">, byPolicies: ReadNeeds["policyColumns"]): ReadNeeds["policyColumns"] =>
  review === undefined ? byPolicies : () => () => true;

/**
 * Some responses have no columns (docs/service-interface.md). A rule for all columns of a fleet
 * then needs one request per table, which can take hours on a service that others use too. `most`
 * is `client.maxColumnReads`. An integration is read whole or not at all.
 */
export function columnBudget(most: number): ClaimColumns {
  let claimed = 0;
  return (integrationId, tables) => {
    if (claimed + tables > most)
      throw new ServiceError(
        "E_COLUMN_READS",
        `The service returned the schemas of ${integrationId} without columns. Rules or policies need the columns of ${tables} of its tables, which takes one request each. With ${claimed} for other integrations, that exceeds client.maxColumnReads (${most}), so the columns were not read. Restrict the rules and policies for columns to fewer schemas and tables, select fewer integrations with --only, or raise client.maxColumnReads in dimsync.yaml.`,
        { method: "GET", path: `/v1/integrations/${integrationId}/schemas`, sent: "never" },
      );
    claimed += tables;
  };
}
