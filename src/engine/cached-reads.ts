import { ServiceError } from "../model/errors.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { Listing, Reads } from "../model/service.ts";

/** Reads of one run: a list or an object that was read is not read again. Schemas and columns pass through, so that none is held. */
export interface RunReads extends Reads {
  /** Adds an integration that this run has created to the list that was read before. */
  remember(integration: LiveIntegration): void;
}

export function cachedReads(reads: Reads): RunReads {
  const created = new Map<string, LiveIntegration>();
  const once = <T>(read: () => Promise<T>): (() => Promise<T>) => {
    let answer: Promise<T> | undefined;
    return () => {
      answer ??= read();
      return answer;
    };
  };
  const onceById = <T>(read: (id: string) => Promise<T>): ((id: string) => Promise<T>) => {
    const answers = new Map<string, Promise<T>>();
    return (id) => {
      const answer = answers.get(id) ?? read(id);
      answers.set(id, answer);
      return answer;
    };
  };
  const listed = once(() => reads.integrations());
  return {
    integrations: async (): Promise<Listing<LiveIntegration>> => {
      const list = await listed();
      const fresh = [...created.values()].filter(({ id }) => !list.items.some((item) => item.id === id));
      return fresh.length === 0 ? list : { ...list, items: [...list.items, ...fresh] };
    },
    integration: onceById((id) => reads.integration(id)),
    schemas: (id) => reads.schemas(id),
    columns: (id, schema, table) => reads.columns(id, schema, table),
    tags: once(() => reads.tags()),
    tag: onceById((id) => reads.tag(id)),
    users: once(() => reads.users()),
    auditLogs: (query) => reads.auditLogs(query),
    remember: (integration) => {
      created.set(integration.id, integration);
    },
  };
}

/** Asked before the columns of tables are read one request each; throws ServiceError `E_COLUMN_READS` where the run has no so many left. */
export type ClaimColumns = (integrationId: string, tables: number) => void;

/**
 * Some answers leave columns out (interface §2.3), and then a rule for all columns of a fleet means a request for each of its tables: hours, against a
 * service that other people use as well. `most` is `client.maxColumnReads`. An integration is read whole or not at all.
 */
export function columnBudget(most: number): ClaimColumns {
  let claimed = 0;
  return (integrationId, tables) => {
    if (claimed + tables > most)
      throw new ServiceError(
        "E_COLUMN_READS",
        `The service answers the schemas of ${integrationId} without columns. Rules, policies or unmatched.columns need those of ${tables} of its tables, one request each; with ${claimed} for others that is more than client.maxColumnReads (${most}) allows, so they are not read. Narrow what speaks of columns by schema and table, take fewer integrations at a time (--only), or raise client.maxColumnReads in dimsync.yaml.`,
        { method: "GET", path: `/v1/integrations/${integrationId}/schemas`, sent: "never" },
      );
    claimed += tables;
  };
}
