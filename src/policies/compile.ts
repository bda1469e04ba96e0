import { namePatterns, namesMatcher } from "../kinds/patterns/names.ts";
import { own } from "../model/json.ts";
import type { LiveColumn } from "../model/live.ts";
import type { ColumnCondition, IntegrationSelector, PolicyExemption, PolicySpec, Resource } from "../model/resource.ts";

/** What a policy judges: the deepest level that `when` names. */
export type Level = "schema" | "table" | "column";

/** An integration as policies know it: the names that it goes by, its manifest's first, and its manifest's labels. */
export interface Named {
  readonly names: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where a policy looks: names from the schema down, as far as is known. */
export interface PolicyNode {
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
}

/** A policy, its patterns compiled once. */
export interface CompiledPolicy {
  readonly resource: Resource<PolicySpec>;
  /** Undefined where `when` names none, so that nothing can be judged (policy-problems.ts). */
  readonly level: Level | undefined;
  readonly selects: (integration: Named) => boolean;
  readonly schema: (name: string, enabled: boolean) => boolean;
  /** `enabled`: whether the table is replicated, which takes its schema as well. */
  readonly table: (name: string, enabled: boolean, syncMode: string | undefined) => boolean;
  /** The name alone, for deciding whether to read. */
  readonly tableNamed: (schema: string, table: string, syncMode: string | undefined) => boolean;
  readonly column: (name: string, column: LiveColumn) => boolean;
  /** The exemptions that mean this spot, in the order of the manifest. */
  readonly exemptions: (names: readonly string[], spot: PolicyNode) => readonly PolicyExemption[];
}

type Names = string | readonly string[] | undefined;

const named = (names: Names, ignoreCase = false): ((name: string) => boolean) =>
  names === undefined ? () => true : namePatterns(names, { ignoreCase }).matches;

const same = <T>(wanted: T | undefined, is: T): boolean => wanted === undefined || wanted === is;

export function compilePolicy(resource: Resource<PolicySpec>): CompiledPolicy {
  const { when = {}, exemptions = [] } = resource.spec;
  const schemaNamed = named(when.schema?.name, when.schema?.ignoreCase);
  const tableNamed = named(when.table?.name, when.table?.ignoreCase);
  const columnNamed = named(when.column?.name, when.column?.ignoreCase);
  const tests = exemptions.map((exemption) => ({
    exemption,
    integration: exemption.integration === undefined ? () => true : namesMatcher(exemption.integration),
    levels: (["schema", "table", "column"] as const).flatMap((level) => {
      const pattern = exemption[level];
      return pattern === undefined ? [] : [{ level, matches: named(pattern) }];
    }),
  }));
  return {
    resource,
    level: when.column !== undefined ? "column" : when.table !== undefined ? "table" : when.schema !== undefined ? "schema" : undefined,
    selects: selector(when.integration),
    schema: (name, enabled) => schemaNamed(name) && same(when.schema?.enabled, enabled),
    table: (name, enabled, syncMode) =>
      tableNamed(name) && same(when.table?.enabled, enabled) && same<string | undefined>(when.table?.syncMode, syncMode),
    tableNamed: (schema, table, syncMode) =>
      schemaNamed(schema) && tableNamed(table) && same<string | undefined>(when.table?.syncMode, syncMode),
    column: (name, column) => meets(when.column, column) && columnNamed(name),
    exemptions: (names, spot) =>
      tests
        .filter(
          ({ integration, levels }) =>
            integration(names) &&
            levels.every(({ level, matches }) => {
              const name = spot[level];
              return name !== undefined && matches(name);
            }),
        )
        .map(({ exemption }) => exemption),
  };
}

function meets(condition: ColumnCondition | undefined, column: LiveColumn): boolean {
  return (
    same(condition?.enabled, column.enabled) &&
    same(condition?.hashed, column.hashed) &&
    same(condition?.isPrimaryKey, column.isPrimaryKey === true)
  );
}

function selector(when: IntegrationSelector | undefined): CompiledPolicy["selects"] {
  const means = when?.names === undefined ? () => true : namesMatcher(when.names);
  const wanted = Object.entries(when?.labels ?? {});
  return ({ names, labels }) => means(names) && wanted.every(([key, value]) => own(labels, key) === value);
}
