import type { Binding } from "../../model/address.ts";
import { isObject, own } from "../../model/json/json.ts";
import { emptyState, type Fact, withFacts } from "../facts.ts";
import { createdEntry } from "../history.ts";
import { type Intent, parseJournalLine } from "../journal-line.ts";
import { holderText, toHolder } from "../process-identity.ts";
import type { AppliedPlan, Lease, RecordsChange, RecordsState, UnlockedRun } from "../records.ts";
import type { Version } from "../shared/store.ts";
import { ContentError, parseAppliedCommit, parseSeenColumns, parseStored } from "../stored-values.ts";
import type { Database } from "./connection.ts";
import { iso } from "./iso.ts";
import { keepsCommit, tableIn } from "./schema.ts";

/** The newest version in the database. */
export interface PostgresVersion extends Version {
  /** Of the write that made it; "" before the first one. */
  readonly writeId: string;
  /** The lease has not been renewed for its time-to-live, by the database's clock. */
  readonly isExpired: boolean;
  /** False for tables of an earlier build, until an apply or `records init` adds the column. */
  readonly keepsCommit: boolean;
}

/** The identity of the store, and its content for one target. */
export interface Loaded {
  readonly id: string;
  readonly format: number;
  readonly version: PostgresVersion;
}

/** Reads everything about a target in one statement, so that it is one snapshot. Throws ContentError and what `wordsOf` describes. */
export async function readVersion(database: Database, schema: string, target: string): Promise<Loaded | undefined> {
  const { rows } = await database.query(readStatement(schema), [target]);
  const row = rows[0] as Row | undefined;
  if (row === undefined) return undefined;
  const { lease } = row;
  const appliedCommit = row.commit === null ? undefined : parseAppliedCommit(parseStored(row.commit, "the applied commit"));
  const state: RecordsState = {
    ...emptyState,
    version: lease?.version ?? "0",
    bindings: new Map((row.bindings ?? []).map(({ address, binding }) => [address, toBinding(binding)])),
    created: new Map(
      (row.created ?? []).flatMap(({ address, entry_id, entry, live_id, outcome }) =>
        outcome === "forgotten" ? [] : [[address, createdEntry({ entryId: entry_id, ...toIntent(entry_id, entry) }, live_id)] as const],
      ),
    ),
    forgotten: (row.created ?? []).flatMap(({ outcome, live_id }) => (outcome === "forgotten" ? [live_id] : [])),
    longestSeen: Object.fromEntries((row.lists ?? []).map(({ name, length }) => [name, length])),
    ...(row.columns === null ? {} : { columnsSeen: parseSeenColumns(parseStored(row.columns, "the list of columns")) }),
    ...(appliedCommit === undefined ? {} : { appliedCommit }),
    unlocked: (row.unlocked ?? []).map(({ run_id, at, grace_ms }): UnlockedRun => ({ runId: run_id, at, graceMs: grace_ms })),
  };
  const applied = (row.applied ?? []).map(({ plan_id, run_id, at }): [string, AppliedPlan] => [
    plan_id,
    { planId: plan_id, runId: run_id, at },
  ]);
  return {
    id: row.id,
    format: row.format,
    version: {
      version: lease?.version ?? "0",
      writeId: lease?.last_write ?? "",
      isExpired: lease?.is_expired === true,
      keepsCommit: row.keeps_commit,
      content: {
        epoch: Number(lease?.epoch ?? 0),
        lease: lease === null ? undefined : toLease(lease),
        state: withFacts(state, (row.open ?? []).flatMap(toFacts)),
        applied: new Map(applied),
      },
    },
  };
}

interface Row {
  readonly id: string;
  readonly format: number;
  readonly lease: LeaseRow | null;
  readonly open: readonly { readonly entry_id: string; readonly entry: string; readonly live_id: string | null }[] | null;
  readonly created: readonly Readonly<Record<"address" | "entry_id" | "entry" | "live_id" | "outcome", string>>[] | null;
  readonly bindings: readonly Readonly<Record<"address" | "binding", string>>[] | null;
  readonly applied: readonly Readonly<Record<"plan_id" | "run_id" | "at", string>>[] | null;
  readonly lists: readonly { readonly name: string; readonly length: number }[] | null;
  readonly columns: string | null;
  readonly keeps_commit: boolean;
  readonly commit: string | null;
  readonly unlocked: readonly { readonly run_id: string; readonly at: string; readonly grace_ms: number }[] | null;
}

