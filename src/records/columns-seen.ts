import type { SeenColumns } from "../model/columns.ts";
import { isObject, own } from "../model/json/json.ts";

/**
 * The columns that runs have seen, in a value from a store; undefined if it has another form. Without
 * them, new columns have no date, so nothing depends on them that could do harm.
 */
export function parseSeenColumns(value: unknown): SeenColumns | undefined {
  if (!isObject(value)) return undefined;
  const [at, groups] = [own(value, "at"), own(value, "groups")];
  return typeof at === "string" && Array.isArray(groups) && groups.every(isGroup) ? { at, groups } : undefined;
}

function isGroup(value: unknown): value is SeenColumns["groups"][number] {
  if (!isObject(value)) return false;
  const [integrations, after, schemas] = [own(value, "integrations"), own(value, "after"), own(value, "schemas")];
  const isDated = after === undefined || typeof after === "string";
  const areTables =
    isObject(schemas) && Object.values(schemas).every((tables) => isObject(tables) && Object.values(tables).every(areNames));
  return areNames(integrations) && isDated && areTables;
}

const areNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");
