import { isObject } from "../model/json/json.ts";
import { type Pointer, toPointer } from "../model/json/pointer.ts";
import type { Problem } from "../model/problem.ts";
import { titles } from "../model/titles.ts";
import { read, type YamlParser } from "../yaml/read.ts";
import type { ColumnGroup } from "./groups.ts";

/** The catalog file: by target, the columns that someone has reviewed. */
export type Catalog = ReadonlyMap<string, readonly ColumnGroup[]>;

export interface ReadCatalog {
  /** Absent if the file has problems. */
  readonly catalog?: Catalog;
  readonly problems: readonly Problem[];
}

/**
 * Reads the text of the catalog file; `file` is its name as shown. People may edit the file, so each
 * mistake is a problem with its position.
 */
export function readCatalog(text: string, { file, parser }: { readonly file: string; readonly parser: YamlParser }): ReadCatalog {
  const { documents, problems: invalid } = read(text, { parser });
  const problems: Problem[] = invalid.map(({ document, offset, message }) =>
    problemAt({ file, document, pointer: `@${offset}` }, `${message} ${mergeHint(text)}`.trim()),
  );
  const [document, second] = documents;
  const place = { file, document: document?.index ?? 0 };
  const fail: Fail = (pointer, message, on) =>
    problems.push(problemAt({ ...place, pointer, ...(on === undefined ? {} : { on }) }, message));
  if (problems.length === 0 && second !== undefined) fail("", "The file must be a single document.");
  if (problems.length > 0) return { problems };
  const catalog = targetsOf(document?.value, fail);
  return problems.length > 0 ? { problems } : { catalog, problems };
}

const mergeHint = (text: string): string =>
  /^(?:<{7}|={7}|>{7})(?=\s|$)/mu.test(text) ? "Resolve the merge conflict: keep the lines of both sides." : "";

const problemAt = (place: NonNullable<Problem["place"]>, message: string): Problem => ({
  code: "E_CATALOG_FILE",
  severity: "error",
  summary: titles.E_CATALOG_FILE,
  message,
  place,
});

type Fail = (pointer: Pointer, message: string, on?: "key") => void;

function targetsOf(document: unknown, fail: Fail): Catalog {
  const found = new Map<string, readonly ColumnGroup[]>();
  if (!isObject(document)) {
    fail(
      "",
      "The file must be a map with apiVersion: dimsync/v1 and kind: Catalog. Restore it from git, or delete it and accept all columns again.",
    );
    return found;
  }
  const { apiVersion, kind, targets } = checkMembers(document, "", { known: ["apiVersion", "kind", "targets"], fail });
  if (apiVersion !== "dimsync/v1") fail("/apiVersion", "`apiVersion` must be dimsync/v1.");
  if (kind !== "Catalog") fail("/kind", "`kind` must be Catalog.");
  if (!isObject(targets)) {
    fail("/targets", "`targets` must be a map with a list of groups for each target.");
    return found;
  }
  for (const [target, groups] of Object.entries(targets)) {
    const pointer = toPointer(["targets", target]);
    if (Array.isArray(groups))
      found.set(
        target,
        groups.flatMap((group, index) => groupOf(group, `${pointer}/${index}`, fail) ?? []),
      );
    else fail(pointer, "A target must be a list of groups, each with `integrations` and `schemas`.");
  }
  return found;
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

function groupOf(group: unknown, pointer: Pointer, fail: Fail): ColumnGroup | undefined {
  if (!isObject(group)) {
    fail(pointer, "A group must be a map with `integrations` and `schemas`.");
    return undefined;
  }
  const { integrations, schemas } = checkMembers(group, pointer, { known: ["integrations", "schemas"], fail });
  const names = namesOf(integrations, { pointer: `${pointer}/integrations`, what: "integrations", fail });
  if (isObject(schemas)) return { integrations: [...names], tables: tablesOf(schemas, `${pointer}/schemas`, fail) };
  fail(`${pointer}/schemas`, "`schemas` must be a map of schemas, each with its tables.");
  return undefined;
}

function tablesOf(schemas: Readonly<Record<string, unknown>>, pointer: Pointer, fail: Fail): ColumnGroup["tables"] {
  const found = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();
  for (const [schema, tables] of Object.entries(schemas)) {
    const below = pointer + toPointer([schema]);
    if (!isObject(tables)) {
      fail(below, "A schema must be a map of tables, each with the list of its columns.");
      continue;
    }
    const columns = Object.entries(tables).map(
      ([table, names]) => [table, namesOf(names, { pointer: below + toPointer([table]), what: "columns", fail })] as const,
    );
    found.set(schema, new Map(columns));
  }
  return found;
}

interface NameList {
  readonly pointer: Pointer;
  readonly what: "integrations" | "columns";
  readonly fail: Fail;
}

/** A list of different names that is not empty. */
function namesOf(value: unknown, { pointer, what, fail }: NameList): ReadonlySet<string> {
  const names = new Set<string>();
  if (!Array.isArray(value) || value.length === 0) {
    fail(pointer, `This must be a non-empty list of ${what}.`);
    return names;
  }
  for (const [index, name] of value.entries()) {
    if (typeof name !== "string") fail(`${pointer}/${index}`, "A name must be a string. Put it in quotes.");
    else if (names.has(name)) fail(`${pointer}/${index}`, `${JSON.stringify(name)} is in this list twice. Remove one of them.`);
    else names.add(name);
  }
  return names;
}
