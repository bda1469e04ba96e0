import type { LiveColumn, LiveSchemas, LiveTable } from "../../../../src/core/base/model/live.ts";
import type { ColumnTree, RuleSetSpec, SchemaConfigSpec, SchemaMatch, SchemaRule } from "../../../../src/core/base/model/manifest.ts";
import { slowMatch } from "./slow-match.ts";

// The semantics of rules (docs/schema-config.md), implemented as slowly and as literally as possible: every rule is compared with every node.

export interface Wanted {
  readonly path: readonly string[];
  readonly live: LiveColumn;
  enabled: boolean | undefined;
  hashed: boolean | undefined;
  state: "managed" | "ignored" | "unmanaged";
}

interface Node {
  readonly path: readonly string[];
  readonly live: LiveColumn;
  readonly syncMode: string | undefined;
}

type Speaking = Exclude<SchemaRule, { readonly use: string }>;
type Written = SchemaConfigSpec & { readonly rules: readonly Speaking[] };

const levels = ["schema", "table", "column"] as const;

export type Sets = Readonly<Record<string, RuleSetSpec["rules"]>>;

/** Every live node with its desired state. Layers lowest first. */
export function reference(layers: readonly SchemaConfigSpec[], live: LiveSchemas, sets: Sets = {}): readonly Wanted[] {
  const written = layers.map((layer) => ({ ...layer, rules: inPlace(layer.rules ?? [], sets) }));
  return nodesOf(live).map((chain) => wanted(written, chain));
}

/** The rules with those of the sets where they are used. */
const inPlace = (rules: readonly SchemaRule[], sets: Sets): readonly Speaking[] =>
  rules.flatMap((rule) => ("use" in rule ? inPlace(sets[rule.use] ?? [], sets) : [rule]));

/** Each node with those above it, from the schema down. */
function nodesOf(live: LiveSchemas): readonly (readonly Node[])[] {
  return Object.entries(live).flatMap(([schema, liveSchema]) => {
    const top: Node = { path: [schema], live: liveSchema, syncMode: undefined };
    const tables = Object.entries(liveSchema.tables).flatMap(([table, liveTable]: [string, LiveTable]) => {
      const middle: Node = { path: [schema, table], live: liveTable, syncMode: liveTable.syncMode };
      const columns = Object.entries(liveTable.columns ?? {}).map(([column, liveColumn]: [string, LiveColumn]) => [
        top,
        middle,
        { path: [schema, table, column], live: liveColumn, syncMode: liveTable.syncMode },
      ]);
      return [[top, middle], ...columns];
    });
    return [[top], ...tables];
  });
}

function wanted(layers: readonly Written[], chain: readonly Node[]): Wanted {
  const node = chain.at(-1) as Node;
  const depth = node.path.length - 1;
  let said: { enabled?: boolean; hashed?: boolean } = {};
  let covered = false;
  let ignored = false;
  for (const layer of layers) {
    for (const rule of layer.rules) {
      if (rule.ignore === true) {
        if (!chain.some((above) => matches(rule.match, above))) continue;
        said = {};
        covered = false;
        ignored = true;
      } else if (rule.set !== undefined && matches(rule.match, node)) {
        said = { ...said, ...rule.set };
        covered = true;
        ignored = false;
      }
    }
    const entry = literalAt(layer, node.path);
    if (entry === undefined) continue;
    const { enabled, hashed } = entry;
    const set = { ...(enabled === undefined ? {} : { enabled }), ...(hashed === undefined || depth < 2 ? {} : { hashed }) };
    said = { ...said, ...set };
    if (Object.keys(set).length > 0) ignored = false;
    if (Object.keys(set).length > 0 || depth === 2 || !("tables" in entry || "columns" in entry)) covered = true;
  }
  const key = (["schemas", "tables"] as const)[depth];
  const mode = layers.reduce<string>((before, { unmatched }) => (key && unmatched?.[key]) ?? before, "ignore");
  const applies = !covered && !ignored && (mode === "enable" || mode === "disable");
  if (said.enabled === false && isKey(chain) && wanted(layers, chain.slice(0, 2)).enabled === false) delete said.enabled;
  return {
    path: node.path,
    live: node.live,
    enabled: applies ? mode === "enable" : (said.enabled ?? node.live.enabled),
    hashed: depth === 2 ? (said.hashed ?? node.live.hashed) : undefined,
    state: ignored ? "ignored" : covered || applies ? "managed" : "unmanaged",
  };
}

/** Whether it is a key column: one in a table that ends up disabled stays as it is. */
function isKey([, table, column]: readonly Node[]): boolean {
  if (table === undefined || column === undefined) return false;
  return column.live.isPrimaryKey === true || (table.live as Partial<LiveTable>).cursorField === column.path[2];
}

function matches(match: SchemaMatch, { path, live, syncMode }: Node): boolean {
  const named = levels.map((level) => match[level]);
  if (named.findLastIndex((part) => part !== undefined) !== path.length - 1) return false;
  const fits = path.every((name, depth) => {
    const part = named[depth];
    return part === undefined || slowMatch(typeof part === "string" ? [part] : part, name, match.ignoreCase === true);
  });
  const state: Readonly<Record<string, unknown>> = { ...live, syncMode };
  return fits && Object.entries(match.where ?? {}).every(([key, value]) => state[key] === value);
}

function literalAt(layer: SchemaConfigSpec, path: readonly string[]): (ColumnTree & object) | undefined {
  let maps: unknown = layer.schemas;
  let entry: unknown;
  for (const [depth, name] of path.entries()) {
    if (typeof maps !== "object" || maps === null || !Object.hasOwn(maps, name)) return undefined;
    entry = (maps as Record<string, unknown>)[name];
    maps = (entry as Record<string, unknown>)[depth === 0 ? "tables" : "columns"];
  }
  return entry as ColumnTree & object;
}
