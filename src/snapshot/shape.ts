import { isObject, own } from "../model/json/json.ts";
import { toPointer } from "../model/json/pointer.ts";

// Users can edit a snapshot, and a transfer can damage it. The code that reads it relies on its types, so they are checked once.

type Check = (value: unknown) => string | undefined;

/**
 * The JSON Pointer of the first member with a wrong type or missing; undefined for a valid
 * snapshot.
 */
export function damagedMember(snapshot: Readonly<Record<string, unknown>>): string | undefined {
  return members({
    takenAt: (value) => (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(value) ? undefined : ""),
    target: isText,
    account: isText,
    completeness: members({ integrations: isText, tags: isText, users: isText }),
    integrations: list(members({ id: isText, name: isText, source: reference, destination: reference })),
    tags: list(members({ id: isText, name: isText, taggedResources: list(members({ id: isText })) })),
    users: list(members({ id: isText, email: isText })),
    schemas: mapOf((value) => (value === null ? undefined : schemas(value))),
  })(snapshot);
}

const isText: Check = (value) => (typeof value === "string" ? undefined : "");
const isFlag: Check = (value) => (typeof value === "boolean" ? undefined : "");
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

const members =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (!isObject(value)) return "";
    for (const key of Object.keys(checks)) {
      const found = checks[key]?.(own(value, key));
      if (found !== undefined) return toPointer([key]) + found;
    }
    return undefined;
  };

const list =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return "";
    for (const [index, item] of value.entries()) {
      const found = check(item);
      if (found !== undefined) return toPointer([String(index)]) + found;
    }
    return undefined;
  };

const mapOf =
  (check: Check): Check =>
  (value) => {
    if (!isObject(value)) return "";
    for (const key of Object.keys(value)) {
      const found = check(value[key]);
      if (found !== undefined) return toPointer([key]) + found;
    }
    return undefined;
  };

const reference = members({ id: isText, name: isText, type: isText });
const columns = mapOf(members({ enabled: isFlag, hashed: isFlag }));
const tables = mapOf(members({ enabled: isFlag, columns: optional(columns) }));
const schemas = mapOf(members({ enabled: isFlag, tables }));
