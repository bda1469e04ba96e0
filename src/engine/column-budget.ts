import { ServiceError } from "../model/errors.ts";

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
