import type { Database } from "../../records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";

/** A receiver of notifications, and how the last attempt to send it a message ended. */
export interface ReceiverStatus {
  readonly source: string;
  readonly name: string;
  readonly type: string;
  /** ISO 8601; null before the first message. */
  readonly lastTriedAt: string | null;
  /** Why it did not accept the last message; null if it did. Contains no secret. */
  readonly failure: string | null;
}

/** All receivers, by source and name. */
export const readReceivers = (database: Database): Promise<readonly ReceiverStatus[]> =>
  rowsOf<ReceiverStatus>(
    database,
    `select n.source, r ->> 'name' as name, r ->> 'type' as type, last.at as "lastTriedAt", last.failure
      from dimsync_controller.notify n cross join lateral jsonb_array_elements(n.settings -> 'receivers') r
      left join lateral (
        select e.deliveries -> (r ->> 'name') ->> 'at' as at, e.deliveries -> (r ->> 'name') -> 'error' ->> 'message' as failure
        from dimsync_controller.event e where e.source = n.source and e.at > now() - interval '2 days' and e.deliveries ? (r ->> 'name')
        order by 1 desc limit 1) last on true
      where exists (select 1 from dimsync_controller.account a where a.source = n.source and a.removed_at is null)
      order by n.source, r ->> 'name'`,
  );
