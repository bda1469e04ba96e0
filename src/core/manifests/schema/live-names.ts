import { createHash } from "node:crypto";
import { byText } from "../../model/address.ts";
import { isObject, own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Schema } from "./lookup.ts";

// Adds the names of an account to a JSON Schema, so that editors complete them. The schema accepts
// the same documents as before: the additions only list `properties` and `examples`. Equal trees,
// tables and lists of names share one definition that is named by its content. So hundreds of
// integrations with the same tables add little, and the text only changes with the names.

/** The names of the schemas, tables and columns of one integration. */
export interface NamedIntegration {
  readonly id: string;
  /** What `spec.integration` may call it: names of manifests, and its live name. */
  readonly names: readonly string[];
  readonly schemas: LiveSchemas;
}

/** How much of an integration fits into the schema. */
export type Fit = "whole" | "withoutColumns" | "nothing";

/** Collects the names of integrations. */
interface LiveNames {
  readonly add: (integration: NamedIntegration) => Fit;
  readonly extend: (schema: Schema, kinds: ExtendedKinds) => Schema;
}

/** The definitions of a schema that describe a SchemaConfig and a RuleSet; "" is the schema itself. */
export interface ExtendedKinds {
  readonly schemaConfig?: string;
  readonly ruleSet?: string;
}

/** Editors show all examples in one list. */
const maxExamples = 1_000;

/** `maxNames`: how many names the definitions may have, without the integrations themselves. */
export function collectLiveNames(maxNames: number): LiveNames {
  const definitions = new Map<string, Definition>();
  const groups = new Map<string, Group>();
  let size = 0;
  const fits = (described: Described): boolean => {
    const added = [...described.definitions].filter(([key]) => !definitions.has(key));
    const sizeAfter = added.reduce((sum, [, one]) => sum + one.size, size);
    if (sizeAfter > maxNames) return false;
    size = sizeAfter;
    for (const [key, one] of added) definitions.set(key, one);
    return true;
  };
  return {
    add({ id, names, schemas }) {
      for (const fit of ["whole", "withoutColumns"] as const) {
        const described = describe(schemas, fit === "whole");
        if (!fits(described)) continue;
        const key = JSON.stringify(described.trees);
        groups.set(key, { ...described, selectors: [...new Set([...(groups.get(key)?.selectors ?? []), ...names]), { id }] });
        return fit;
      }
      return "nothing";
    },
    extend(schema, { schemaConfig, ruleSet }) {
      const all = [...groups.values()];
      const configs = addTo(schema, schemaConfig, all.length === 0 ? [] : configParts(all));
      const extended = addTo(configs, ruleSet, [{ properties: { spec: mapWith(rulesPart(unionOf(all))) } }]);
      const more = Object.fromEntries([...definitions].map(([key, one]) => [key, one.schema]));
      return { ...extended, definitions: { ...definitionsOf(extended), ...more } };
    },
  };
}

interface Definition {
  readonly schema: Schema;
  /** How many names it has, without those of the definitions that it refers to. */
  readonly size: number;
}

/** References to definitions: of the trees of `spec.schemas`, and of the names of each level. */
interface Names {
  readonly trees: readonly Schema[];
  readonly schema: readonly Schema[];
  readonly table: readonly Schema[];
  readonly column: readonly Schema[];
}

interface Described extends Names {
  readonly definitions: ReadonlyMap<string, Definition>;
}

/** Integrations with the same names, and the values of `spec.integration` that select them. */
interface Group extends Names {
  readonly selectors: readonly unknown[];
}

