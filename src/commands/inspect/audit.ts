import type { Context } from "../../cli/context.ts";
import type { AuditFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadOneProject, momentFlag } from "../../cli/project.ts";
import { type AuditLog, endOfNow, readAudit } from "../../drift/audit.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { isObject, type JsonValue, own } from "../../model/json/json.ts";
import { openAccount } from "../../operations/account.ts";
import type { Client } from "../../service/client.ts";
import { listingFormats, listingForms, rawForms } from "./listing-forms.ts";

const columns = ["timestamp", "actor.email", "event", "context.userAgent", "context.ipAddress"];

/** `dimsync audit`: prints all pages of the audit log, newest first. Only sends GET. `-o json` prints `{ totalItems, items }`, `--raw` the responses, one per page. */
export async function runAudit(context: Context<AuditFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const nowMs = Date.now();
  const since = flags.since === undefined ? undefined : momentFlag("--since", flags.since, nowMs);
  const until = flags.until === undefined ? endOfNow(nowMs) : momentFlag("--until", flags.until, nowMs);
  if (since !== undefined && Date.parse(since) >= Date.parse(until))
    throw new DimsyncError("E_USAGE", `--since must be before --until: ${since} is not before ${until}.`);
  const isRaw = flags.raw === true;
  checkOutputs(context, isRaw ? listingFormats.filter((format) => format !== "markdown") : listingFormats);
  if (isRaw && flags.actor !== undefined)
    throw new DimsyncError("E_USAGE", "--actor cannot be combined with --raw: the service cannot filter by actor.");
  const project = await loadOneProject(context, { account: true });
  const account = await openAccount(project, { readOnly: true, env: io.env, signal: io.interrupted });
  let log: AuditLog;
  try {
    if (isRaw) {
      const pages = await rawPages(account.client, until, since);
      await deliverForms(context, rawForms(pages, pages));
      return 0;
    }
    log = await readAudit(account.client, { until, ...(since === undefined ? {} : { since }) }, { signal: io.interrupted });
  } finally {
    await account.close();
  }
  const actor = flags.actor?.toLowerCase();
  const items = actor === undefined ? log.items : log.items.filter((entry) => entry.actor.email?.toLowerCase() === actor);
  if (!log.complete)
    io.stderr(
      `The audit log has ${log.totalItems} entries in this window, but only the newest ${log.items.length} were read. Use a later --since.\n`,
    );
  // The interface can't select by actor, so what was selected here is also counted here.
  const value = { totalItems: actor === undefined ? log.totalItems : items.length, items };
  await deliverForms(context, {
    ...listingForms({ value, rows: items, columns, isTty: io.stdoutIsTty }),
    ...(items.length === 0 ? { human: () => "No entries.\n" } : {}),
  });
  return 0;
}

/** The responses unchanged, newest entries first. */
async function rawPages({ raw }: Pick<Client, "raw">, until: string, since: string | undefined): Promise<readonly JsonValue[]> {
  const pages: JsonValue[] = [];
  for (let offset = 0, total = 1; offset < total; ) {
    const query = new URLSearchParams({ limit: "100", offset: String(offset), sortBy: "timestamp", sortOrder: "desc", endAt: until });
    if (since !== undefined) query.set("startAt", since);
    const page = await raw(`/v1/audit-logs?${query}`);
    const data = isObject(page) ? own(page, "data") : undefined;
    const [items, all] = isObject(data) ? [own(data, "items"), own(data, "totalItems")] : [];
    pages.push(page);
    if (!Array.isArray(items) || items.length === 0 || typeof all !== "number") break;
    offset += items.length;
    total = all;
  }
  return pages;
}
