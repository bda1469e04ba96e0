import { emptyRecord, own } from "../model/json.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../model/resource.ts";

type NodePath = readonly [schema: string, table?: string, column?: string];

interface Node {
  enabled?: boolean;
  hashed?: boolean;
  readonly children: Map<string, Node>;
}

/** A literal tree that is being changed. */
export interface TreeDraft {
  readonly root: Map<string, Node>;
  /** Undefined takes the leaf out, and with it the nodes above that are then empty. */
  set(path: NodePath, key: "enabled" | "hashed", value: boolean | undefined): void;
  get(path: NodePath, key: "enabled" | "hashed"): boolean | undefined;
  /** Adds what the other tree has; its leaves win. */
  merge(tree: SchemaTree): void;
  /** Takes the node and all below it out. */
  drop(path: NodePath): void;
}

const newNode = (): Node => ({ children: new Map() });

export function draftOf(tree: SchemaTree | undefined): TreeDraft {
  const root = new Map<string, Node>();
  const draft: TreeDraft = {
    root,
    set(path, key, value) {
      const names = path.filter((name) => name !== undefined);
      const chain: Node[] = [];
      let children = root;
      for (const name of names) {
        const node = children.get(name) ?? newNode();
        children.set(name, node);
        chain.push(node);
        children = node.children;
      }
      const last = chain.at(-1);
      if (last === undefined) return;
      if (value === undefined) delete last[key];
      else last[key] = value;
      for (let depth = names.length - 1; depth >= 0; depth--) {
        const node = chain[depth];
        if (node === undefined || node.children.size > 0 || node.enabled !== undefined || node.hashed !== undefined) return;
        (chain[depth - 1]?.children ?? root).delete(names[depth] ?? "");
      }
    },
    get([schema, table, column], key) {
      const inSchema = root.get(schema);
      const inTable = table === undefined ? undefined : inSchema?.children.get(table);
      return (table === undefined ? inSchema : column === undefined ? inTable : inTable?.children.get(column))?.[key];
    },
    merge(other) {
      mergeInto(root, other);
    },
    drop(path) {
      const names = path.filter((name) => name !== undefined);
      const maps = [root];
      for (const name of names.slice(0, -1)) maps.push(maps.at(-1)?.get(name)?.children ?? new Map());
      for (let depth = names.length - 1; depth >= 0; depth--) {
        maps[depth]?.delete(names[depth] ?? "");
        const above = depth === 0 ? undefined : maps[depth - 1]?.get(names[depth - 1] ?? "");
        if (above === undefined || above.children.size > 0 || above.enabled !== undefined) return;
      }
    },
  };
  if (tree !== undefined) draft.merge(tree);
  return draft;
}

function mergeInto(root: Map<string, Node>, tree: SchemaTree): void {
  const at = (children: Map<string, Node>, name: string, entry: ColumnTree): Node => {
    const node = children.get(name) ?? newNode();
    children.set(name, node);
    if (entry.enabled !== undefined) node.enabled = entry.enabled;
    if (entry.hashed !== undefined) node.hashed = entry.hashed;
    return node;
  };
  for (const schema of Object.keys(tree)) {
    const entry = own(tree, schema) ?? {};
    const { children } = at(root, schema, entry);
    for (const table of Object.keys(entry.tables ?? {})) {
      const tableEntry: TableTree = own(entry.tables, table) ?? {};
      const inTable = at(children, table, tableEntry).children;
      for (const column of Object.keys(tableEntry.columns ?? {})) at(inTable, column, own(tableEntry.columns, column) ?? {});
    }
  }
}

/** Undefined where nothing is left. */
export function treeOf({ root }: TreeDraft): SchemaTree | undefined {
  const written = (children: ReadonlyMap<string, Node>, depth: number): Record<string, object> => {
    const record = emptyRecord<object>();
    for (const [name, { enabled, hashed, children: below }] of children)
      record[name] = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(hashed === undefined ? {} : { hashed }),
        ...(below.size === 0 ? {} : { [depth === 0 ? "tables" : "columns"]: written(below, depth + 1) }),
      };
    return record;
  };
  return root.size === 0 ? undefined : (written(root, 0) as SchemaTree);
}
