import { createHash } from "node:crypto";
import { alertSeverities, type MaintenanceWindow, type NotificationSettings } from "../../../core/model/settings/notifications.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { everyNotify, hasWorker, isLate, isSuspended, silenceOf } from "../views/sql.ts";
import type { DeliveryJob } from "../work/queue.ts";
import { type AlertMessage, isRouted, severityOf } from "./message.ts";
import { isInMaintenance } from "./silence.ts";

// Events are stored in the statement that stores their cause. Every process looks at them every few seconds: it adds what only time
// shows, gathers events into messages, and creates a job of the queue for each receiver. A process may be killed after any statement.

/** Each is a statement of its own, which two processes can run at the same time. `inMaintenance`: ids of accounts. */
const statements = (inMaintenance: readonly number[]): Readonly<Record<string, string>> => ({
  stale: `with late as (
      update dimsync_controller.account a set alerts = array_append(alerts, 'stale')
      where a.removed_at is null and not 'stale' = any(a.alerts) and case when a.odd is null then ${isLate} end and not ${isSuspended} returning a.*)
    insert into dimsync_controller.event (source, account, name, since, git_commit)
      select source, id, 'stale', coalesce(last_checked_at, created_at), git_commit from late`,

  "no worker": `with alone as (
      update dimsync_controller.notify n set alerts = array_append(alerts, 'no-worker')
      where n.odd is null and not 'no-worker' = any(n.alerts) and not ${hasWorker} and exists (select 1 from dimsync_controller.account a
        where a.source = n.source and a.removed_at is null and a.next_check_at < now() - interval '1 minute' and not ${isSuspended}) returning n.source)
    insert into dimsync_controller.event (source, name) select source, 'no-worker' from alone`,

  "a worker again": `with back as (
      update dimsync_controller.notify n set alerts = array_remove(alerts, 'no-worker')
      where n.odd is null and 'no-worker' = any(n.alerts) and ${hasWorker} returning n.source)
    insert into dimsync_controller.event (source, name, resolves) select source, 'resolved', '{no-worker}' from back`,

  // Here and not where an event is stored, because another process may have stored what it ends at the same moment.
  end: `update dimsync_controller.event e set ended_by = r.id from dimsync_controller.event r
    where r.queued_at is null and r.resolves <> '{}' and e.source = r.source and e.account is not distinct from r.account
      and e.name = any(r.resolves) and e.ended_by is null and e.at <= r.at`,

  remind: `with again as (
      update dimsync_controller.event e set reminded_at = now() from ${everyNotify} n
      where n.source = e.source and e.ended_by is null and e.reminds is null and e.queued_at is not null and e.resolves = '{}'
        and coalesce(e.reminded_at, e.at) < now() - (n.settings ->> 'remindMs')::bigint * interval '1 ms'
        and (e.name = any(n.alerts) or exists (select 1 from dimsync_controller.account a where a.id = e.account and a.removed_at is null and e.name = any(a.alerts)))
        and not exists (select 1 from dimsync_controller.event f where f.source = e.source and f.account is not distinct from e.account and f.name = e.name
          and f.ended_by is null and f.reminds is null and f.at > e.at)
        and e.acknowledged is null
      returning e.*)
    insert into dimsync_controller.event (source, account, name, since, cause, actor, run, git_commit, detail, reminds)
      select source, account, name, coalesce(since, at), cause, actor, run, git_commit, detail, message from again`,

  hold: `update dimsync_controller.event e set held_at = now() where e.queued_at is null and e.message is null and e.held_at is null
    and ${isSilenced(inMaintenance)}`,

  // What was held and is over is never sent, nor that it is over.
  drop: `update dimsync_controller.event e set queued_at = now() where e.queued_at is null and e.message is null and e.held_at is not null
    and (e.ended_by is not null or e.resolves <> '{}' and e.name = 'resolved' and not exists (
      select 1 from dimsync_controller.event o where o.ended_by = e.id and (o.message is not null or o.held_at is null)))`,

  // Events with one cause that come within the group interval.
  gather: `with due as materialized (
      select e.source, e.name, e.cause, e.reminds, gen_random_uuid() as message
      from dimsync_controller.event e left join ${everyNotify} n using (source)
      where e.message is null and e.queued_at is null and not ${isSilenced(inMaintenance)}
      group by e.source, e.name, e.cause, e.reminds, n.settings
      having min(e.at) <= now() - coalesce((n.settings ->> 'groupMs')::bigint, 0) * interval '1 ms')
    update dimsync_controller.event e set message = due.message from due
    where e.message is null and e.queued_at is null and e.source = due.source and e.name = due.name and e.cause = due.cause
      and e.reminds is not distinct from due.reminds and not ${isSilenced(inMaintenance)}`,
});

