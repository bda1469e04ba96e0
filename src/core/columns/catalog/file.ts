import { isObject } from "../../base/model/json/json.ts";
import { type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import type { Problem } from "../../base/model/problem.ts";
import { read } from "../../base/yaml/read.ts";
import { type CatalogBlock, type TableName, tableName, tablePath } from "./blocks.ts";

/** The catalog file: the columns that someone has reviewed, in its blocks. */
export type Catalog = readonly CatalogBlock[];

interface ReadCatalog {
  /** Absent if the file has problems. */
  readonly catalog?: Catalog;
  readonly problems: readonly Problem[];
}

/**
 * Reads the text of the catalog file; `file` is its name as shown. People may edit the file, so each
 * mistake is a problem with its position.
 */
export function readCatalog(text: string, { file }: { readonly file: string }): ReadCatalog {
  const { documents, problems: invalid } = read(text);
  const problems: Problem[] = invalid.map(({ document, offset, message }) =>
    problemAt({ file, document, pointer: `@${offset}` }, `${message} ${mergeHint(text)}`.trim()),
  );
  const [document, second] = documents;
  const place = { file, document: document?.index ?? 0 };
  const fail: Fail = (pointer, message, on) =>
    problems.push(problemAt({ ...place, pointer, ...(on === undefined ? {} : { on }) }, message));
  if (problems.length === 0 && second !== undefined) fail("", "The file must be a single document.");
  if (problems.length > 0) return { problems };
  const catalog = blocksIn(document?.value, fail);
  return problems.length > 0 ? { problems } : { catalog, problems };
}

const mergeHint = (text: string): string =>
  /^(?:<{7}|={7}|>{7})(?=\s|$)/mu.test(text) ? "Resolve the merge conflict: keep the lines of both sides." : "";

const problemAt = (place: NonNullable<Problem["place"]>, message: string): Problem => ({
  code: "E_CATALOG_FILE",
  severity: "error",
  message,
  place,
});

type Fail = (pointer: Pointer, message: string, on?: "key") => void;

function blocksIn(document: unknown, fail: Fail): Catalog {
  if (!isObject(document)) {
    fail(
      "",
      "The file must be a map with apiVersion: dimsync/v1 and kind: Catalog. Restore it from git, or delete it and accept all columns again.",
    );
    return [];
  }
  const { apiVersion, kind, reviewed } = checkMembers(document, "", { known: ["apiVersion", "kind", "reviewed"], fail });
  if (apiVersion !== "dimsync/v1") fail("/apiVersion", "`apiVersion` must be dimsync/v1.");
  if (kind !== "Catalog") fail("/kind", "`kind` must be Catalog.");
  if (Array.isArray(reviewed)) return reviewed.flatMap((block, index) => blockOf(block, `/reviewed/${index}`, fail) ?? []);
  fail("/reviewed", "`reviewed` must be a list of blocks, each with `integrations` and `tables`.");
  return [];
}

/** The members of a map; an unknown one is a problem. */
function checkMembers(
  map: Readonly<Record<string, unknown>>,
  pointer: Pointer,
  { known, fail }: { readonly known: readonly string[]; readonly fail: Fail },
): Readonly<Record<string, unknown>> {
  for (const key of Object.keys(map))
    if (!known.includes(key)) fail(pointer + toPointer([key]), `Unknown key. The keys here are ${known.join(", ")}.`, "key");
  return Object.fromEntries(known.map((key) => [key, Object.hasOwn(map, key) ? map[key] : undefined]));
}

function blockOf(block: unknown, pointer: Pointer, fail: Fail): CatalogBlock | undefined {
  if (!isObject(block)) {
    fail(pointer, "A block must be a map with `integrations` and `tables`.");
    return undefined;
  }
  const { integrations, tables } = checkMembers(block, pointer, { known: ["integrations", "tables"], fail });
  const names = namesById(integrations, `${pointer}/integrations`, fail);
  if (isObject(tables)) return { integrations: names, tables: columnsByTable(tables, `${pointer}/tables`, fail) };
  fail(`${pointer}/tables`, "`tables` must be a map of tables, each with the list of its columns.");
  return undefined;
}

function namesById(value: unknown, pointer: Pointer, fail: Fail): CatalogBlock["integrations"] {
  const names = new Map<string, string>();
  if (!isObject(value) || Object.keys(value).length === 0) {
    fail(pointer, "This must be a map of integrations: the name by the id, such as 8f1c: Orders.");
    return names;
  }
  for (const [id, name] of Object.entries(value)) {
    if (typeof name === "string") names.set(id, name);
    else fail(pointer + toPointer([id]), "A name must be a string. Put it in quotes.");
  }
  return names;
}

function columnsByTable(tables: Readonly<Record<string, unknown>>, pointer: Pointer, fail: Fail): CatalogBlock["tables"] {
  const found = new Map<TableName, ReadonlySet<string>>();
  for (const [table, columns] of Object.entries(tables)) {
    const below = pointer + toPointer([table]);
    const path = tablePath(table);
    if (path === undefined) fail(below, "A table must be written as SCHEMA/TABLE. In names, write ~1 for / and ~0 for ~.", "key");
    else found.set(tableName(path[0], path[1]), namesOf(columns, below, fail));
  }
  return found;
}

/** A list of different names. */
function namesOf(value: unknown, pointer: Pointer, fail: Fail): ReadonlySet<string> {
  const names = new Set<string>();
  if (!Array.isArray(value)) {
    fail(pointer, "This must be a list of columns. If the integration does not have the table, write [].");
    return names;
  }
  for (const [index, name] of value.entries()) {
    if (typeof name !== "string") fail(`${pointer}/${index}`, "A name must be a string. Put it in quotes.");
    else if (names.has(name)) fail(`${pointer}/${index}`, `${JSON.stringify(name)} is in this list twice. Remove one of them.`);
    else names.add(name);
  }
  return names;
}
