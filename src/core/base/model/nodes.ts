import { own, setOwn } from "./json/json.ts";
import { escaped, type Pointer } from "./json/pointer.ts";

/** Names from the schema down, as deep as the node is. */
export type NodePath = readonly [schema: string, table?: string, column?: string];

/** The path of a column, of a table without a column, or of a schema without both. */
export const nodePath = (schema: string, table: string | undefined, column: string | undefined): NodePath =>
  table === undefined ? [schema] : column === undefined ? [schema, table] : [schema, table, column];

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
export function nodeLists(nodes: Nodes): readonly { readonly above: readonly string[]; readonly names: readonly string[] }[] {
  if (isList(nodes)) return [{ above: [], names: nodes }];
  return Object.entries<Tables | readonly string[]>(nodes).flatMap(([schema, inSchema]) =>
    isList(inSchema)
      ? [{ above: [schema], names: inSchema }]
      : Object.entries(inSchema).map(([table, names]) => ({ above: [schema, table], names })),
  );
}

type Level = "schema" | "table" | "column";

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
  const schemas: string[] = [];
  const inSchemas: Lists = {};
  const inTables: Record<string, Lists> = {};
  let count = 0;
  let last: { readonly schema: string; readonly table: string | undefined; readonly names: string[] } | undefined;
  return {
    add: ([schema, table, column]) => {
      count++;
      const above = column === undefined ? undefined : table;
      if (table === undefined) schemas.push(schema);
      else if (last !== undefined && last.schema === schema && last.table === above) last.names.push(column ?? table);
      else if (column === undefined) last = { schema, table: above, names: addName(inSchemas, schema, table) };
      else {
        const lists = own(inTables, schema) ?? {};
        setOwn(inTables, schema, lists);
        last = { schema, table, names: addName(lists, table, column) };
      }
    },
    nodes: () => (schemas.length > 0 ? schemas : last?.table === undefined ? inSchemas : inTables),
    count: () => count,
  };
}

type Lists = Record<string, string[]>;

/** The list with the name added. A list begins with its first name: one that is pushed into has 17 places, and with labels most have one name. */
function addName(lists: Lists, key: string, name: string): string[] {
  const names = own(lists, key);
  if (names === undefined) {
    const first = [name];
    setOwn(lists, key, first);
    return first;
  }
  names.push(name);
  return names;
}
