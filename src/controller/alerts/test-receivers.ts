import { randomUUID } from "node:crypto";
import type { Database } from "../../records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";

/** Stores a message that only shows whether receivers of the source can be reached; "" is all of them. Returns its id. */
export async function storeTest(database: Database, source: string, receiver: string): Promise<string> {
  const id = randomUUID();
  await database.query(
    `insert into dimsync_controller.event (id, source, name, message, detail)
      values ($1, $2, 'test', $1, case when $3 = '' then '{}' else jsonb_build_object('receiver', $3::text) end)`,
    [id, source, receiver],
  );
  return id;
}

export interface TestedReceiver {
  readonly source: string;
  readonly name: string;
  readonly type: string;
  readonly outcome: "waiting" | "sent" | "failed";
  /** Why it failed. */
  readonly message: string | null;
}

/** How the tests have ended for each receiver, by source and name. */
export const testedReceivers = (database: Database, tests: readonly string[], receiver: string): Promise<readonly TestedReceiver[]> =>
  rowsOf<TestedReceiver>(
    database,
    `select n.source, r ->> 'name' as name, r ->> 'type' as type, coalesce(e.deliveries -> (r ->> 'name') ->> 'outcome', 'waiting') as outcome,
      e.deliveries -> (r ->> 'name') -> 'error' ->> 'message' as message
      from dimsync_controller.event e join dimsync_controller.notify n using (source) cross join lateral jsonb_array_elements(n.settings -> 'receivers') r
      where e.id = any($1::uuid[]) and ($2 = '' or r ->> 'name' = $2) order by n.source, r ->> 'name'`,
    [tests, receiver],
  );
