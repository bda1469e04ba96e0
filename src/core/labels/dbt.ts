import { isObject, own, sameJson } from "../model/json/json.ts";
import { DeepNesting, parseJson } from "../model/json/parse.ts";
import type { LabelledColumn, LabelOrigin } from "../model/labels.ts";
import type { DbtSource } from "../model/resource.ts";

// Reads the labels in a dbt manifest (target/manifest.json, docs.getdbt.com/reference/artifacts/manifest-json). Its sources
// describe tables in the warehouse, which is the destination of the integrations. dbt 1.6 to 2.x write the same layout: a
// source has `database`, `schema`, `identifier`, `columns`, and `meta` and `tags` of its own, in `config`, or both.

/** "v12" of the dbt_schema_version https://schemas.getdbt.com/dbt/manifest/v12.json. */
const versions: ReadonlySet<number> = new Set([10, 11, 12, 20]);
const readable = "10 to 12 and 20";

/** What a manifest labels, or the end of a sentence that begins with the name of the file. */
type DbtLabels =
  | {
      readonly columns: readonly LabelledColumn[];
      /** "shop.customers (models/shop.yml)": tables with a mark whose columns dbt does not list, so that no column gets the label. */
      readonly withoutColumns: readonly string[];
    }
  | { readonly refusal: string };

interface DbtFile {
  readonly text: string;
  /** As shown. */
  readonly file: string;
  /** The entry of the Classification. */
  readonly place: LabelOrigin["place"];
}

export function readDbtLabels({ text, file, place }: DbtFile, wanted: DbtSource): DbtLabels {
  const parsed = parseManifest(text);
  if ("refusal" in parsed) return parsed;
  const columns: LabelledColumn[] = [];
  const withoutColumns: string[] = [];
  for (const [id, source] of Object.entries(parsed.sources)) {
    const table = describedTable(source);
    if (table === undefined) return { refusal: `has no table at /sources/${id}: schema, name and columns are expected there` };
    if (wanted.database !== undefined && table.database?.toLowerCase() !== wanted.database.toLowerCase()) continue;
    if (Object.keys(table.columns).length === 0 && labelsOfColumn(table, noMarks, wanted).length > 0)
      withoutColumns.push(`${table.source}.${table.name} (${table.file})`);
    const describedBy = `${file} ${id}`;
    for (const [name, column] of Object.entries(table.columns))
      for (const { label, why, isOfTable } of labelsOfColumn(table, column, wanted)) {
        const of = [table.source, table.name, ...(isOfTable ? [] : [name])].join(".");
        const origin: LabelOrigin = { text: `${table.file}, source ${of}, ${why}`, place, isInManifest: false };
        columns.push({ side: "destination", schema: table.schema, table: table.identifier, column: name, label, origin, describedBy });
      }
  }
  return { columns, withoutColumns };
}

type Json = Readonly<Record<string, unknown>>;
type ParsedManifest = { readonly manifest: Json; readonly sources: Json } | { readonly refusal: string };

/** A manifest of a version that dimsync reads, or the end of a sentence that begins with the name of the file. */
function parseManifest(text: string): ParsedManifest {
  let manifest: unknown;
  try {
    manifest = parseJson(text);
  } catch (error) {
    if (error instanceof DeepNesting) return { refusal: error.message };
    return { refusal: text.trim() === "" ? "is empty" : "is not complete JSON: dbt may have been interrupted while it wrote it" };
  }
  const metadata = isObject(manifest) ? own(manifest, "metadata") : undefined;
  const schema = isObject(metadata) ? own(metadata, "dbt_schema_version") : undefined;
  if (!isObject(manifest) || typeof schema !== "string")
    return { refusal: "is not a dbt manifest: it has no /metadata/dbt_schema_version" };
  const [, artifact, digits] = /\/dbt\/([\w-]+)\/v(\d+)\.json$/u.exec(schema) ?? [];
  if (artifact === undefined) return { refusal: `is not a dbt manifest: /metadata/dbt_schema_version is ${JSON.stringify(schema)}` };
  if (artifact !== "manifest") return { refusal: `is not a dbt manifest, but another file of dbt (${artifact})` };
  if (!versions.has(Number(digits))) return { refusal: `is a dbt manifest of version ${digits}, but dimsync reads versions ${readable}` };
  const sources = own(manifest, "sources");
  return isObject(sources) ? { manifest, sources } : { refusal: "is not a complete dbt manifest: it has no map /sources" };
}