function describe(schemas: LiveSchemas, withColumns: boolean): Described {
  const definitions = new Map<string, Definition>();
  const names = { schema: new Set<string>(), table: new Set<string>(), column: new Set<string>() };
  const define = (schema: Schema, size: number): Schema => {
    const key = `live-${createHash("sha256").update(JSON.stringify(schema)).digest("hex").slice(0, 16)}`;
    definitions.set(key, { schema, size });
    return { $ref: `#/definitions/${key}` };
  };
  const mapOf = <T>(level: keyof typeof names, entries: Readonly<Record<string, T>>, below: (entry: T) => Schema): Schema => {
    const sorted = Object.entries(entries).sort(([a], [b]) => byText(a, b));
    for (const [name] of sorted) names[level].add(name);
    return define(mapWith(Object.fromEntries(sorted.map(([name, entry]) => [name, below(entry)]))), sorted.length);
  };
  const columnsOf = (columns: Parameters<typeof mapOf>[1]): Schema => mapWith({ columns: mapOf("column", columns, () => mapWith({})) });
  const tree = mapOf("schema", schemas, ({ tables }) =>
    mapWith({
      tables: mapOf("table", tables, ({ columns }) => (columns === undefined || !withColumns ? mapWith({}) : columnsOf(columns))),
    }),
  );
  const list = (level: keyof typeof names): readonly Schema[] => {
    const examples = [...names[level]].sort(byText).slice(0, maxExamples);
    return examples.length === 0 ? [] : [define({ examples }, examples.length)];
  };
  return { definitions, trees: [tree], schema: list("schema"), table: list("table"), column: list("column") };
}

/** Names that are not listed stay valid: the schema that this is added to decides about them. */
const mapWith = (properties: Schema): Schema => ({ type: "object", properties });

/** What to add to the schema of a SchemaConfig: the names of the integration that it selects, or of all. */
function configParts(groups: readonly Group[]): readonly Schema[] {
  // Two integrations can have one name, and JSON Schema wants each value of an enum once.
  const selectors = [...new Set(groups.flatMap((group) => group.selectors))];
  const names = [...new Set(selectors.filter((one) => typeof one === "string"))].sort(byText);
  const part = (integration: Schema, found: Names): Schema => {
    const { rules } = rulesPart(found);
    return {
      if: { properties: { spec: { properties: { integration } } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { spec: mapWith({ rules, schemas: { allOf: found.trees }, expect: rules }) } },
    };
  };
  return [
    {
      properties: { spec: mapWith({ integration: { examples: names }, integrations: mapWith({ names: { items: { examples: names } } }) }) },
    },
    ...groups.map((group) => part({ enum: group.selectors }, group)),
    // A selector, a new integration, or no integration yet.
    part({ not: { enum: selectors } }, unionOf(groups)),
  ];
}

const unionOf = (groups: readonly Group[]): Names => ({
  trees: groups.flatMap(({ trees }) => trees),
  schema: groups.flatMap(({ schema }) => schema),
  table: groups.flatMap(({ table }) => table),
  column: groups.flatMap(({ column }) => column),
});

/** What to add to a `spec` with rules: the names as examples for patterns, which can be lists. */
function rulesPart(names: Names): { readonly rules: Schema } {
  const pattern = (examples: readonly Schema[]): Schema => (examples.length === 0 ? {} : { allOf: examples, items: { allOf: examples } });
  const match = mapWith({ schema: pattern(names.schema), table: pattern(names.table), column: pattern(names.column) });
  return { rules: { items: mapWith({ match }) } };
}

/** Adds parts to a definition of the schema, or to the schema itself. */
function addTo(schema: Schema, name: string | undefined, parts: readonly Schema[]): Schema {
  if (name === undefined || parts.length === 0) return schema;
  const definitions = definitionsOf(schema);
  const target = name === "" ? schema : own(definitions, name);
  if (!isObject(target)) return schema;
  const before = own(target, "allOf");
  const extended = { ...target, allOf: [...(Array.isArray(before) ? before : []), ...parts] };
  return name === "" ? extended : { ...schema, definitions: { ...definitions, [name]: extended } };
}

function definitionsOf(schema: Schema): Schema {
  const definitions = own(schema, "definitions");
  return isObject(definitions) ? definitions : {};
}
