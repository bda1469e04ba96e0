import { callWebhook, jsonHeaders } from "../../../core/drift/notify.ts";
import { DimsyncError, ProblemsError } from "../../../core/model/errors.ts";
import type { Environment } from "../../../core/model/settings/env.ts";
import type { Receiver } from "../../../core/model/settings/notifications.ts";
import { masked, Secret, secretKey } from "../../../core/model/settings/secret.ts";
import { resolveAll } from "../../../core/operations/account.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { jsonParameter } from "../../../core/records/postgres/stored-text.ts";
import { rowsOf } from "../database/rows.ts";
import type { Log } from "../log.ts";
import { accountHref, causeHref } from "../page/html/words.ts";
import type { SourceNotifications } from "../projects/register.ts";
import { everyNotify } from "../views/sql.ts";
import type { DeliveryJob } from "../work/queue.ts";
import { requestsFor } from "./formats.ts";
import { type AlertAccount, type AlertMessage, isRouted } from "./message.ts";

export interface DeliveryOptions {
  /** Secrets of receivers are those of this process. */
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Of the status page, without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly log: Log;
}

/** How long a message is sent again and again until its receiver accepts it, in seconds. */
const givenUpAfter = 86_400;
/** Sends a message to a receiver. Rejects if it should be sent again later. */
export async function deliver(database: Database, job: DeliveryJob, options: DeliveryOptions): Promise<void> {
  const found = await readMessage(database, job, options.publicUrl);
  if (found === undefined || found.isSent) return;
  const { message, receiver } = found;
  const failure = await send(found, options);
  options.signal.throwIfAborted();
  const isGivenUp = failure !== undefined && found.age > givenUpAfter;
  await noteDelivery(database, job, { failure, isGivenUp });
  if (failure === undefined) return;
  options.log(`Receiver ${receiver.name} of ${job.source} was not notified: ${failure}.`, { level: "warn" });
  // A test shows how it is now.
  if (!isGivenUp && message.event !== "test") throw new Error(failure);
}

interface FoundMessage {
  readonly message: AlertMessage;
  readonly receiver: Receiver;
  readonly folder: string | undefined;
  readonly now: Date;
  /** In seconds, since it was first tried. */
  readonly age: number;
  /** Whether the receiver has accepted it. */
  readonly isSent: boolean;
}

/** Why the receiver did not accept the message, without any part of a secret; undefined if it did. */
async function send({ message, receiver, folder, now }: FoundMessage, { env, signal }: DeliveryOptions): Promise<string | undefined> {
  const { url: urlReference, key, secret = key } = receiver;
  try {
    const references = [urlReference, secret].filter((reference) => reference !== undefined);
    const values = await resolveAll(references, secretPlaces(folder), env, signal);
    const secretOf = (reference: typeof key) => (reference === undefined ? undefined : values.get(secretKey(reference)));
    const url = secretOf(urlReference) ?? new Secret("https://events.pagerduty.com/v2/enqueue");
    const text = secretOf(secret)?.reveal();
    const options = { now, secret: typeof text === "string" ? text : undefined };
    for (const { body, headers = {} } of requestsFor(withoutSecrets(message), receiver, options)) {
      // Not masked: a key of PagerDuty is part of the body, and a signature is that of the body. The message itself is.
      const requestTo = () => ({ method: "POST", headers: { ...jsonHeaders, ...headers }, body }) as const;
      const failure = await callWebhook(url, requestTo, { env, signal });
      if (failure !== undefined) return failure;
    }
    return undefined;
  } catch (error) {
    return whyNotSent(error);
  }
}

/** Where files of secrets are. Those of a pushed project must be in directories for secrets. */
export const secretPlaces = (folder: string | undefined) =>
  folder === undefined ? { folder: "/run/secrets", isBundle: true } : { folder };

/** A secret that has no value, as a clause; throws everything else again. */
export function whyNotSent(error: unknown): string {
  if (error instanceof ProblemsError) return error.problems.map(({ message }) => message).join(" ");
  if (error instanceof DimsyncError) return error.message;
  throw error;
}

/** Names and labels can contain what this process knows as a secret. */
const withoutSecrets = (message: AlertMessage): AlertMessage => JSON.parse(masked(JSON.stringify(message)));

async function noteDelivery(
  database: Database,
  { source, receiver, message }: DeliveryJob,
  { failure, isGivenUp }: { readonly failure: string | undefined; readonly isGivenUp: boolean },
): Promise<void> {
  const outcome = failure === undefined ? "sent" : "failed";
  await database.query(
    `with noted as (update dimsync_controller.event set deliveries = deliveries || jsonb_build_object($2::text,
        jsonb_build_object('outcome', $3::text, 'at', ${iso("now()")}) || $4::jsonb) where message = $1),
      undelivered as (insert into dimsync_controller.event (source, name, cause, detail)
        select $5, 'undelivered', $2, $4::jsonb || jsonb_build_object('receiver', $2::text) where $6::boolean)
      insert into dimsync_controller.counter as c (name, label, value) values ('notifications', $3, 1)
      on conflict (name, label) do update set value = c.value + 1`,
    [
      ...[message, receiver, outcome],
      masked(jsonParameter(failure === undefined ? {} : { error: { code: "E_NOTIFY", message: failure } })),
      ...[source, isGivenUp],
    ],
  );
}