/** A table that a dbt source describes. */
interface DescribedTable extends Marks {
  readonly database: string | undefined;
  readonly schema: string;
  readonly identifier: string;
  /** "shop" and "customers" of source('shop', 'customers'). */
  readonly source: string;
  readonly name: string;
  /** The YAML file in the dbt project. */
  readonly file: string;
  readonly columns: Readonly<Record<string, Marks>>;
}

/** What dbt says about a table or column. */
interface Marks {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
}

function describedTable(source: unknown): DescribedTable | undefined {
  if (!isObject(source)) return undefined;
  const [schema, name, columns] = [own(source, "schema"), own(source, "name"), own(source, "columns") ?? {}];
  if (typeof schema !== "string" || typeof name !== "string" || !isObject(columns)) return undefined;
  const textAt = (key: string): string | undefined => {
    const value = own(source, key);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    ...marksOf(source),
    database: textAt("database"),
    schema,
    identifier: textAt("identifier") ?? name,
    source: textAt("source_name") ?? schema,
    name,
    file: textAt("original_file_path") ?? "dbt",
    // The key of a column is its name in the YAML file; dbt 2 quotes some of them in `name` only.
    columns: Object.fromEntries(Object.entries(columns).map(([key, column]) => [nameOf(column) ?? key, marksOf(column)])),
  };
}

const nameOf = (column: unknown): string | undefined => {
  const name = isObject(column) ? own(column, "name") : undefined;
  return typeof name === "string" ? name : undefined;
};

const noMarks: Marks = { meta: {}, tags: [] };

/** `config` has precedence: newer versions of dbt write `meta` and `tags` there. Each can be null. */
function marksOf(node: unknown): Marks {
  if (!isObject(node)) return noMarks;
  const config = own(node, "config");
  const members = [node, ...(isObject(config) ? [config] : [])];
  return {
    meta: Object.fromEntries(members.flatMap((one) => Object.entries(metaOf(one)))),
    tags: members.flatMap((one) => textsIn(own(one, "tags"))),
  };
}

const metaOf = (node: Readonly<Record<string, unknown>>): object => {
  const meta = own(node, "meta");
  return isObject(meta) ? meta : {};
};

const textsIn = (value: unknown): readonly string[] => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one): one is string => typeof one === "string" && one !== "");
};

interface FoundLabel {
  readonly label: string;
  /** "meta.contains_pii" or "tag pii" */
  readonly why: string;
  /** Whether the table says so, and not the column. */
  readonly isOfTable: boolean;
}

/** A member of `meta` of the column replaces that of its table; tags add up. */
function labelsOfColumn(table: DescribedTable, column: Marks, { label, where, labelFrom }: DbtSource): readonly FoundLabel[] {
  if (labelFrom !== undefined) {
    const path = labelFrom.split(".").slice(1);
    const own = valueAt(column.meta, path);
    const value = own ?? valueAt(table.meta, path);
    return labelTexts(value).map((text) => ({ label: text, why: labelFrom, isOfTable: own === undefined }));
  }
  if (label === undefined || where === undefined) return [];
  const reasons: { readonly why: string; readonly isOfTable: boolean }[] = [];
  for (const [key, expected] of Object.entries(where.meta ?? {})) {
    const own = valueAt(column.meta, [key]);
    if (!isSameMark(own ?? valueAt(table.meta, [key]), expected)) return [];
    reasons.push({ why: `meta.${key}`, isOfTable: own === undefined });
  }
  if (where.tag !== undefined) {
    const isOfTable = !column.tags.includes(where.tag);
    if (isOfTable && !table.tags.includes(where.tag)) return [];
    reasons.push({ why: `tag ${where.tag}`, isOfTable });
  }
  return [{ label, why: reasons.map(({ why }) => why).join(", "), isOfTable: reasons.every(({ isOfTable }) => isOfTable) }];
}

/** A YAML file of dbt often has "true" in quotes. */
const isSameMark = (found: unknown, expected: unknown): boolean =>
  sameJson(found, expected) ||
  (typeof found === "string" && typeof expected === "boolean" && found.trim().toLowerCase() === String(expected));

/** Undefined and null both mean that there is no value. */
function valueAt(meta: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let value: unknown = meta;
  for (const key of path) value = isObject(value) ? own(value, key) : undefined;
  return value ?? undefined;
}

const labelTexts = (value: unknown): readonly string[] =>
  typeof value === "number" || typeof value === "boolean" ? [String(value)] : [...new Set(textsIn(value))];