/** SQL: whether the event `e` waits. */
const isSilenced = (inMaintenance: readonly number[]): string =>
  `(${inMaintenance.length === 0 ? "false" : `e.account in (${inMaintenance.join(", ")})`} or exists (
    select 1 from (select 1) one left join dimsync_controller.account a on a.id = e.account where exists (${silenceOf("1")})))`;

interface Maintained {
  readonly id: number;
  readonly maintenance: readonly MaintenanceWindow[];
  readonly now: string;
}

async function accountsInMaintenance(database: Database): Promise<readonly number[]> {
  const accounts = await rowsOf<Maintained>(
    database,
    `select a.id, a.maintenance, ${iso("now()")} as now from dimsync_controller.account a where a.maintenance <> '[]' and exists (
      select 1 from dimsync_controller.event e where e.account = a.id and e.queued_at is null)`,
  );
  return accounts.filter(({ maintenance, now }) => isInMaintenance(maintenance, new Date(now))).map(({ id }) => id);
}

interface NewEvent {
  readonly message: string;
  readonly source: string;
  readonly event: AlertMessage["event"];
  readonly resolves: AlertMessage["resolves"];
  readonly labels: Readonly<Record<string, string>> | null;
  readonly receiver: string | null;
  /** Null if nobody has configured where events are sent. */
  readonly settings: NotificationSettings | null;
}

/** Looks for what only time shows, and hands new messages to the queue. Returns how many jobs it has created. */
export async function routeEvents(database: Database, send: (job: DeliveryJob) => Promise<void>): Promise<number> {
  await database.script(Object.values(statements(await accountsInMaintenance(database))).join(";\n"));
  const events = await rowsOf<NewEvent>(
    database,
    `select e.message, e.source, e.name as event, e.resolves, a.labels, e.detail ->> 'receiver' as receiver, n.settings from dimsync_controller.event e
      left join dimsync_controller.account a on a.id = e.account left join ${everyNotify} n on n.source = e.source
      where e.queued_at is null and e.message is not null order by e.at limit 1000`,
  );
  const jobs = new Map(events.flatMap(jobsOf).map((job) => [job.id, job]));
  for (const job of jobs.values()) await send(job);
  const messages = [...new Set(events.map(({ message }) => message))];
  if (messages.length > 0)
    await database.query("update dimsync_controller.event set queued_at = now() where message = any($1::uuid[]) and queued_at is null", [
      messages,
    ]);
  return jobs.size;
}

const jobsOf = ({ message, source, event, resolves, labels, receiver: named, settings }: NewEvent): readonly DeliveryJob[] =>
  (settings?.receivers ?? [])
    .filter((receiver) => isRouted({ event, resolves, labels: labels ?? undefined, receiver: named ?? undefined }, receiver))
    .map(({ name }) => ({ id: jobId(message, name), source, receiver: name, message, priority: priorityOf(event) }));

/** Whoever tests a receiver waits for the message. */
const priorityOf = (event: AlertMessage["event"]): number =>
  event === "test" ? alertSeverities.length : alertSeverities.indexOf(severityOf({ event }));

/** The same for each attempt to create the job, because two processes can do it, and one can be killed before it notes that it has. */
const jobId = (message: string, receiver: string): string =>
  // PostgreSQL reads 32 hexadecimal digits as a UUID.
  createHash("sha256").update(`${message} ${receiver}`).digest("hex").slice(0, 32);
