import { escapeLiteral } from "pg";
import { parseAddress } from "../../model/address.ts";
import type { Fact } from "../facts.ts";
import { toLogEntry } from "../journal-line.ts";
import type { Lease } from "../records.ts";
import { subjectOf } from "../shared/describe-change.ts";
import type { Draft } from "../shared/store.ts";
import { beginDurable, tableIn } from "./schema.ts";
import { toStored } from "./stored-text.ts";

// One script is one transaction and one round trip. Its first statement compares the version and
// takes the next one. Every later statement only acts if that succeeded: if this write made the
// newest version. So a script that is sent twice, because the first response was lost, changes
// nothing the second time.

export interface WriteScript {
  readonly target: string;
  /** The version that the write is made on. */
  readonly parent: string;
  readonly writeId: string;
  readonly draft: Draft;
  /** What the write changes, for the history. */
  readonly changes: readonly string[];
  /** Whether the run that writes holds the lease: each of its writes renews it. */
  readonly renews: boolean;
}

/**
 * Versions older than this many are forgotten. The outcome of an unclear write is read within
 * seconds.
 */
const keptVersions = 10_000;

/** The script, in which the statement at `casIndex` changes one row if the write was accepted. */
export function writeScript(schema: string, write: WriteScript): { readonly text: string; readonly casIndex: number } {
  const t = tableIn(schema);
  const { target, parent, writeId, draft, changes } = write;
  const subject = subjectOf(draft.facts, draft.subject);
  const own = `target = ${text(target)}`;
  const accepted = `exists (select 1 from ${t("lease")} where ${own} and last_write = ${text(writeId)})`;
  const statements = [
    `insert into ${t("lease")} (target, version, last_write, epoch) values (${text(target)}, 0, '', 0) on conflict (target) do nothing`,
    `update ${t("lease")} set version = version + 1, last_write = ${text(writeId)}${leaseColumns(write)} where ${own} and version = ${parent}`,
    `insert into ${t("version")} (target, version, write_id, run_id, run_url, subject, changes)
      select ${text(target)}, version, last_write, ${text(draft.runId)}, ${optional(draft.runUrl)}, ${text(subject)}, ${text(JSON.stringify(changes))}
      from ${t("lease")} where ${own} and last_write = ${text(writeId)} on conflict (target, version) do nothing`,
    `delete from ${t("version")} where ${own} and version < ${parent}::bigint - ${keptVersions}`,
    ...draft.facts.flatMap((fact) => factStatements(t, fact, { target, accepted })),
    ...(draft.unlocked === undefined
      ? []
      : [
          `insert into ${t("unlocked_run")} (target, run_id, at, grace_ms)
            select ${text(target)}, ${text(draft.unlocked.runId)}, now(), ${number(draft.unlocked.graceMs)} where ${accepted}`,
        ]),
  ];
  // begin and set local come first.
  return { text: `${beginDurable}${statements.map((statement) => `${statement};\n`).join("")}commit;`, casIndex: 3 };
}

function leaseColumns({ draft: { lease }, renews }: WriteScript): string {
  if (lease === "free")
    return ", token = null, run_id = null, run_url = null, holder = null, expires_at = null, reason = null, until = null";
  if (lease === undefined) return renews ? ", expires_at = now() + ttl_ms * interval '1 ms'" : "";
  return `, epoch = ${number(lease.epoch)}, token = ${text(lease.token)}, run_id = ${text(lease.runId)}, run_url = ${optional(lease.runUrl)},
    holder = ${text(lease.process === undefined ? "" : JSON.stringify(lease.process))}, since = now(), ttl_ms = ${number(lease.ttlMs)}, reason = ${optional(lease.reason)},
    until = ${optional(lease.until)}::timestamptz, expires_at = ${expiry(lease)}`;
}

function expiry({ reason, until, ttlMs }: Lease): string {
  if (reason === undefined) return `now() + ${number(ttlMs)} * interval '1 ms'`;
  return until === undefined ? "'infinity'" : `${text(until)}::timestamptz`;
}

type Table = (name: string) => string;

function factStatements(
  t: Table,
  fact: Fact,
  { target, accepted }: { readonly target: string; readonly accepted: string },
): readonly string[] {
  const own = `target = ${text(target)}`;
  switch (fact.type) {
    case "intend": {
      const values = [fact.entryId, target, fact.intent.address, JSON.stringify(toLogEntry({ ...fact, target }, fact.intent.at))];
      return [
        `insert into ${t("intent")} (entry_id, target, address, entry) select ${values.map(text).join(", ")} where ${accepted}
          on conflict (entry_id) do nothing`,
      ];
    }
    case "settle":
      return [settleStatement(t, fact, `${own} and entry_id = ${text(fact.entryId)} and ${accepted}`)];
    case "bind": {
      const values = [target, fact.address, parseAddress(fact.address)?.kind ?? "", fact.binding.id, JSON.stringify(fact.binding)];
      return [
        `insert into ${t("binding")} (target, address, kind, live_id, binding) select ${values.map(text).join(", ")} where ${accepted}
          on conflict (target, address) do update set live_id = excluded.live_id, binding = excluded.binding`,
      ];
    }
    case "unbind":
      return [`delete from ${t("binding")} where ${own} and address = ${text(fact.address)} and ${accepted}`];
    case "applied": {
      const { planId, runId, at } = fact.plan;
      return [
        `insert into ${t("applied_plan")} (target, plan_id, run_id, at) select ${[target, planId, runId, at].map(text).join(", ")}
          where ${accepted} on conflict (target, plan_id) do nothing`,
      ];
    }
    case "columns":
      return [
        `insert into ${t("columns_seen")} (target, seen) select ${text(target)}, ${text(JSON.stringify(fact.seen))} where ${accepted}
          on conflict (target) do update set seen = excluded.seen`,
      ];
    case "commit":
      return [`update ${t("lease")} set applied_commit = ${text(JSON.stringify(fact.applied))} where ${own} and ${accepted}`];
    case "lists":
      return Object.entries(fact.seen).map(
        ([name, length]) => `insert into ${t("list_seen")} as seen (target, name, length)
          select ${text(target)}, ${text(name)}, ${number(length)} where ${accepted}
          on conflict (target, name) do update set length = greatest(seen.length, excluded.length)`,
      );
  }
}

/** "answered" and "unknown" leave the entry open; "forgotten" is about an entry that is closed. */
function settleStatement(t: Table, { settlement: { outcome, id, by } }: Extract<Fact, { type: "settle" }>, where: string): string {
  const table = t("intent");
  if (outcome === "forgotten")
    return `update ${table} set outcome = 'forgotten', settled_by = ${optional(by)} where ${where} and outcome in ('created', 'recovered')`;
  if (outcome === "answered" || outcome === "unknown")
    return `update ${table} set outcome = ${text(outcome)}, live_id = coalesce(${optional(id)}, live_id) where ${where} and is_open`;
  const version = `(select version from ${t("lease")} where target = ${table}.target)`;
  return `update ${table} set is_open = false, outcome = ${text(outcome)}, live_id = ${optional(id)}, settled_by = ${optional(by)},
    settled_version = ${version}, settled_at = now() where ${where} and is_open`;
}

const text = (value: string): string => escapeLiteral(toStored(value));
const optional = (value: string | undefined): string => (value === undefined ? "null" : text(value));

/** Throws for anything but a finite number, because it becomes part of a script. */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new Error("A number of the records is not finite.");
  return String(Math.round(value));
}
