import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { everyAccount, everyFinding, namedAccounts, riskOrder } from "./sql.ts";
import type { CauseGroup, ClosedGroup, Part, Range } from "./status.ts";

/** SQL: what findings `f` of accounts `a` with one cause have in common. "since" is the time of the first change, from the audit log if known. */
const groupColumns = `f.cause, f.kind, (array_agg(f.risk order by ${riskOrder("f.risk")}))[1] as risk, count(*) as findings,
  json_agg(distinct a.name) as accounts, ${iso("min(f.opened_at)")} as "openedAt", ${iso("min(coalesce(f.since, f.opened_at))")} as since,
  coalesce(json_agg(distinct f.actor) filter (where f.actor is not null), '[]') as actors,
  (array_agg(json_build_object('address', f.address, 'path', f.path, 'detail', f.detail) order by f.opened_at, f.id))[1] as example`;

const from = (accounts: string): string => `from ${everyFinding} f join ${accounts} a on a.id = f.account`;

/** Open findings of all accounts grouped by cause: the worst first, then those of the most accounts. `cause`: only this one. */
export const findingsByCause = (database: Database, range: Range, cause = ""): Promise<Part<CauseGroup>> =>
  partOf(
    database,
    {
      groups: `select ${groupColumns} ${from(namedAccounts)} where f.closed_at is null and ($3 = '' or f.cause = $3) group by f.cause, f.kind`,
      order: `${riskOrder("risk")}, json_array_length(accounts) desc, cause, kind`,
    },
    [range.offset, range.limit, cause],
  );

/** SQL: of how long each of the findings was open. */
const openMs = (aggregate: "sum" | "max"): string =>
  `greatest(0, round(1000 * ${aggregate}(extract(epoch from f.closed_at - coalesce(f.since, f.opened_at)))))`;

/** Findings that were closed in the last 24 hours, by cause: the worst first, then those that were closed last. */
export const closedByCause = (database: Database, range: Range): Promise<Part<ClosedGroup>> =>
  partOf(
    database,
    {
      groups: `select ${groupColumns}, ${iso("max(f.closed_at)")} as "closedAt", f.closed_by is not null as "isRepaired",
        (array_agg(f.closed_run order by f.closed_at desc))[1] as "closedRun", nullif((array_agg(exists (
          select from dimsync_controller.run r where r.id = f.closed_run and r.interrupted_at is not null) order by f.closed_at desc))[1], false) as "isInterrupted",
        ${openMs("sum")} as "openMs", ${openMs("max")} as "longestOpenMs"
      ${from(everyAccount)} where f.closed_at > now() - interval '24 hours' group by f.cause, f.kind, f.closed_by`,
      order: `${riskOrder("risk")}, "closedAt" desc, cause, kind`,
    },
    [range.offset, range.limit],
  );

/** `values` begins with the offset and the limit. */
async function partOf<T>(
  database: Database,
  { groups, order }: { readonly groups: string; readonly order: string },
  values: readonly unknown[],
): Promise<Part<T>> {
  const [part = { items: [], total: 0 }] = await rowsOf<Part<T>>(
    database,
    `with all_groups as (${groups}), shown as (select * from all_groups order by ${order} offset $1 limit $2)
      select (select count(*) from all_groups) as total, (select coalesce(json_agg(shown), '[]') from shown) as items`,
    values,
  );
  return part;
}
