import { DimsyncError } from "../core/base/model/errors.ts";
import type { NodePath } from "../core/base/model/nodes.ts";
import { durationMs } from "../core/base/text/counts.ts";
import { type AuditWindow, endOfNow } from "../core/drift/index.ts";

/** The time in a flag: an ISO date or date-time, or an age. Throws E_USAGE. */
export function momentFlag(flag: string, text: string, nowMs: number): string {
  const moment = momentOf(text, nowMs);
  if (moment === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Invalid ${flag} ${JSON.stringify(text)}. Use a date such as 2026-03-01 or 2026-03-01T09:00:00Z, or an age such as 24h or 7d.`,
    );
  return moment;
}

/** The window of `--since` and `--until`. Throws E_USAGE. */
export function auditWindow(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  nowMs: number,
): AuditWindow {
  const from = since === undefined ? undefined : momentFlag("--since", since, nowMs);
  const to = until === undefined ? endOfNow(nowMs) : momentFlag("--until", until, nowMs);
  if (from !== undefined && Date.parse(from) >= Date.parse(to))
    throw new DimsyncError("E_USAGE", `--since must be before --until: ${from} is not before ${to}.`);
  return { until: to, ...(from === undefined ? {} : { since: from }) };
}

/** The time in `--until`, which must be in the future. Throws E_USAGE. */
export function untilFlag(text: string): Date {
  const nowMs = Date.now();
  const until = momentOf(text, nowMs);
  if (until !== undefined && Date.parse(until) > nowMs) return new Date(until);
  throw new DimsyncError("E_USAGE", `--until must be a time in the future, such as 2027-01-31T18:00:00Z, not ${JSON.stringify(text)}.`);
}

/**
 * A time as users write it, as ISO 8601: an age before `nowMs` ("24h", "7d"), or a date or
 * date-time, in UTC if it has no zone. Undefined for other text.
 */
export function momentOf(text: string, nowMs: number): string | undefined {
  const ageMs = durationMs(text);
  if (ageMs !== undefined) return new Date(nowMs - ageMs).toISOString();
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/iu.test(text)) return undefined;
  // Date.parse takes 30 February for 2 March.
  const day = text.slice(0, 10);
  const midnight = Date.parse(day);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  const time = Date.parse(/T\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/iu.test(text) ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** A name, in quotes if it has dots or quotes; a quote in it is doubled. */
const nameOrQuoted = /"((?:[^"]|"")*)"|([^".]+)/uy;

/** The path of a node from the command line: `public.users.email`, `public."a.b".email`. Throws E_USAGE. */
export function nodePath(command: string, text = ""): NodePath {
  const [schema, table, column, ...more] = namesIn(text) ?? [];
  if (schema === undefined || more.length > 0)
    throw new DimsyncError(
      "E_USAGE",
      `${command} ${text === "" ? "needs a schema, table or column after the address" : `cannot read the path ${JSON.stringify(text)}. It takes one schema, table or column`}, as SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. Put a name with dots in quotes: 'public."a.b".email'.`,
    );
  return column !== undefined && table !== undefined ? [schema, table, column] : table !== undefined ? [schema, table] : [schema];
}

/** Undefined if the text is not names between dots. */
function namesIn(text: string): readonly string[] | undefined {
  const names: string[] = [];
  for (let at = 0; ; at++) {
    nameOrQuoted.lastIndex = at;
    const found = nameOrQuoted.exec(text);
    const name = found?.[1]?.replaceAll('""', '"') ?? found?.[2] ?? "";
    if (name === "") return undefined;
    names.push(name);
    at = nameOrQuoted.lastIndex;
    if (at === text.length) return names;
    if (text[at] !== ".") return undefined;
  }
}
