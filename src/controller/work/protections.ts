import type { Database } from "../../records/postgres/connection.ts";
import { jsonParameter } from "../../records/postgres/stored-text.ts";
import { rowsOf } from "../database/rows.ts";
import type { ExposedChange } from "./repair.ts";

/** How often protect reverts the same change of the same user in a day. Then it only reports. */
const mostPerDay = 3;

export const changeKey = (address: string, path: string): string => `${address} ${path}`;

export type StoppedChange = ExposedChange;

/** The changes that protect reverted often enough today. */
export async function stoppedChanges(
  database: Database,
  account: number,
  changes: readonly ExposedChange[],
): Promise<readonly StoppedChange[]> {
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
  database: Database,
  { account, run, changes }: { readonly account: number; readonly run: string; readonly changes: readonly ExposedChange[] },
): Promise<void> {
  await database.query(
    `insert into dimsync_controller.protection (account, key, actor, run)
      select $1, key, actor, $2 from jsonb_to_recordset($3::jsonb) as x(key text, actor text)`,
    [account, run, jsonParameter(changes.map(({ key, actor }) => ({ key, actor })))],
  );
}
