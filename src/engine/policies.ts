import { nameMatcher } from "../kinds/names.ts";
import type { Address } from "../model/address.ts";
import { own } from "../model/json.ts";
import type { LiveColumn, LiveSchemas } from "../model/live.ts";
import type { Cause, PolicyFinding } from "../model/plan.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import type { Locate } from "../model/problem.ts";
import type { ColumnCondition, IntegrationSelector, PolicyExemption, PolicySpec, Resource } from "../model/resource.ts";

// Policies judge a state, whoever made it: what apply would leave behind in a plan, what is live in a drift report (product §2.3). They look at
// trees of schemas one integration at a time, while the tree is at hand for comparing, so that judging a fleet holds no account in memory.

/** One integration's schemas as they are to be judged. */
export interface Judged {
  readonly address: Address;
  /** The names it goes by: of its manifest and in the account. */
  readonly names: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly live: LiveSchemas;
  /** Values that differ after apply, by JSON Pointer; empty where live is judged. */
  readonly after: ReadonlyMap<Pointer, boolean>;
  /** Why a node is as it is, for the findings; undefined where no manifest decides. */
  readonly causeOf: (path: readonly string[], key: "enabled" | "hashed") => Cause | undefined;
}

/** A policy in JavaScript: gets data, returns findings, has no client (product §2.3). */
export type PolicyFunction = (state: {
  readonly integration: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly schemas: LiveSchemas;
}) => readonly { readonly path?: string; readonly message: string }[];

export interface Judge {
  /** Whether any policy looks at this integration's schemas at all. */
  readonly concerns: (names: readonly string[], labels: Readonly<Record<string, string>>) => boolean;
  /** Whether a policy needs the columns of a table. */
  readonly needsColumns: (names: readonly string[], labels: Readonly<Record<string, string>>) => boolean;
  readonly judge: (judged: Judged) => readonly PolicyFinding[];
}

interface Compiled {
  readonly resource: Resource<PolicySpec>;
  readonly selects: (names: readonly string[], labels: Readonly<Record<string, string>>) => boolean;
  readonly schema: (name: string, enabled: boolean) => boolean;
  readonly table: (name: string, enabled: boolean, syncMode: string | undefined) => boolean;
  readonly column: ((name: string, column: LiveColumn) => boolean) | undefined;
  readonly exempt: (
    names: readonly string[],
    schema: string,
    table: string | undefined,
    column: string | undefined,
  ) => PolicyExemption | undefined;
}

/** Compiles the policies once. `functions` holds those written in JavaScript, by policy address. */
export function makeJudge(
  policies: readonly Resource<PolicySpec>[],
  functions: ReadonlyMap<Address, PolicyFunction>,
  today: string,
  locate: Locate,
): Judge {
  const compiled = policies.map(compile);
  const concerned = (names: readonly string[], labels: Readonly<Record<string, string>>): readonly Compiled[] =>
    compiled.filter(({ selects }) => selects(names, labels));
  return {
    concerns: (names, labels) => concerned(names, labels).length > 0,
    needsColumns: (names, labels) =>
      concerned(names, labels).some(({ column, resource }) => column !== undefined || functions.has(resource.address)),
    judge: (judged) =>
      concerned(judged.names, judged.labels).flatMap((policy) =>
        findingsOf(policy, judged, functions.get(policy.resource.address), today, locate),
      ),
  };
}

function compile(resource: Resource<PolicySpec>): Compiled {
  const { when = {}, exemptions } = resource.spec;
  const texts = (names: string | readonly string[] | undefined): readonly string[] | undefined =>
    typeof names === "string" ? [names] : names;
  const named = (names: string | readonly string[] | undefined, ignoreCase = false): ((name: string) => boolean) => {
    const patterns = texts(names);
    return patterns === undefined ? () => true : nameMatcher(patterns, { ignoreCase });
  };
  const same = <T>(wanted: T | undefined, is: T): boolean => wanted === undefined || wanted === is;
  const schemaNamed = named(when.schema?.name, when.schema?.ignoreCase);
  const tableNamed = named(when.table?.name, when.table?.ignoreCase);
  const tests = (exemptions ?? []).map((exemption) => ({
    exemption,
    integration: named(exemption.integration),
    schema: named(exemption.schema),
    table: named(exemption.table),
    column: named(exemption.column),
  }));
  return {
    resource,
    selects: selector(when.integration),
    schema: (name, enabled) => schemaNamed(name) && same(when.schema?.enabled, enabled),
    table: (name, enabled, syncMode) =>
      tableNamed(name) && same(when.table?.enabled, enabled) && (when.table?.syncMode === undefined || when.table.syncMode === syncMode),
    column: when.column === undefined ? undefined : columnTest(when.column, named(when.column.name, when.column.ignoreCase)),
    exempt: (names, schema, table, column) =>
      tests.find((test) => names.some(test.integration) && test.schema(schema) && test.table(table ?? "") && test.column(column ?? ""))
        ?.exemption,
  };
}

function columnTest(condition: ColumnCondition, named: (name: string) => boolean): (name: string, column: LiveColumn) => boolean {
  return (name, column) =>
    (condition.enabled === undefined || condition.enabled === column.enabled) &&
    (condition.hashed === undefined || condition.hashed === column.hashed) &&
    (condition.isPrimaryKey === undefined || condition.isPrimaryKey === (column.isPrimaryKey === true)) &&
    named(name);
}

