import type { AccountView } from "../kinds/kind.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { toAddress } from "../model/address.ts";
import type { LiveSchemas } from "../model/live.ts";
import { toPointer } from "../model/pointer.ts";
import type { SchemaConfigSpec } from "../model/resource.ts";
import type { ChangedSpec } from "./adopt.ts";
import { type DocumentText, schemaConfigText } from "./document-text.ts";
import { inferRules, literalSchemas } from "./infer-rules.ts";
import { reconcileSchemas } from "./reconcile.ts";
import { draftOf, type TreeDraft, treeOf } from "./schema-tree.ts";

export interface SchemasInput {
  /** Name of the integration's manifest. */
  readonly name: string;
  readonly live: LiveSchemas;
  /** What decides for the integration now; absent where no schema configuration selects it. */
  readonly unit: SchemaConfigUnit | undefined;
  readonly world: AccountView;
  readonly literal: boolean;
  readonly boundElsewhere: ReadonlySet<string>;
  /** Names of SchemaConfig manifests, those included that this import has given. */
  readonly takenNames: ReadonlySet<string>;
}

/** What is to be written about one integration's schemas. */
export type SchemasAdoption =
  | { readonly type: "nothing" }
  | { readonly type: "notice"; readonly notice: string }
  | { readonly type: "changed"; readonly changed: ChangedSpec }
  | { readonly type: "new"; readonly document: DocumentText; readonly configName: string };

/** Pure, and an integration at a time: nothing of its schemas is needed afterwards. */
export function adoptSchemas(input: SchemasInput): SchemasAdoption {
  const { name, live, unit, world, literal } = input;
  if (unit === undefined) {
    if (Object.keys(live).length === 0)
      return { type: "notice", notice: `Integration/${name} has no schemas yet. Import again when the service has discovered them.` };
    return newConfig(freeName(name, input.takenNames), specFor(name, live, literal));
  }
  const top = unit.resource;
  // A source that is discovered anew shows nothing for a while: what a person wants of it is not gone with that.
  if (Object.keys(live).length === 0)
    return { type: "notice", notice: `Integration/${name} shows no schemas now, so ${top.address} was left as it is.` };
  const spec = reconcileSchemas({
    resources: world.resources,
    program: unit.program,
    live,
    literal,
    isIgnored: (path, key) => world.ignored(unit.address, toPointer(["schemas", ...nodeSegments(path), key])),
  });
  if (spec === top.spec) return { type: "nothing" };
  if (top.spec.integrations !== undefined) {
    // What is said of many integrations isn't changed to fit one of them: a configuration of its own, of a higher priority, says what is different.
    const configName = freeName(name, input.takenNames);
    const different = onlyNew(top.spec, spec);
    return newConfig(configName, { integration: name, priority: (top.spec.priority ?? 0) + 1, missing: "warn", schemas: different });
  }
  if (input.boundElsewhere.has(toAddress("Integration", name)))
    return { type: "notice", notice: `${top.address} speaks for another target too, so it was not changed to fit this one.` };
  return { type: "changed", changed: { resource: top, spec, untyped: [] } };
}

function newConfig(configName: string, spec: SchemaConfigSpec): SchemasAdoption {
  return { type: "new", document: schemaConfigText(configName, spec), configName };
}

function specFor(integration: string, live: LiveSchemas, literal: boolean): SchemaConfigSpec {
  if (literal) return { integration, missing: "warn", schemas: literalSchemas(live) };
  const { rules, schemas } = inferRules(live);
  return { integration, missing: "warn", rules, ...(Object.keys(schemas).length === 0 ? {} : { schemas }) };
}

const nodeSegments = ([schema, table, column]: readonly [string, string?, string?]): readonly string[] => [
  schema,
  ...(table === undefined ? [] : ["tables", table]),
  ...(column === undefined ? [] : ["columns", column]),
];

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

/** Leaves of the tree after that the tree before does not have alike. */
function onlyNew(before: SchemaConfigSpec, after: SchemaConfigSpec): NonNullable<SchemaConfigSpec["schemas"]> {
  const draft: TreeDraft = draftOf(after.schemas);
  for (const [schema, { enabled, tables = {} }] of Object.entries(before.schemas ?? {})) {
    const unless = (path: readonly [string, string?, string?], key: "enabled" | "hashed", value: boolean | undefined): void => {
      if (value !== undefined && draft.get(path, key) === value) draft.set(path, key, undefined);
    };
    for (const [table, entry] of Object.entries(tables)) {
      for (const [column, leaf] of Object.entries(entry.columns ?? {})) {
        unless([schema, table, column], "enabled", leaf.enabled);
        unless([schema, table, column], "hashed", leaf.hashed);
      }
      unless([schema, table], "enabled", entry.enabled);
    }
    unless([schema], "enabled", enabled);
  }
  return treeOf(draft) ?? {};
}
