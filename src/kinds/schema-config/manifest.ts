import { fromPointer, type Pointer } from "../../model/json/pointer.ts";
import type { ManifestKind } from "../kind.ts";
import { kindNames } from "../manifests.ts";

// What reading a SchemaConfig or a RuleSet needs to know.

const readOnlyNodeFields: ReadonlySet<string> = new Set([
  "nameInDestination",
  "syncMode",
  "cursorField",
  "isPrimaryKey",
  "name_in_destination",
  "sync_mode",
  "cursor_field",
  "is_primary_key",
]);

/** In `set` of a rule and, for a SchemaConfig, in the literal tree. */
export function readOnlyNodeField(parent: Pointer, key: string): string | undefined {
  const [spec, member, , set, ...below] = fromPointer(parent);
  const isNode = spec === "spec" && (member === "schemas" || (member === "rules" && set === "set" && below.length === 0));
  if (!isNode || !readOnlyNodeFields.has(key)) return undefined;
  return `The API returns \`${key}\` but cannot write it. Assert it under spec.expect instead, or change it in the service.`;
}

/** Keys of `labels` in a selector are names of labels. */
export const isLabel = (path: readonly (string | number)[]): boolean => path.at(-1) === "labels";

/** The rules of a RuleSet act through the SchemaConfigs that use them. */
export const ruleSet: ManifestKind = { name: kindNames.ruleSet, references: () => [], readOnlyField: readOnlyNodeField };