function selector(when: IntegrationSelector | undefined): Compiled["selects"] {
  const named = when?.names === undefined ? () => true : nameMatcher(when.names);
  const wanted = Object.entries(when?.labels ?? {});
  return (names, labels) => names.some(named) && wanted.every(([key, value]) => own(labels, key) === value);
}

function findingsOf(
  policy: Compiled,
  judged: Judged,
  custom: PolicyFunction | undefined,
  today: string,
  locate: Locate,
): readonly PolicyFinding[] {
  const { spec, place, name } = policy.resource;
  const findings: PolicyFinding[] = [];
  const report = (path: readonly string[], key: "enabled" | "hashed" | undefined, message: string): void => {
    const cause = key === undefined ? undefined : judged.causeOf(path, key);
    const { file, line } = cause ?? locate(place);
    findings.push({
      policy: name,
      severity: spec.severity,
      address: judged.address,
      path: pointerOf(path, key),
      message,
      file,
      ...(line === undefined ? {} : { line }),
    });
  };
  if (custom !== undefined) {
    for (const { path, message } of custom({ integration: judged.names[0] ?? "", labels: judged.labels, schemas: stateAfter(judged) }))
      findings.push({
        policy: name,
        severity: spec.severity,
        address: judged.address,
        path: path ?? "",
        message,
        ...located(locate(place)),
      });
    return findings;
  }
  const check = (path: readonly [string, string?, string?], state: { readonly enabled: boolean; readonly hashed?: boolean }): void => {
    for (const key of ["enabled", "hashed"] as const) {
      const required = spec.require?.[key];
      if (required === undefined || state[key] === undefined || state[key] === required) continue;
      const exemption = policy.exempt(judged.names, path[0], path[1], path[2]);
      if (exemption !== undefined && (exemption.expires === undefined || exemption.expires >= today)) continue;
      const expired = exemption === undefined ? "" : ` Its exemption (${exemption.reason}) expired on ${exemption.expires}.`;
      report(
        path.filter((segment) => segment !== undefined),
        key,
        `${spec.message}${expired}`,
      );
    }
  };
  const changed = judged.after.size > 0;
  const value = (path: readonly string[], key: "enabled" | "hashed", live: boolean): boolean =>
    changed ? (judged.after.get(pointerOf(path, key)) ?? live) : live;
  for (const schema of Object.keys(judged.live)) {
    const liveSchema = own(judged.live, schema);
    if (liveSchema === undefined) continue;
    const schemaOn = value([schema], "enabled", liveSchema.enabled);
    if (!policy.schema(schema, schemaOn)) continue;
    if (policy.column === undefined && spec.when?.table === undefined) {
      check([schema], { enabled: schemaOn });
      continue;
    }
    for (const table of Object.keys(liveSchema.tables)) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) continue;
      const tableOn = value([schema, table], "enabled", liveTable.enabled);
      if (!policy.table(table, tableOn, liveTable.syncMode)) continue;
      if (policy.column === undefined) {
        check([schema, table], { enabled: tableOn });
        continue;
      }
      // A column that can't flow breaks no rule about what flows.
      if (!schemaOn || !tableOn) continue;
      for (const column of Object.keys(liveTable.columns ?? {})) {
        const live = own(liveTable.columns, column);
        if (live === undefined) continue;
        const path = [schema, table, column] as const;
        const state = { ...live, enabled: value(path, "enabled", live.enabled), hashed: value(path, "hashed", live.hashed) };
        if (policy.column(column, state)) check(path, state);
      }
    }
  }
  return findings;
}

function located({ file, line }: { readonly file: string; readonly line?: number }): { readonly file: string; readonly line?: number } {
  return { file, ...(line === undefined ? {} : { line }) };
}

function pointerOf([schema, table, column]: readonly string[], key: string | undefined): Pointer {
  if (schema === undefined) return "";
  return toPointer([
    "schemas",
    schema,
    ...(table === undefined ? [] : ["tables", table]),
    ...(column === undefined ? [] : ["columns", column]),
    ...(key === undefined ? [] : [key]),
  ]);
}

/** A copy of the tree with the values of after apply, for policies in JavaScript. */
function stateAfter({ live, after }: Judged): LiveSchemas {
  const copy = structuredClone(live) as Record<
    string,
    { enabled: boolean; tables: Record<string, { enabled: boolean; columns?: Record<string, { enabled: boolean; hashed: boolean }> }> }
  >;
  if (after.size === 0) return copy as LiveSchemas;
  for (const [schema, schemaEntry] of Object.entries(copy)) {
    schemaEntry.enabled = after.get(pointerOf([schema], "enabled")) ?? schemaEntry.enabled;
    for (const [table, tableEntry] of Object.entries(schemaEntry.tables)) {
      tableEntry.enabled = after.get(pointerOf([schema, table], "enabled")) ?? tableEntry.enabled;
      for (const [column, entry] of Object.entries(tableEntry.columns ?? {})) {
        entry.enabled = after.get(pointerOf([schema, table, column], "enabled")) ?? entry.enabled;
        entry.hashed = after.get(pointerOf([schema, table, column], "hashed")) ?? entry.hashed;
      }
    }
  }
  return copy as LiveSchemas;
}
