import { own, setOwn } from "./json/json.ts";
import { escaped, type Pointer } from "./json/pointer.ts";

/** Names from the schema down, as deep as the node is. */
export type NodePath = readonly [schema: string, table?: string, column?: string];

type Tables = Readonly<Record<string, readonly string[]>>;

/**
 * Nodes of one level, by schema and table: columns `{ schema: { table: [column] } }`, tables `{ schema: [table] }`,
 * schemas `[schema]`. No map and no list is empty. Read members with `own`, because names can be anything.
 */
export type Nodes = readonly string[] | Tables | Readonly<Record<string, Tables>>;

/** Into the live object: "/schemas/public/tables/users/columns/email/hashed"; without a key, the node itself. */
export function nodePointer([schema, table, column]: NodePath, key?: string): Pointer {
  const below = column === undefined ? "" : `/columns/${escaped(column)}`;
  const inSchema = table === undefined ? "" : `/tables/${escaped(table)}${below}`;
  return `/schemas/${escaped(schema)}${inSchema}${key === undefined ? "" : `/${key}`}`;
}

const isList = (nodes: Nodes | Tables | readonly string[] | undefined): nodes is readonly string[] => Array.isArray(nodes);

/** The lists of names in their order, with the names above them: none, the schema, or the schema and the table. */
export function* nodeLists(nodes: Nodes): Generator<{ readonly above: readonly string[]; readonly names: readonly string[] }> {
  if (isList(nodes)) {
    yield { above: [], names: nodes };
    return;
  }
  for (const schema of Object.keys(nodes)) {
    const inSchema: Tables | readonly string[] | undefined = own<Tables | readonly string[]>(nodes, schema);
    if (isList(inSchema)) yield { above: [schema], names: inSchema };
    else for (const table of Object.keys(inSchema ?? {})) yield { above: [schema, table], names: own(inSchema, table) ?? [] };
  }
}

export type Level = "schema" | "table" | "column";

export function levelOf(nodes: Nodes): Level {
  if (isList(nodes)) return "schema";
  return isList(Object.values(nodes)[0]) ? "table" : "column";
}

export function* eachNode(nodes: Nodes): Generator<NodePath> {
  for (const { above, names } of nodeLists(nodes)) {
    const [schema, table] = above;
    for (const name of names) {
      if (schema === undefined) yield [name];
      else yield table === undefined ? [schema, name] : [schema, table, name];
    }
  }
}

/** Collects nodes of one level. Quick if the nodes of a table follow each other. */
export function newNodes(): { readonly add: (path: NodePath) => void; readonly nodes: () => Nodes; readonly count: () => number } {
  const root: Record<string, string[] | Record<string, string[]>> = {};
  const schemas: string[] = [];
  let count = 0;
  let last: { readonly schema: string | undefined; readonly table: string | undefined; readonly names: string[] } | undefined;
  return {
    add: (path) => {
      const [schema, table] = path.length === 3 ? path : path.length === 2 ? [path[0]] : [];
      if (last === undefined || last.schema !== schema || last.table !== table)
        last = { schema, table, names: schema === undefined ? schemas : namesIn(root, schema, table) };
      last.names.push(path[path.length - 1] ?? "");
      count++;
    },
    nodes: () => (schemas.length > 0 ? schemas : (root as Nodes)),
    count: () => count,
  };
}

/** The list of a schema or table in the map, which is made if there is none. All nodes of a map are of one level. */
function namesIn(root: Record<string, string[] | Record<string, string[]>>, schema: string, table: string | undefined): string[] {
  const inSchema = own(root, schema) ?? (table === undefined ? [] : {});
  setOwn(root, schema, inSchema);
  if (Array.isArray(inSchema)) return inSchema;
  const names = own(inSchema, table ?? "") ?? [];
  setOwn(inSchema, table ?? "", names);
  return names;
}
