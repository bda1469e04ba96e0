import type { AccountView } from "../../kinds/kind.ts";
import { type Field, type NodePath, nodePointer } from "../../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../../kinds/schema-config/units.ts";
import { type Address, toAddress } from "../../model/address.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { ColumnTree, SchemaConfigSpec } from "../../model/resource.ts";
import type { ChangedSpec } from "../adopt.ts";
import { type DocumentText, schemaConfigText } from "../document-text.ts";
import { inferRules } from "./infer-rules.ts";
import { literalSchemas } from "./literal-schemas.ts";
import { reconcileSchemas } from "./reconcile.ts";
import { draftOf, getLeaf, removeLeaf, treeOf } from "./schema-tree.ts";

export interface AdoptSchemasInput {
  /** Name of the integration's manifest. */
  readonly name: string;
  readonly live: LiveSchemas;
  /** What decides for the integration now; undefined if no SchemaConfig selects it. */
  readonly unit: SchemaConfigUnit | undefined;
  readonly account: AccountView;
  readonly literal: boolean;
  readonly boundElsewhere: ReadonlySet<Address>;
  /** Names of SchemaConfigs, including those that this import has given. */
  readonly takenNames: ReadonlySet<string>;
}

/** What to write for one integration's schemas. */
export type SchemasAdoption =
  | { readonly type: "nothing" }
  | { readonly type: "notice"; readonly notice: string }
  | { readonly type: "changed"; readonly changed: ChangedSpec }
  | { readonly type: "new"; readonly document: DocumentText; readonly configName: string };

/** Pure. One integration at a time: its schemas can be freed afterwards. */
export function adoptSchemas(input: AdoptSchemasInput): SchemasAdoption {
  const { name, live, unit, account, literal } = input;
  const isEmpty = Object.keys(live).length === 0;
  if (unit === undefined) {
    if (!isEmpty) return newConfig(freeName(name, input.takenNames), specFor(name, live, literal));
    return { type: "notice", notice: `Integration/${name} has no schemas yet. Run import again when the service has discovered them.` };
  }
  const top = unit.resource;
  // While a source is discovered again, it has no schemas for a time. That does not mean that they are gone.
  if (isEmpty)
    return { type: "notice", notice: `The service returned no schemas for Integration/${name}, so ${top.address} was not changed.` };
  const spec = reconcileSchemas({
    resources: account.resources,
    program: unit.program,
    live,
    literal,
    isIgnored: (path, key) => account.ignored(unit.address, nodePointer(path, key)),
  });
  if (spec === top.spec) return { type: "nothing" };
  if (top.spec.integrations !== undefined) return override(input, top.spec, spec);
  if (input.boundElsewhere.has(toAddress("Integration", name)))
    return { type: "notice", notice: `${top.address} also applies to another target, so import did not change it to match this account.` };
  return { type: "changed", changed: { resource: top, spec, untyped: [] } };
}

/** A SchemaConfig that many integrations share is not changed for one of them: another one, of higher priority, holds the differences. */
function override({ name, takenNames }: AdoptSchemasInput, shared: SchemaConfigSpec, wanted: SchemaConfigSpec): SchemasAdoption {
  const priority = (shared.priority ?? 0) + 1;
  return newConfig(freeName(name, takenNames), { integration: name, priority, missing: "warn", schemas: addedLeaves(shared, wanted) });
}

function newConfig(configName: string, spec: SchemaConfigSpec): SchemasAdoption {
  return { type: "new", document: schemaConfigText(configName, spec), configName };
}

function specFor(integration: string, live: LiveSchemas, literal: boolean): SchemaConfigSpec {
  if (literal) return { integration, missing: "warn", schemas: literalSchemas(live) };
  const { rules, schemas } = inferRules(live);
  return { integration, missing: "warn", rules, ...(Object.keys(schemas).length === 0 ? {} : { schemas }) };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

/** The leaves of the literal tree of `after` that `before` does not have with the same value. */
function addedLeaves(before: SchemaConfigSpec, after: SchemaConfigSpec): NonNullable<SchemaConfigSpec["schemas"]> {
  const draft = draftOf(after.schemas);
  const drop = (path: NodePath, leaves: ColumnTree): void => {
    for (const key of ["enabled", "hashed"] satisfies Field[])
      if (leaves[key] !== undefined && getLeaf(draft, path, key) === leaves[key]) removeLeaf(draft, path, key);
  };
  for (const [schema, schemaEntry] of Object.entries(before.schemas ?? {})) {
    for (const [table, tableEntry] of Object.entries(schemaEntry.tables ?? {})) {
      for (const [column, leaves] of Object.entries(tableEntry.columns ?? {})) drop([schema, table, column], leaves);
      drop([schema, table], tableEntry);
    }
    drop([schema], schemaEntry);
  }
  return treeOf(draft) ?? {};
}
