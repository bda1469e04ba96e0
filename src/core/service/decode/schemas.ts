import type { AnsweredCall } from "../../base/model/decode.ts";
import { memberOf, objectOf, optionalFlagOf, optionalTextOf, type ResponsePart } from "../../base/model/decode.ts";
import { readNow } from "../../base/model/errors.ts";
import { defined, emptyRecord, isObject } from "../../base/model/json/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import type { UnreadTable } from "../../base/model/service.ts";

/*
 * A schema map can have a hundred thousand columns, and nearly always it already has the form of the
 * model: camelCase, all members present. So decoding walks over the parsed tree with one cheap check
 * per node. A node that passes stays as it is, and nothing is allocated. Any other node (snake_case,
 * null, a missing or wrong member) is decoded member by member and replaced in its map, or refused with
 * its pointer. Each entry is checked on its own, so a response may mix both forms
 * (docs/service-interface.md#response-forms). The decoder may change the tree: nothing else uses it yet.
 */

/** A map of the tree during decoding: it can be changed, and its entries are unknown. The model's types differ in both, hence the casts. */
type Tree = Record<string, unknown>;

/** Undefined: a table that cannot be read refuses the response. */
type Unread = UnreadTable[] | undefined;

/**
 * `data.schemas` of GET and PATCH schemas. Changes `data` in place. Adds the tables that cannot be read to `unread`.
 * @throws ServiceError E_MALFORMED_ANSWER
 */
export function decodeSchemas(data: unknown, where: AnsweredCall, unread?: Unread): LiveSchemas {
  const part = memberOf({ value: data, where, above: "/data" }, "schemas");
  const schemas = treeOf(part);
  for (const name of Object.keys(schemas)) {
    const value = schemas[name];
    const entry = { value, where, above: part, name };
    const schema = isPlainSchema(value) ? value : repairSchema(entry);
    if (schema !== value) schemas[name] = schema;
    decodeTables({ value: schema.tables, where, above: entry, name: "tables" }, name, unread);
  }
  // Every node below has been checked or replaced.
  return schemas as LiveSchemas;
}

function decodeTables(part: ResponsePart, schema: string, unread: Unread): void {
  const tables = part.value as Tree;
  for (const name of Object.keys(tables)) {
    const value = tables[name];
    const table = readNow(
      () => decodeTable({ value, where: part.where, above: part, name }),
      (failure) => {
        if (unread === undefined) throw failure;
        unread.push({ path: [schema, name], failure });
        return {};
      },
    );
    if (table !== value) tables[name] = table;
  }
}

function decodeTable(part: ResponsePart): LiveTable {
  const { value, where } = part;
  const table = isPlainTable(value) ? value : repairTable(part);
  if (table.columns !== undefined) decodeColumnMap({ value: table.columns, where, above: part, name: "columns" });
  return table;
}

/**
 * `data.columns` of GET columns, undefined if it has none. Changes `data` in place.
 * @throws ServiceError E_MALFORMED_ANSWER
 */
export function decodeColumns(data: unknown, where: AnsweredCall): LiveTable["columns"] {
  const columns = memberOf({ value: data, where, above: "/data" }, "columns");
  if (isEmpty(objectOf(columns))) return undefined;
  decodeColumnMap(columns);
  // Every column has been checked or replaced.
  return columns.value as Record<string, LiveColumn>;
}

function decodeColumnMap(part: ResponsePart): void {
  const columns = part.value as Tree;
  // A response is plain JSON and inherits nothing that could be listed here.
  for (const name in columns) {
    const value = columns[name];
    if (!isPlainColumn(value)) columns[name] = repairColumn({ value, where: part.where, above: part, name });
  }
}

function isPlainSchema(value: unknown): value is LiveSchema {
  return isObject(value) && isFlagOrAbsent(value["enabled"]) && typeof value["nameInDestination"] === "string" && isObject(value["tables"]);
}

/** Schema entries often have no `enabled`. */
const isFlagOrAbsent = (value: unknown): boolean => value === undefined || typeof value === "boolean";

function isPlainTable(value: unknown): value is LiveTable {
  if (!isObject(value) || typeof value["enabled"] !== "boolean") return false;
  const { cursorField, columns } = value;
  return (
    typeof value["nameInDestination"] === "string" &&
    typeof value["syncMode"] === "string" &&
    (typeof cursorField === "string" || (cursorField === undefined && value["cursor_field"] === undefined)) &&
    (columns === undefined || (isObject(columns) && !isEmpty(columns)))
  );
}

function isPlainColumn(value: unknown): value is LiveColumn {
  return (
    isObject(value) &&
    typeof value["enabled"] === "boolean" &&
    typeof value["hashed"] === "boolean" &&
    typeof value["nameInDestination"] === "string" &&
    typeof value["isPrimaryKey"] === "boolean"
  );
}

function repairSchema(part: ResponsePart): LiveSchema {
  const tables = memberOf(part, "tables");
  return {
    ...defined({
      nameInDestination: textUnder(part, "nameInDestination", "name_in_destination"),
      enabled: optionalFlagOf(memberOf(part, "enabled")),
    }),
    // The tables themselves are decoded by the caller.
    tables: (isAbsent(tables) ? emptyRecord() : treeOf(tables)) as LiveSchema["tables"],
  };
}

function repairTable(part: ResponsePart): LiveTable {
  const settings = present(memberOf(part, "enabledPatchSettings"), memberOf(part, "enabled_patch_settings"));
  const columns = memberOf(part, "columns");
  return {
    ...defined({
      nameInDestination: textUnder(part, "nameInDestination", "name_in_destination"),
      enabled: optionalFlagOf(memberOf(part, "enabled")),
      syncMode: textUnder(part, "syncMode", "sync_mode"),
      cursorField: textUnder(part, "cursorField", "cursor_field"),
    }),
    ...(isAbsent(settings) ? {} : { enabledPatchSettings: settings.value }),
    // The columns themselves are decoded by the caller. Absent, null or without entries: unknown.
    ...(isAbsent(columns) || isEmpty(objectOf(columns)) ? {} : { columns: treeOf(columns) as NonNullable<LiveTable["columns"]> }),
  };
}

function repairColumn(part: ResponsePart): LiveColumn {
  return defined({
    nameInDestination: textUnder(part, "nameInDestination", "name_in_destination"),
    enabled: optionalFlagOf(memberOf(part, "enabled")),
    hashed: optionalFlagOf(memberOf(part, "hashed")),
    isPrimaryKey: optionalFlagOf(present(memberOf(part, "isPrimaryKey"), memberOf(part, "is_primary_key"))),
  });
}

function textUnder(part: ResponsePart, camel: string, snake: string): string | undefined {
  return optionalTextOf(present(memberOf(part, camel), memberOf(part, snake)));
}

/** A table without columns is one whose columns are not known. */
function isEmpty(map: object): boolean {
  for (const _ in map) return false;
  return true;
}

const isAbsent = ({ value }: ResponsePart): boolean => value === undefined || value === null;

const present = (first: ResponsePart, second: ResponsePart): ResponsePart => (isAbsent(first) ? second : first);

function treeOf(part: ResponsePart): Tree {
  return objectOf(part) as Tree;
}
