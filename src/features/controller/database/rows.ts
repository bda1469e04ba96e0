import type { Queries } from "../../../core/records/postgres/connection.ts";

/**
 * The rows of a query. They come as JSON, so that PostgreSQL and PGlite return the same types: times
 * are strings, and large numbers are numbers. `T` describes the columns that the query names. `writes`:
 * common table expressions that write, which must be at the top of a statement.
 */
export async function rowsOf<T>(database: Queries, sql: string, values: readonly unknown[] = [], writes?: string): Promise<readonly T[]> {
  const { rows } = await database.query(
    `with ${writes === undefined ? "" : `${writes}, `}found_row as (${sql}) select to_json(found_row) as row from found_row`,
    values,
  );
  // The statement is ours, and its columns are what the caller says.
  return rows.map(({ row }) => row as T);
}

/** The same rows as members of what the page and the API show: columns that are null are absent. */
export const membersOf = async <T extends object>(
  database: Queries,
  sql: string,
  values: readonly unknown[] = [],
  writes?: string,
): Promise<readonly T[]> =>
  (await rowsOf<T>(database, sql, values, writes)).map(
    (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T,
  );