interface EventRow
  extends Pick<AlertMessage, "event" | "cause" | "resolves">,
    Pick<AlertAccount, "id" | "at" | "since" | "actor" | "run" | "commit"> {
  readonly detail: Pick<AlertMessage, "receiver" | "error"> & Partial<Pick<AlertAccount, "findings" | "findingsTotal" | "counts">>;
  readonly reminds: string | null;
  readonly is_over: boolean;
  readonly account: string | null;
  readonly labels: AlertAccount["labels"] | null;
}

interface MessageRow {
  readonly settings: SourceNotifications;
  readonly now: string;
  readonly age: number;
  readonly is_sent: boolean;
  readonly events: readonly EventRow[] | null;
  readonly ended: readonly string[] | null;
}

/** What the receiver gets of the message. Undefined if the receiver no longer exists, or gets nothing. */
async function readMessage(
  database: Database,
  { source, receiver: name, message: id }: DeliveryJob,
  publicUrl: string | undefined,
): Promise<FoundMessage | undefined> {
  const [row] = await rowsOf<MessageRow>(
    database,
    `select n.settings, ${iso("now()")} as now,
      (select extract(epoch from now() - min(e.queued_at)) from dimsync_controller.event e where e.message = $2) as age,
      exists (select 1 from dimsync_controller.event e where e.message = $2 and e.deliveries -> $3 ->> 'outcome' = 'sent') as is_sent,
      (select json_agg(json_build_object('id', e.id, 'event', e.name, 'at', ${iso("e.at")}, 'since', ${iso("e.since")}, 'cause', e.cause, 'actor', e.actor,
        'run', e.run, 'commit', e.git_commit, 'detail', e.detail, 'resolves', e.resolves, 'reminds', e.reminds, 'is_over', e.ended_by is not null,
        'labels', a.labels, 'account', case when exists (select 1 from dimsync_controller.account b where b.target = a.target and b.id <> a.id and b.removed_at is null)
          then a.source || '/' || a.target else a.target end) order by a.target, e.at)
        from dimsync_controller.event e left join dimsync_controller.account a on a.id = e.account where e.message = $2) as events,
      (select json_agg(distinct o.message) from dimsync_controller.event o join dimsync_controller.event e on o.ended_by = e.id
        where e.message = $2 and o.reminds is null and o.deliveries -> $3 ->> 'outcome' = 'sent' and not exists (select 1 from dimsync_controller.event still
          where still.message = o.message and still.ended_by is null)) as ended
      from ${everyNotify} n where n.source = $1`,
    [source, id, name],
  );
  const receiver = row?.settings.receivers.find((each) => each.name === name);
  if (row === undefined || receiver === undefined) return undefined;
  const events = (row.events ?? []).filter(({ event, resolves, labels, detail }) =>
    isRouted({ event, resolves, labels: labels ?? undefined, receiver: detail.receiver }, receiver),
  );
  const [first] = events;
  if (first === undefined) return undefined;
  const ended = [...(row.ended ?? []), ...(events.every(({ is_over }) => is_over) ? [id] : [])];
  return {
    receiver,
    folder: row.settings.folder,
    now: new Date(row.now),
    age: row.age ?? 0,
    isSent: row.is_sent,
    message: toMessage(events, first, { id, source, ended, publicUrl }),
  };
}

function toMessage(
  events: readonly EventRow[],
  first: EventRow,
  { id, source, ended, publicUrl }: Pick<AlertMessage, "id" | "source" | "ended"> & { readonly publicUrl: string | undefined },
): AlertMessage {
  const accounts = events.flatMap((each) => toAccount(each, publicUrl));
  const { event, at, cause, resolves, reminds, detail } = first;
  const since = events.flatMap((each) => each.since ?? []).sort();
  return {
    id,
    source,
    ended,
    event,
    cause,
    resolves,
    accounts,
    at,
    since: since[0] ?? null,
    isReminder: reminds !== null,
    reminds: reminds ?? undefined,
    receiver: detail.receiver,
    error: accounts.length === 0 ? detail.error : undefined,
    link: accounts.length === 1 ? accounts[0]?.link : linkTo(causePath(first), publicUrl),
  };
}

/** The page of several accounts: those that the cause affects, if it is open and only one. */
const causePath = ({ cause, resolves, event }: EventRow): string =>
  cause === "" || cause.includes("; ") || resolves.length > 0 || event === "repaired" ? "/" : causeHref(cause);

/** None for an event about no account. */
function toAccount({ account, labels, detail, ...event }: EventRow, publicUrl: string | undefined): readonly AlertAccount[] {
  if (account === null) return [];
  const { id, at, since, actor, commit, run } = event;
  const { counts, findings = [], findingsTotal = 0, error } = detail;
  const about = { id, account, labels: labels ?? {}, at, since, actor, commit, run };
  return [{ ...about, counts, findings, findingsTotal, error, link: linkTo(accountHref(account), publicUrl) }];
}

const linkTo = (path: string, publicUrl: string | undefined): string | undefined =>
  publicUrl === undefined ? undefined : `${publicUrl}${path}`;
