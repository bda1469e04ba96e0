import { byText } from "../../base/model/address.ts";
import type { KeepingNodes } from "../../base/model/kept.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { Field } from "../../base/model/schema-tree.ts";
import type { RuleProgram, ValueSource } from "./compiled-config.ts";

/** What manifests keep unreadable, by schema and table. Undefined in place of a table: the schema itself. */
type KeepingTables = ReadonlyMap<string, ReadonlyMap<string | undefined, readonly KeepingNodes[]>>;

/** A node that manifests keep. */
interface KeepingNode {
  /** Of a column; undefined: the table or schema itself. */
  readonly name: string | undefined;
  /** "hashed": kept hashed; "enabled": kept disabled. */
  readonly key: Field;
  readonly isKept: boolean;
  readonly by: ValueSource;
}

/** Collects what manifests keep, table by table. A table that is equal to the one before shares its value and allocates nothing for a column. */
export interface Keeper {
  readonly tables: KeepingTables;
  readonly add: (name: string | undefined, key: Field, isKept: boolean, by: ValueSource) => void;
  readonly end: (schema: string, table: string | undefined) => void;
}

export function newKeeper({ layers }: RuleProgram): Keeper {
  const tables = new Map<string, Map<string | undefined, readonly KeepingNodes[]>>();
  let now: KeepingNode[] = [];
  let last: readonly KeepingNode[] = [];
  let nodes: readonly KeepingNodes[] = [];
  let count = 0;
  let isSame = true;
  const addressOf = (by: ValueSource): string => (by.type === "rule" ? layers[by.layer]?.config : by.config)?.address ?? "";
  return {
    tables,
    add(name, key, isKept, by) {
      const was = isSame ? last[count] : undefined;
      if (was === undefined || was.name !== name || was.key !== key || was.isKept !== isKept || was.by !== by) {
        if (isSame) now = last.slice(0, count);
        isSame = false;
        now.push({ name, key, isKept, by });
      }
      count++;
    },
    end(schema, table) {
      if (count > 0) {
        if (!isSame || count !== last.length) {
          last = isSame ? last.slice(0, count) : now;
          nodes = nodesOf(last, addressOf);
        }
        getOrAdd(tables, schema, () => new Map<string | undefined, readonly KeepingNodes[]>()).set(table, nodes);
      }
      count = 0;
      isSame = true;
    },
  };
}

interface KeepingGroup extends Omit<KeepingNodes, "columns"> {
  columns?: string[];
}

function nodesOf(all: readonly KeepingNode[], addressOf: (by: ValueSource) => string): readonly KeepingNodes[] {
  const groups = new Map<string, KeepingGroup>();
  for (const { name, key, isKept, by } of all) {
    const address = addressOf(by);
    const as = key === "hashed" ? "hashed" : "disabled";
    const group = getOrAdd(groups, `${as} ${isKept} ${name === undefined} ${address}`, (): KeepingGroup => ({ as, by: address, isKept }));
    if (name === undefined) continue;
    group.columns ??= [];
    group.columns.push(name);
  }
  for (const { columns } of groups.values()) columns?.sort(byText);
  return [...groups.values()];
}