interface LeaseRow {
  /** Numbers beyond 2^53 stay text. */
  readonly version: string;
  readonly last_write: string;
  readonly epoch: string;
  readonly token: string | null;
  readonly run_id: string;
  readonly run_url: string | null;
  readonly holder: string;
  readonly since: string;
  readonly ttl_ms: number;
  readonly reason: string | null;
  readonly until: string | null;
  readonly is_expired: boolean;
}

function readStatement(schema: string): string {
  const t = tableIn(schema);
  return `select s.id, s.format,
  (select row_to_json(l) from (
    select version::text, last_write, epoch::text, token, run_id, run_url, holder, ${iso("since")} as since, ttl_ms, reason,
      ${iso("until")} as until, expires_at <= now() as is_expired
    from ${t("lease")} where target = $1) l) as lease,
  (select json_agg(json_build_object('entry_id', entry_id, 'entry', entry, 'live_id', live_id) order by seq)
    from ${t("intent")} where target = $1 and is_open) as open,
  (select json_agg(c) from (
    select distinct on (address) address, entry_id, entry, live_id, outcome from ${t("intent")}
    where target = $1 and outcome in ('created', 'recovered', 'forgotten') and live_id is not null
    order by address, settled_version desc, seq desc) c) as created,
  (select json_agg(json_build_object('address', address, 'binding', binding) order by address)
    from ${t("binding")} where target = $1) as bindings,
  (select json_agg(a) from (select plan_id, run_id, at from ${t("applied_plan")} where target = $1) a) as applied,
  (select json_agg(l) from (select name, length from ${t("list_seen")} where target = $1) l) as lists,
  (select seen from ${t("columns_seen")} where target = $1) as columns,
  ${keepsCommit(schema)} as keeps_commit,
  (select to_json(l) ->> 'applied_commit' from ${t("lease")} l where target = $1) as commit,
  (select json_agg(u order by u.at) from (
    select run_id, ${iso("at")} as at, grace_ms from ${t("unlocked_run")} where target = $1
    order by at desc limit 50) u) as unlocked
from ${t("store")} s`;
}

/** The newest writes for a target, newest first. Throws what `wordsOf` describes. */
export async function readHistory(
  database: Database,
  { schema, target, limit }: { readonly schema: string; readonly target: string; readonly limit: number },
): Promise<readonly RecordsChange[]> {
  const { rows } = await database.query(
    `select version::text, ${iso("at")} as at, run_id as "runId", run_url as "runUrl", subject, changes
      from ${tableIn(schema)("version")} where target = $1 order by ${tableIn(schema)("version")}.version desc limit $2`,
    [target, limit],
  );
  return (rows as readonly (Omit<RecordsChange, "runUrl"> & { readonly runUrl: string | null })[]).map((row) => ({
    ...row,
    runUrl: row.runUrl ?? undefined,
  }));
}

function toLease(row: LeaseRow): Lease | undefined {
  // A maintenance lease ends by itself.
  if (row.token === null || (row.reason !== null && row.is_expired)) return undefined;
  const { token, since } = row;
  const process = toHolder(row.holder === "" ? undefined : parseStored(row.holder, "the holder of the lease"));
  return {
    token,
    since,
    process,
    holder: holderText(process),
    runId: row.run_id,
    runUrl: row.run_url ?? undefined,
    ttlMs: row.ttl_ms,
    epoch: Number(row.epoch),
    reason: row.reason ?? undefined,
    until: row.until ?? undefined,
  };
}

function toBinding(text: string): Binding {
  const value: unknown = parseStored(text, "a binding");
  if (!isObject(value) || typeof own(value, "id") !== "string") throw new ContentError("a binding has no id");
  return value as unknown as Binding;
}

function toFacts({
  entry_id,
  entry,
  live_id,
}: {
  readonly entry_id: string;
  readonly entry: string;
  readonly live_id: string | null;
}): readonly Fact[] {
  const intend: Fact = { type: "intend", entryId: entry_id, intent: toIntent(entry_id, entry) };
  return live_id === null
    ? [intend]
    : [intend, { type: "settle", entryId: entry_id, settlement: { outcome: "answered", id: live_id }, at: "" }];
}

function toIntent(entryId: string, entry: string): Intent {
  const value = parseStored(entry, `the journal entry ${entryId}`);
  const line = isObject(value) ? parseJournalLine(value) : undefined;
  if (line?.type !== "intend") throw new ContentError(`this version of dimsync cannot read the journal entry ${entryId}`);
  return line.intent;
}
