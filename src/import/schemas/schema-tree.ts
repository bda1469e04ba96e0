import type { Field } from "../../kinds/schema-config/tree.ts";
import { emptyRecord, own } from "../../model/json/json.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { ColumnTree, SchemaTree } from "../../model/resource.ts";

/** A node of a literal tree that is being changed. */
interface Node {
  enabled?: boolean;
  hashed?: boolean;
  readonly children: Map<string, Node>;
}

/** A literal tree that is being changed, with its schemas by name. */
export type TreeDraft = Map<string, Node>;

export function draftOf(tree: SchemaTree | undefined): TreeDraft {
  const draft: TreeDraft = new Map();
  if (tree !== undefined) mergeTree(draft, tree);
  return draft;
}

/** Adds the leaves of a tree; they win over those of the draft. */
export function mergeTree(draft: TreeDraft, tree: SchemaTree): void {
  mergeLevel(draft, tree, (schema, { tables = {} }) =>
    mergeLevel(schema.children, tables, (table, { columns = {} }) => mergeLevel(table.children, columns, () => {})),
  );
}

function mergeLevel<Entry extends ColumnTree>(
  nodes: Map<string, Node>,
  entries: Readonly<Record<string, Entry>>,
  mergeBelow: (node: Node, entry: Entry) => void,
): void {
  for (const name of Object.keys(entries)) {
    const entry = own(entries, name);
    if (entry === undefined) continue;
    const node = childOf(nodes, name);
    if (entry.enabled !== undefined) node.enabled = entry.enabled;
    if (entry.hashed !== undefined) node.hashed = entry.hashed;
    mergeBelow(node, entry);
  }
}

function childOf(nodes: Map<string, Node>, name: string): Node {
  const node = nodes.get(name) ?? { children: new Map() };
  nodes.set(name, node);
  return node;
}

export function getLeaf(draft: TreeDraft, path: NodePath, key: Field): boolean | undefined {
  return nodesOn(draft, path).at(path.length - 1)?.[key];
}

/** Sets a leaf. */
export function setLeaf(draft: TreeDraft, path: NodePath, { key, value }: { readonly key: Field; readonly value: boolean }): void {
  let nodes: Map<string, Node> = draft;
  let node: Node | undefined;
  for (const name of namesIn(path)) {
    node = childOf(nodes, name);
    nodes = node.children;
  }
  if (node !== undefined) node[key] = value;
}

/** Removes a leaf, and the nodes above it that are then empty. */
export function removeLeaf(draft: TreeDraft, path: NodePath, key: Field): void {
  const node = nodesOn(draft, path).at(path.length - 1);
  if (node === undefined) return;
  delete node[key];
  removeEmpty(draft, path);
}

/** Removes a node with all below it, and the nodes above it that are then empty. */
export function removeNode(draft: TreeDraft, path: NodePath): void {
  const names = namesIn(path);
  const above = nodesOn(draft, path).at(names.length - 2);
  const last = names.at(-1) ?? "";
  if (names.length === 1) draft.delete(last);
  else if (above?.children.delete(last) === true) removeEmpty(draft, path);
}

function removeEmpty(draft: TreeDraft, path: NodePath): void {
  const names = namesIn(path);
  const nodes = nodesOn(draft, path);
  for (let depth = nodes.length - 1; depth >= 0; depth--) {
    const node = nodes[depth];
    if (node === undefined || node.children.size > 0 || node.enabled !== undefined || node.hashed !== undefined) return;
    (depth === 0 ? draft : nodes[depth - 1]?.children)?.delete(names[depth] ?? "");
  }
}

const namesIn = (path: NodePath): readonly string[] => path.filter((name) => name !== undefined);

/** The nodes from the schema down to the path's node, as far as they exist. */
function nodesOn(draft: TreeDraft, path: NodePath): readonly Node[] {
  const found: Node[] = [];
  let nodes: Map<string, Node> = draft;
  for (const name of namesIn(path)) {
    const node = nodes.get(name);
    if (node === undefined) break;
    found.push(node);
    nodes = node.children;
  }
  return found;
}

/** Undefined for an empty tree. */
export function treeOf(draft: TreeDraft): SchemaTree | undefined {
  const levels = ["tables", "columns"];
  const written = (nodes: ReadonlyMap<string, Node>, depth: number): Record<string, object> => {
    const record = emptyRecord<object>();
    for (const [name, { enabled, hashed, children }] of nodes)
      record[name] = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(hashed === undefined ? {} : { hashed }),
        ...(children.size === 0 ? {} : { [levels[depth] ?? ""]: written(children, depth + 1) }),
      };
    return record;
  };
  return draft.size === 0 ? undefined : (written(draft, 0) as SchemaTree); // a draft has three levels
}
