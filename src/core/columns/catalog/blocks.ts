import { byText } from "../../base/model/address.ts";
import { escaped, fromPointer } from "../../base/model/json/pointer.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { inlineYaml, keyYaml, stringYaml } from "../../base/yaml/print.ts";

/** Columns by schema and table. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** The reviewed columns of one integration. */
export interface ReviewedIntegrationColumns {
  /** What the service called it when the file was written: for people. */
  readonly name: string;
  readonly tables: Tables;
}

/** The reviewed columns, by the live id of their integration. */
export type ReviewedById = ReadonlyMap<string, ReviewedIntegrationColumns>;

/** A block of the catalog file, as it is written. If several blocks have a table of an integration, the last one counts. */
export interface CatalogBlock {
  /** Names by live id. */
  readonly integrations: ReadonlyMap<string, string>;
  /** No columns: the integration does not have the table. */
  readonly tables: ReadonlyMap<TableName, ReadonlySet<string>>;
}

/** "public/customers", with the escapes of a JSON Pointer. */
export type TableName = string;

export const tableName = (schema: string, table: string): TableName => `${escaped(schema)}/${escaped(table)}`;

/** Undefined if the text is not SCHEMA/TABLE. */
export function tablePath(name: TableName): readonly [schema: string, table: string] | undefined {
  const [schema, table, ...more] = fromPointer(`/${name}`);
  return schema === undefined || table === undefined || more.length > 0 ? undefined : [schema, table];
}

/** What the blocks say of each integration. Integrations in the same blocks share one value of `tables`. */
export function reviewedIn(blocks: readonly CatalogBlock[]): ReviewedById {
  const positions = new Map<string, { name: string; readonly of: number[] }>();
  for (const [position, { integrations }] of blocks.entries())
    for (const [id, name] of integrations) {
      const known = getOrAdd(positions, id, () => ({ name, of: [] }));
      known.name = name;
      known.of.push(position);
    }
  const shared = new Map<string, Tables>();
  return new Map(
    [...positions].map(([id, { name, of }]) => {
      const tables = getOrAdd(shared, of.join(), () => tablesOf(of.flatMap((position) => [...(blocks[position]?.tables ?? [])])));
      return [id, { name, tables }];
    }),
  );
}

function tablesOf(entries: readonly (readonly [TableName, ReadonlySet<string>])[]): Tables {
  const found = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [name, columns] of new Map(entries)) {
    const [schema = "", table = ""] = tablePath(name) ?? [];
    if (columns.size > 0) getOrAdd(found, schema, () => new Map()).set(table, columns);
  }
  return found;
}

/** The columns as the file has them: "[email, id]". */
type Lines = ReadonlyMap<TableName, string>;

/** Integrations with the same columns. */
interface Shape {
  /** Sorted. */
  readonly ids: readonly string[];
  readonly lines: Lines;
}

/** A complete block, and shorter ones with only the tables in which other integrations differ. */
interface Base extends Shape {
  readonly unlike: Shape[];
}

const header = `# The columns that someone has reviewed, by the ids of their integrations. Written by dimsync; commit it.
# If several blocks have a table of an integration, the last one counts. Comments are not kept.
# To accept columns that are not in this file: dimsync catalog accept
apiVersion: dimsync/v1
kind: Catalog
`;

/**
 * The text of the catalog file, sorted by id. One line for each table; equal integrations share a block, and one that differs a
 * little from others repeats only the tables that differ.
 */
export function catalogText(reviewed: ReviewedById): string {
  const bases = basesOf(shapesOf(reviewed)).sort(byFirstId);
  if (bases.length === 0) return `${header}reviewed: []\n`;
  const names = (ids: readonly string[]) => ids.map((id) => [id, reviewed.get(id)?.name ?? ""] as const);
  const blocks = bases.flatMap(({ ids, lines, unlike }) => [
    blockText(names([...ids, ...unlike.flatMap((one) => one.ids)]), lines),
    ...unlike.sort(byFirstId).map((one) => blockText(names(one.ids), one.lines)),
  ]);
  return [header, "reviewed:\n", ...blocks].join("");
}

