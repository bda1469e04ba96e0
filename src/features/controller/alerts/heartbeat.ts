import { callWebhook } from "../../../core/drift/notify.ts";
import { type SecretReference, secretKey } from "../../../core/model/settings/secret.ts";
import { resolveAll } from "../../../core/operations/account.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import type { SourceNotifications } from "../projects/register.ts";
import { hasWorker, isOverdue, namedAccounts } from "../views/sql.ts";
import { type DeliveryOptions, secretPlaces, whyNotSent } from "./deliver.ts";

/**
 * Requests the heartbeat of each source that is due, in one process, as long as a worker runs and no account of it has been due for two
 * intervals. The service behind it notices if the requests stop, whatever has stopped them.
 */
export async function sendHeartbeats(database: Database, { env, signal, log }: Omit<DeliveryOptions, "publicUrl">): Promise<void> {
  const due = await rowsOf<{ readonly source: string; readonly settings: SourceNotifications }>(
    database,
    "select source, settings from due",
    [],
    `due as (update dimsync_controller.notify n set heartbeat_at = now()
      where heartbeat_at <= now() - (case when n.odd is null then n.settings -> 'heartbeat' ->> 'everyMs' end)::bigint * interval '1 ms'
        and ${hasWorker}
        and not exists (select 1 from ${namedAccounts} a where a.source = n.source and ${isOverdue}) returning n.*)`,
  );
  await Promise.all(
    due.map(async ({ source, settings: { heartbeat, folder } }) => {
      if (heartbeat === undefined) return;
      const failure = await beat(heartbeat.url, { folder, env, signal }).catch(whyNotSent);
      if (failure !== undefined) log(`The heartbeat of ${source} was not sent: ${failure}.`, { level: "warn" });
    }),
  );
}

/** Why the service did not accept the request; undefined if it did. */
async function beat(
  reference: SecretReference,
  { folder, env, signal }: Pick<DeliveryOptions, "env" | "signal"> & { readonly folder: string | undefined },
): Promise<string | undefined> {
  const url = (await resolveAll([reference], secretPlaces(folder), env, signal)).get(secretKey(reference));
  if (url === undefined) return undefined;
  return await callWebhook(url, () => ({ method: "GET", headers: { "user-agent": "dimsync" } }), { env, signal });
}
