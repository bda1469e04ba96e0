import { iso } from "../../../core/records/postgres/iso.ts";
import { riskOrder } from "../views/sql.ts";

const namedFindings = 20;

const exposes = (risk: string): string => `${risk} in ('exposed', 'error')`;
const had = (name: string): string => `'${name}' = any(mine.before)`;

/** What is wrong with the account after the run. A run that could not compare the account ends neither drift nor an exposure. */
const conditions: Readonly<Record<string, string>> = {
  exposed: `case when mine.state is null then ${had("exposed")} else mine.state = 'exposed' end`,
  drifted: `case when mine.state is null or mine.state = 'exposed' then ${had("drifted")} else mine.state = 'drifted' end`,
  failing: `mine.fault = 'failing' or (mine.fault = 'bundle-refused' and ${had("failing")})`,
  "bundle-refused": `mine.fault = 'bundle-refused' or (mine.fault = 'failing' and ${had("bundle-refused")})`,
  "protection-stopped": `mine.fault = 'protection-stopped' or (mine.fault is not null and ${had("protection-stopped")})`,
  stale: `not mine."isFinished" and ${had("stale")}`,
};

/**
 * Steps of the statement that records a run: the events of the run, once for each transition. `mine.before` is what was reported before, read under the
 * lock of the account.
 */
export const eventSteps: Readonly<Record<string, string>> = {
  alerts: `select array_remove(array[${Object.entries(conditions)
    .map(([name, sql]) => `case when ${sql} then '${name}' end`)
    .join(", ")}], null) as after from mine`,

  // Findings that are new, or that were less severe before.
  news: `select seen.* from seen join opened using (key)
    union all select seen.* from seen join changed using (key) where ${exposes("seen.risk")} and not ${exposes("changed.risk_before")}`,

  // What each event is about: new findings, all of them if nothing was reported before, and those that dimsync has closed.
  affected: `select 'exposed' as name, key, address, path, risk, cause, actor, coalesce(since, at) as since from seen, mine
      where ${exposes("seen.risk")} and (not ${had("exposed")} or seen.key in (select key from news))
    union all select 'drifted', key, address, path, risk, cause, actor, coalesce(since, at) from seen, mine
      where not ${had("drifted")} or seen.key in (select key from news)
    union all select 'repaired', key, address, path, risk, cause, actor, coalesce(since, opened_at) from closed where closed_by = 'dimsync'
    union all select 'resolved', key, address, path, risk, cause, actor, coalesce(since, opened_at) from closed where closed_by is null`,

  // A column that differs and violates a policy is one thing that is wrong.
  places: `select name, address, path, bool_or(${exposes("risk")}) as exposes, (array_agg(risk order by ${riskOrder("risk")}))[1] as risk,
      string_agg(distinct cause, '; ') as cause, string_agg(distinct actor, ', ') as actor, min(since) as since
    from affected group by name, address, path, case when path = '' then key end`,

  numbered: `select *, row_number() over (partition by name order by not exposes, address, path) as number from places`,

  named: `select name, jsonb_build_object('findingsTotal', count(*), 'findings', jsonb_agg(jsonb_build_object('address', address, 'path', path, 'risk', risk,
        'cause', cause, 'actor', actor, 'since', ${iso("since")}) order by number) filter (where number <= ${namedFindings})) as detail
    from numbered group by name`,

  described: `select name, min(since) as since, left(string_agg(distinct cause, '; '), 1000) as cause, left(string_agg(distinct actor, ', '), 1000) as actor,
      (array_agg(detail))[1] as detail
    from affected join named using (name) group by name`,

  ended: `select array(select unnest(mine.before) except select unnest(alerts.after) order by 1) as names from mine, alerts`,

  happened: `select 'exposed' as name from mine where mine.state = 'exposed' and exists (select 1 from affected where name = 'exposed')
    union all select 'drifted' from mine where mine.state = 'drifted' and exists (select 1 from affected where name = 'drifted')
    union all select 'repaired' from affected where name = 'repaired' group by name
    union all select mine.fault from mine where mine.fault is not null and not mine.fault = any(mine.before)
    union all select 'resolved' from ended where names <> '{}' and not exists (select 1 from affected where name = 'repaired')`,

  event: `insert into dimsync_controller.event (source, account, name, since, cause, actor, run, git_commit, detail, resolves)
    select mine.source, mine.account, h.name, d.since, case when h.name = mine.fault then mine."errorCode" else coalesce(d.cause, '') end, d.actor, mine.id, mine.commit,
      coalesce(d.detail, '{}') || jsonb_build_object('counts', jsonb_build_object('exposedColumns', mine."exposedColumns", 'differences', mine.differences,
        'manual', mine.manual, 'policyViolations', mine."policyViolations"))
        || case when h.name = mine.fault then jsonb_build_object('error', jsonb_build_object('code', mine."errorCode", 'message', mine.message)) else '{}' end,
      case when h.name in ('repaired', 'resolved') then ended.names else '{}' end
    from happened h left join described d using (name), mine, ended`,
};
