import type { Database, Queries } from "../../../core/records/postgres/connection.ts";
import { jsonParameter } from "../../../core/records/postgres/stored-text.ts";
import { rowsOf } from "../database/rows.ts";
import type { RunOutcome } from "./check.ts";

// Protect must not fight with people: it reverts the same change of the same user a few times a day, and then only reports it.

/** What protect sends a change for. */
export interface ExposedChange {
  readonly key: string;
  readonly address: string;
  readonly path: string;
  /** "" if the audit log names nobody. */
  readonly actor: string;
}

const mostPerDay = 3;

/** The changes that protect reverted often enough today. */
export async function stoppedChanges(
  database: Database,
  account: number,
  changes: readonly ExposedChange[],
): Promise<readonly ExposedChange[]> {
  const often = await rowsOf<{ readonly key: string; readonly actor: string }>(
    database,
    `select key, actor from dimsync_controller.protection where account = $1 and at > now() - interval '1 day'
      group by key, actor having count(*) >= ${mostPerDay}`,
    [account],
  );
  const keys = new Set(often.map(({ key, actor }) => JSON.stringify([key, actor])));
  return changes.filter(({ key, actor }) => keys.has(JSON.stringify([key, actor])));
}

/** Before they are sent: a run that ends early counts too. */
export async function countProtections(
  queries: Queries,
  { account, run, changes }: { readonly account: number; readonly run: string; readonly changes: readonly ExposedChange[] },
): Promise<void> {
  if (changes.length === 0) return;
  await queries.query(
    `insert into dimsync_controller.protection (account, key, actor, run)
      select $1, key, actor, $2 from jsonb_to_recordset($3::jsonb) as x(key text, actor text)`,
    [account, run, jsonParameter(changes.map(({ key, actor }) => ({ key, actor })))],
  );
}

/** Outcomes of a change that the account may have now. */
const reverting: ReadonlySet<string> = new Set(["done", "recovered", "unknown", "not-converged"]);

/** After the run: what was not reverted does not count. Without a result, only a run that did not get the lease has surely sent nothing. */
export async function forgetProtections(
  queries: Queries,
  {
    run,
    changes,
    outcome: { result, exit },
  }: { readonly run: string; readonly changes: readonly ExposedChange[]; readonly outcome: RunOutcome },
): Promise<void> {
  if (changes.length === 0 || (result === undefined && exit.code !== 6)) return;
  const reverted = new Set(result?.items.filter(({ outcome }) => reverting.has(outcome)).map(({ address }) => address));
  const keys = changes.filter(({ address }) => !reverted.has(address)).map(({ key }) => key);
  await queries.query("delete from dimsync_controller.protection where run = $1 and key in (select unnest($2::text[]))", [run, keys]);
}
