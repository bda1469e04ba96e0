import { constants } from "node:buffer";
import { DimsyncError } from "../../../core/model/errors.ts";
import { parseJson } from "../../../core/model/json/parse.ts";
import type { Plan, Result } from "../../../core/model/plan.ts";
import { gunzipText } from "../../../core/records/files/gunzip.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { membersOf } from "../database/rows.ts";
import type { BundleContent } from "../projects/bundle.ts";
import { dirtyOf, everyAccount, namedAccounts } from "./sql.ts";
import type { BundleDetail, Range, RunDetail, RunSummary } from "./status.ts";

// It is stored before it sends changes; if its worker is gone, it stays so, with an error.
const isSending = "r.is_sending and a.running_run = r.claim and a.running_until >= now()";

const runColumns = `r.id, a.name as account, r.reason, r.mode, r.worker, json_build_object('code', r.exit_code, 'reasons', r.exit_reasons) as exit,
  r.differences, r.manual, r.calls, ${iso("r.started_at")} as "startedAt", ${iso("r.finished_at")} as "finishedAt", r.exposed_columns as "exposedColumns",
  r.policy_violations as "policyViolations", r.changes_sent as "changesSent", nullif(${isSending}, false) as "isSending",
  case when r.error_code is not null and (${isSending}) is not true then json_build_object('code', r.error_code, 'message', coalesce(r.message, '')) end as error,
  r.digest, r.git_commit as commit, ${dirtyOf("r.digest")} as dirty`;

/** Runs without their reports. `rest` is the rest of the statement; `r` is the run and `a` its account. */
export const readRuns = (database: Database, rest: string, values: readonly unknown[]): Promise<readonly RunSummary[]> =>
  membersOf<RunSummary>(
    database,
    `select ${runColumns} from dimsync_controller.run r join ${everyAccount} a on a.id = r.account ${rest}`,
    values,
  );

/** A run with its report and result; undefined if there is none. */
export async function readRun(database: Database, id: string): Promise<RunDetail | undefined> {
  const [run] = await readRuns(database, "where r.id = $1", [id]);
  if (run === undefined) return undefined;
  const [stored = {}] = await membersOf<{ readonly report?: string; readonly head?: Partial<Plan>; readonly result?: string }>(
    database,
    `select encode(p.content, 'base64') as report, r.report_head as head, encode(r.result, 'base64') as result
      from dimsync_controller.run r left join dimsync_controller.report p on p.account = r.account and p.digest = r.report_digest where r.id = $1`,
    [id],
  );
  const { report, head, result } = stored;
  return {
    ...run,
    ...(report === undefined ? {} : { report: { ...unzipped<Plan>(report), ...head } }),
    ...(result === undefined ? {} : { result: unzipped<Result>(result) }),
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

/** A bundle; undefined if there is none. */
export async function readBundle(database: Database, digest: string): Promise<BundleDetail | undefined> {
  const [row] = await membersOf<Omit<BundleDetail, "files"> & { readonly content: string }>(
    database,
    `select b.digest, b.source, b.bytes, b.tool_version as "toolVersion", ${iso("b.pushed_at")} as "pushedAt", b.git_commit as commit,
      nullif(b.dirty, false) as dirty, b.pushed_by as "pushedBy", encode(b.content, 'base64') as content,
      (select coalesce(json_agg(a.name order by a.name), '[]') from ${namedAccounts} a where a.digest = b.digest) as accounts
      from dimsync_controller.bundle b where b.digest = $1`,
    [digest],
  );
  if (row === undefined) return undefined;
  const { content, ...bundle } = row;
  const files = Object.entries(unzipped<BundleContent>(content).files).map(([path, text]) => ({ path, text }));
  return { ...bundle, files };
}

/** The runs of the account with this unique name, newest first. */
export const accountRuns = (database: Database, name: string, { offset, limit }: Range): Promise<readonly RunSummary[]> =>
  readRuns(database, "where a.name = $1 order by r.finished_at desc, r.id desc limit $2 offset $3", [name, limit, offset]);