const byFirstId = ({ ids: [a = ""] }: Shape, { ids: [b = ""] }: Shape): number => byText(a, b);

/** A longer list of integrations gets one line for each, so that a new shard is one line of a diff. */
const mostInline = 4;

function blockText(names: readonly (readonly [id: string, name: string])[], lines: Lines): string {
  const sorted = [...names].sort(byKey).map(([id, name]) => `${stringYaml(id)}: ${stringYaml(name)}`);
  // A line for each integration would be more lines than tables.
  const isInline = sorted.length <= mostInline || lines.size < 2;
  return [
    isInline ? `  - integrations: { ${sorted.join(", ")} }\n` : "  - integrations:\n",
    ...(isInline ? [] : sorted.map((entry) => `      ${entry}\n`)),
    lines.size === 0 ? "    tables: {}\n" : "    tables:\n",
    ...[...lines].sort(byKey).map(([table, columns]) => `${keyYaml(table, 6)} ${columns}\n`),
  ].join("");
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => byText(a, b);

function shapesOf(reviewed: ReviewedById): readonly Shape[] {
  const texts = new Map<ReadonlySet<string>, string>();
  const textOf = (columns: ReadonlySet<string>): string => getOrAdd(texts, columns, () => inlineYaml([...columns].sort(byText)));
  // Most integrations share their tables with others.
  const byTables = new Map<Tables, Shape & { readonly ids: string[] }>();
  const byLines = new Map<string, Shape & { readonly ids: string[] }>();
  for (const [id, { tables }] of [...reviewed].sort(byKey)) {
    const known = byTables.get(tables);
    const lines = known === undefined ? linesOf(tables, textOf) : known.lines;
    const key = known === undefined ? JSON.stringify([...lines].sort(byKey)) : "";
    const shape = known ?? byLines.get(key) ?? { ids: [], lines };
    shape.ids.push(id);
    byTables.set(tables, shape);
    if (known === undefined) byLines.set(key, shape);
  }
  return [...new Set(byTables.values())];
}

const linesOf = (tables: Tables, textOf: (columns: ReadonlySet<string>) => string): Lines =>
  new Map(
    [...tables].flatMap(([schema, ofSchema]) =>
      [...ofSchema].flatMap(([table, columns]) => (columns.size === 0 ? [] : [[tableName(schema, table), textOf(columns)] as const])),
    ),
  );

/** Starts with the most frequent shapes. A rarer one is written as its differences from one of them, if that is shorter. */
function basesOf(shapes: readonly Shape[]): Base[] {
  const bases: Base[] = [];
  const having = new Map<string, Base[]>();
  const sorted = [...shapes].sort((a, b) => b.ids.length - a.ids.length || b.lines.size - a.lines.size);
  for (const shape of sorted) {
    const keys = [...shape.lines].map(([table, columns]) => `${table} ${columns}`);
    const nearest = mostAlike(keys.flatMap((key) => having.get(key) ?? []));
    const lines = nearest === undefined ? shape.lines : differing(shape.lines, nearest.lines);
    if (nearest !== undefined && shape.ids.length + lines.size < shape.lines.size) {
      nearest.unlike.push({ ids: shape.ids, lines });
      continue;
    }
    const base: Base = { ...shape, unlike: [] };
    bases.push(base);
    for (const key of keys) having.set(key, [...(having.get(key) ?? []), base]);
  }
  return bases;
}

/** Of bases, each as often as it has a line of the shape, the one with the fewest other lines. */
function mostAlike(all: readonly Base[]): Base | undefined {
  const counts = new Map<Base, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  const unlike = (base: Base): number => base.lines.size - 2 * (counts.get(base) ?? 0);
  return [...counts.keys()].reduce<Base | undefined>(
    (best, one) => (best === undefined || unlike(one) < unlike(best) ? one : best),
    undefined,
  );
}

const differing = (lines: Lines, base: Lines): Lines =>
  new Map([
    ...[...lines].filter(([table, columns]) => base.get(table) !== columns),
    ...[...base.keys()].filter((table) => !lines.has(table)).map((table) => [table, "[]"] as const),
  ]);
