import { type AuditLog, endOfNow, momentOf, readAudit } from "../drift/audit.ts";
import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import { openAccount } from "./account.ts";
import type { Context } from "./context.ts";
import type { GlobalFlags } from "./flags.ts";
import { loadOneProject } from "./project.ts";
import { tableText } from "./table.ts";

export interface AuditFlags extends GlobalFlags {
  readonly since?: string;
  readonly until?: string;
  readonly actor?: string;
}

/** `dimsync audit`: the audit log, newest first, all pages. Reads only. `-o json` prints `{ totalItems, items }`. */
export async function runAudit(context: Context<AuditFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const nowMs = Date.now();
  const since = flags.since === undefined ? undefined : momentFlag("--since", flags.since, nowMs);
  const until = flags.until === undefined ? endOfNow(nowMs) : momentFlag("--until", flags.until, nowMs);
  const format = outputFormat(flags.output);
  const { settings } = await loadOneProject(context);
  const account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted });
  let log: AuditLog;
  try {
    log = await readAudit(account.client, { until, ...(since === undefined ? {} : { since }) }, { signal: io.interrupted });
  } finally {
    await account.close();
  }
  const actor = flags.actor?.toLowerCase();
  const items = actor === undefined ? log.items : log.items.filter((entry) => entry.actor.email?.toLowerCase() === actor);
  if (!log.complete)
    io.stderr(
      `The audit log holds ${log.totalItems} entries in this window, and the newest ${log.items.length} were read. Give a later --since.\n`,
    );
  // The interface can't select by actor, so what was selected here is also counted here.
  if (format === "json")
    io.stdout(`${JSON.stringify({ totalItems: actor === undefined ? log.totalItems : items.length, items }, undefined, 2)}\n`);
  else
    io.stdout(
      items.length === 0
        ? "No entries.\n"
        : tableText(items, ["timestamp", "actor.email", "event", "context.userAgent", "context.ipAddress"]),
    );
  return 0;
}

function outputFormat(outputs: readonly string[]): "human" | "json" {
  const [format = "human", second] = outputs;
  if (second === undefined && (format === "human" || format === "json")) return format;
  throw new DimsyncError(
    "E_OUTPUT",
    "audit prints human or json, on stdout. Redirect it where a file is wanted: dimsync audit -o json > audit.json",
  );
}

/** A flag's moment: an ISO date or date-time, or so long ago. Throws E_USAGE. */
export function momentFlag(flag: string, text: string, nowMs: number): string {
  const moment = momentOf(text, nowMs);
  if (moment === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `${flag} takes a date such as 2026-03-01 or 2026-03-01T09:00:00Z, or a time before now such as 24h or 7d; ${JSON.stringify(text)} is neither.`,
    );
  return moment;
}
