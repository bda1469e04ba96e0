import { iso } from "../../../core/records/postgres/iso.ts";
import { riskOrder } from "../views/sql.ts";

const namedFindings = 20;

const exposes = (risk: string): string => `${risk} in ('exposed', 'error')`;
const had = (name: string): string => `'${name}' = any(this_run.before)`;

/** What is wrong with the account after the run. A run that could not compare the account ends neither drift nor an exposure. */
const conditions: Readonly<Record<string, string>> = {
  exposed: `case when this_run.state is null then ${had("exposed")} else this_run.state = 'exposed' end`,
  drifted: `case when this_run.state is null or this_run.state = 'exposed' then ${had("drifted")} else this_run.state = 'drifted' end`,
  failing: `this_run.fault = 'failing' or (this_run.fault = 'bundle-refused' and ${had("failing")})`,
  "bundle-refused": `this_run.fault = 'bundle-refused' or (this_run.fault = 'failing' and ${had("bundle-refused")})`,
  "protection-stopped": `this_run.fault = 'protection-stopped' or (this_run.fault is not null and ${had("protection-stopped")})`,
  stale: `not this_run."isFinished" and ${had("stale")}`,
};

/**
 * Steps of the statement that records a run: the events of the run, once for each transition. `this_run.before` is what was reported before, read under the
 * lock of the account.
 */
export const eventSteps: Readonly<Record<string, string>> = {
  alerts: `select array_remove(array[${Object.entries(conditions)
    .map(([name, sql]) => `case when ${sql} then '${name}' end`)
    .join(", ")}], null) as after from this_run`,

  // Findings that are new, or that were less severe before.
  news: `select found.* from found join opened using (key)
    union all select found.* from found join changed using (key) where ${exposes("found.risk")} and not ${exposes("changed.risk_before")}`,

  // What each event is about: new findings, all of them if nothing was reported before, and those that dimsync has closed.
  affected: `select 'exposed' as name, key, address, path, risk, cause, actor, coalesce(since, at) as since from found, this_run
      where ${exposes("found.risk")} and (not ${had("exposed")} or found.key in (select key from news))
    union all select 'drifted', key, address, path, risk, cause, actor, coalesce(since, at) from found, this_run
      where not ${had("drifted")} or found.key in (select key from news)
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

  ended: `select array(select unnest(this_run.before) except select unnest(alerts.after) order by 1) as names from this_run, alerts`,

  happened: `select 'exposed' as name from this_run where this_run.state = 'exposed' and exists (select 1 from affected where name = 'exposed')
    union all select 'drifted' from this_run where this_run.state = 'drifted' and exists (select 1 from affected where name = 'drifted')
    union all select 'repaired' from affected where name = 'repaired' group by name
    union all select this_run.fault from this_run where this_run.fault is not null and not this_run.fault = any(this_run.before)
    union all select 'resolved' from ended where names <> '{}' and not exists (select 1 from affected where name = 'repaired')`,

  event: `insert into dimsync_controller.event (source, account, name, since, cause, actor, run, git_commit, detail, resolves)
    select this_run.source, this_run.account, h.name, d.since, case when h.name = this_run.fault then this_run."errorCode" else coalesce(d.cause, '') end, d.actor, this_run.id, this_run.commit,
      coalesce(d.detail, '{}') || jsonb_build_object('counts', jsonb_build_object('exposedColumns', this_run."exposedColumns", 'differences', this_run.differences,
        'manual', this_run.manual, 'policyViolations', this_run."policyViolations"))
        || case when h.name = this_run.fault then jsonb_build_object('error', jsonb_build_object('code', this_run."errorCode", 'message', this_run.message)) else '{}' end,
      case when h.name in ('repaired', 'resolved') then ended.names else '{}' end
    from happened h left join described d using (name), this_run, ended`,
};
