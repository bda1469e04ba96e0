import type { LabelledColumn, LabelOrigin } from "../../base/model/columns.ts";
import { isObject, memberAt, own, sameJson } from "../../base/model/json/json.ts";
import { DeepNesting, parseJson } from "../../base/model/json/parse.ts";
import type { DbtSource } from "../../base/model/manifest.ts";
import { addAll } from "../../base/model/maps.ts";
import { fold } from "../../base/text/suggest.ts";
import { nameMatcher } from "../../kinds/index.ts";

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
      /** "shop.customers.phone has contains_pii: "yes"": marks that are nearly those that the Classification looks for. */
      readonly nearly: readonly string[];
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
  const nearly: string[] = [];
  for (const [id, source] of Object.entries(parsed.sources)) {
    const table = describedTable(source);
    if (table === undefined) return { refusal: `has no table at /sources/${id}: schema, name and columns are expected there` };
    if (wanted.database !== undefined && table.database?.toLowerCase() !== wanted.database.toLowerCase()) continue;
    const labelled = (of: readonly string[], why: string): Omit<LabelledColumn, "label"> => ({
      side: "destination",
      schema: table.schema,
      table: table.identifier,
      origin: { text: `${table.file}, source ${[table.source, table.name, ...of].join(".")}, ${why}`, place, isInManifest: false },
      describedBy: `${file} ${id}`,
    });
    const listed = Object.entries(table.columns).map(([name, marks]) => ({ name, marks, found: labelsOfColumn(table, marks, wanted) }));
    const ofTable = labelsOfColumn(table, noMarks, wanted);
    for (const { label, why } of ofTable) {
      const isLike = ({ found }: (typeof listed)[number]): boolean => found.some((one) => one.isOfTable && one.label === label);
      const except = listed.filter((column) => !isLike(column)).map(({ name }) => name);
      columns.push({ ...labelled([], why), label, ...(except.length === 0 ? {} : { except }) });
    }
    if (ofTable.length === 0)
      addAll(
        nearly,
        nearMarks(table, wanted).map((mark) => `${table.source}.${table.name} has ${mark}`),
      );
    for (const { name, marks, found } of listed) {
      for (const { label, why, isOfTable } of found) if (!isOfTable) columns.push({ ...labelled([name], why), column: name, label });
      if (found.length === 0)
        addAll(
          nearly,
          nearMarks(marks, wanted).map((mark) => `${table.source}.${table.name}.${name} has ${mark}`),
        );
    }
  }
  return { columns, nearly };
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
  const schema = memberAt(manifest, "metadata", "dbt_schema_version");
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
  const name = memberAt(column, "name");
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
    const matches = nameMatcher([where.tag]);
    const own = column.tags.find(matches);
    const tag = own ?? table.tags.find(matches);
    if (tag === undefined) return [];
    reasons.push({ why: `tag ${tag}`, isOfTable: own === undefined });
  }
  return [{ label, why: reasons.map(({ why }) => why).join(", "), isOfTable: reasons.every(({ isOfTable }) => isOfTable) }];
}

/** A YAML file of dbt often has "true" in quotes. */
const isSameMark = (found: unknown, expected: unknown): boolean =>
  (sameJson(expected, { exists: true }) && found !== undefined) ||
  sameJson(found, expected) ||
  (typeof found === "string" && typeof expected === "boolean" && found.trim().toLowerCase() === String(expected));

/** What says that a column has no mark. */
const negative: ReadonlySet<string> = new Set(["", "false", "no", "n", "none", "off", "0"]);

/** `contains_pii: "yes"`: the marks that are nearly those that the entry looks for, and that dimsync does not guess the meaning of. */
function nearMarks({ meta, tags }: Marks, { where, labelFrom }: DbtSource): readonly string[] {
  const shown = (key: string, value: unknown): string => `${key}: ${JSON.stringify(value)}`;
  const isNear = (found: unknown, expected: unknown): boolean => {
    const [value, wanted] = [found, expected].map((one) => fold(String(one)));
    if (typeof found === "object" || value === wanted) return true;
    return expected === true && !negative.has(value ?? "");
  };
  const ofMeta = Object.entries(where?.meta ?? {}).flatMap(([key, expected]) =>
    Object.entries(meta).flatMap(([written, value]) =>
      fold(written) === fold(key) && value !== null && (isSameMark(value, expected) ? written !== key : isNear(value, expected))
        ? [shown(written, value)]
        : [],
    ),
  );
  const tag = where?.tag === undefined ? undefined : fold(where.tag);
  const ofTags = [...new Set(tags)].filter((one) => {
    const rest = tag !== undefined && fold(one).startsWith(tag) ? fold(one).slice(tag.length) : undefined;
    return rest !== undefined && one !== where?.tag && !/^[\p{L}\p{N}]/u.test(rest);
  });
  const path = labelFrom?.split(".").slice(1) ?? [];
  const value = labelFrom === undefined ? undefined : valueAt(meta, path);
  const ofValue = value === undefined || labelTexts(value).length > 0 ? [] : [shown(path.join("."), value)];
  return [...ofMeta, ...ofTags.map((one) => `the tag ${JSON.stringify(one)}`), ...ofValue];
}

/** Undefined and null both mean that there is no value. */
const valueAt = (meta: Readonly<Record<string, unknown>>, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => memberAt(at, key), meta) ?? undefined;

const labelTexts = (value: unknown): readonly string[] =>
  typeof value === "number" || typeof value === "boolean" ? [String(value)] : [...new Set(textsIn(value))];
