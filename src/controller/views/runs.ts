import { constants } from "node:buffer";
import { DimsyncError } from "../../model/errors.ts";
import { parseJson } from "../../model/json/parse.ts";
import { gunzipText } from "../../records/files/gunzip.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { iso } from "../../records/postgres/iso.ts";
import { type BundleContent, bundleFiles } from "../bundle-content.ts";
import { rowsOf } from "../database/rows.ts";
import { commitOf, isDirty } from "./commit.ts";
import { namedAccounts } from "./named-accounts.ts";
import type { BundleDetail, Mode, RunDetail, RunSummary } from "./status.ts";

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly reason: RunSummary["reason"];
  readonly mode: Mode;
  readonly worker: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly exit: RunSummary["exit"];
  readonly exposed_columns: number;
  readonly differences: number;
  readonly manual: number;
  readonly policy_violations: number;
  readonly changes_sent: number;
  /** It is stored before it sends changes; if its worker is gone, it stays so, with an error. */
  readonly is_sending: boolean;
  readonly error_code: string | null;
  readonly message: string | null;
  readonly digest: string | null;
  readonly git_commit: string | null;
  readonly dirty: boolean | null;
  readonly calls: RunSummary["calls"];
}

const runColumns = `r.id, a.name as account, r.reason, r.mode, r.worker, ${iso("r.started_at")} as started_at, ${iso("r.finished_at")} as finished_at,
  json_build_object('code', r.exit_code, 'reasons', r.exit_reasons) as exit, r.exposed_columns, r.differences, r.manual, r.policy_violations,
  r.changes_sent, r.is_sending and a.running_run = r.claim and a.running_until >= now() as is_sending, r.error_code, r.message, r.digest, r.git_commit, ${isDirty("r.digest")} as dirty, r.calls`;

/** Runs without their reports. \`rest\` is the rest of the statement; \`r\` is the run and \`a\` its account. */
export async function readRuns(database: Database, rest: string, values: readonly unknown[]): Promise<readonly RunSummary[]> {
  const from = `from dimsync_controller.run r join ${namedAccounts} a on a.id = r.account`;
  return (await rowsOf<RunRow>(database, `select ${runColumns} ${from} ${rest}`, values)).map(toRun);
}

function toRun(row: RunRow): RunSummary {
  const { id, account, reason, mode, worker, exit, differences, manual, calls } = row;
  return {
    ...{ id, account, reason, mode, worker, exit, differences, manual, calls },
    ...{ startedAt: row.started_at, finishedAt: row.finished_at, exposedColumns: row.exposed_columns },
    ...{ policyViolations: row.policy_violations, changesSent: row.changes_sent },
    ...(row.is_sending ? { isSending: true as const } : {}),
    ...(row.error_code === null || row.is_sending ? {} : { error: { code: row.error_code, message: row.message ?? "" } }),
    ...(row.digest === null ? {} : { digest: row.digest }),
    ...commitOf(row),
  };
}

/** A run with its report and result; undefined if there is none. */
export async function readRun(database: Database, id: string): Promise<RunDetail | undefined> {
  const [run] = await readRuns(database, "where r.id = $1", [id]);
  if (run === undefined) return undefined;
  const [stored] = await rowsOf<{
    readonly report: string | null;
    readonly head: Partial<NonNullable<RunDetail["report"]>> | null;
    readonly result: string | null;
  }>(
    database,
    `select encode(coalesce(p.content, r.report), 'base64') as report, r.report_head as head, encode(r.result, 'base64') as result
      from dimsync_controller.run r left join dimsync_controller.report p on p.account = r.account and p.digest = r.report_digest where r.id = $1`,
    [id],
  );
  return {
    ...run,
    ...(typeof stored?.report === "string"
      ? { report: { ...unzipped<NonNullable<RunDetail["report"]>>(stored.report), ...stored.head } }
      : {}),
    ...(typeof stored?.result === "string" ? { result: unzipped<NonNullable<RunDetail["result"]>>(stored.result) } : {}),
  };
}

/** JSON that the controller stored itself, unless someone else can write its database. Throws E_CONTROLLER_DATABASE for more than a plan can have. */
function unzipped<T>(base64: string): T {
  const text = gunzipText(Buffer.from(base64, "base64"), constants.MAX_STRING_LENGTH);
  if (text === undefined)
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      "A report in the controller's database unpacks to more than 512 MB, so no controller wrote it.",
    );
  return parseJson(text) as T;
}

interface BundleRow {
  readonly digest: string;
  readonly source: string;
  readonly git_commit: string | null;
  readonly dirty: boolean;
  readonly tool_version: string;
  readonly pushed_by: string | null;
  readonly pushed_at: string;
  readonly bytes: number;
  readonly content: string;
  readonly accounts: readonly string[];
}

/** A bundle; undefined if there is none. */
export async function readBundle(database: Database, digest: string): Promise<BundleDetail | undefined> {
  const [row] = await rowsOf<BundleRow>(
    database,
    `select b.digest, b.source, b.git_commit, b.dirty, b.tool_version, b.pushed_by, ${iso("b.pushed_at")} as pushed_at, b.bytes, encode(b.content, 'base64') as content,
      (select coalesce(json_agg(a.name order by a.name), '[]') from ${namedAccounts} a where a.digest = b.digest) as accounts
      from dimsync_controller.bundle b where b.digest = $1`,
    [digest],
  );
  if (row === undefined) return undefined;
  const { source, bytes, accounts } = row;
  return {
    ...{ digest, source, bytes, accounts, toolVersion: row.tool_version, pushedAt: row.pushed_at },
    files: bundleFiles(unzipped<BundleContent>(row.content)),
    ...commitOf(row),
    ...(row.pushed_by === null ? {} : { pushedBy: row.pushed_by }),
  };
}

/** The runs of the account with this unique name, newest first. */
export const accountRuns = (
  database: Database,
  name: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly RunSummary[]> =>
  readRuns(database, "where a.name = $1 order by r.finished_at desc, r.id desc limit $2 offset $3", [name, limit, offset]);
