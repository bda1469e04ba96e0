import type { AccountView } from "../../kinds/kind.ts";
import { integrationAddress } from "../../kinds/manifests.ts";
import { type Field, nodeText, walk } from "../../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../../kinds/schema-config/units.ts";
import type { Address } from "../../model/address.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { type NodePath, nodePointer } from "../../model/nodes.ts";
import type { ColumnTree, SchemaConfigSpec } from "../../model/resource.ts";
import type { ChangedSpec } from "../adopt.ts";
import { type DocumentText, schemaConfigText } from "../document-text.ts";
import { type ImportFailure, notShared } from "../failure.ts";
import type { Sharing } from "../other-targets.ts";
import type { Folder } from "../writer.ts";
import { inferRules } from "./infer-rules.ts";
import { literalSchemas } from "./literal-schemas.ts";
import { type LeafDifference, reconcileSchemas } from "./reconcile.ts";
import { draftOf, getLeaf, removeLeaf, treeOf } from "./schema-tree.ts";

export interface AdoptSchemasInput {
  /** Name of the integration's manifest. */
  readonly name: string;
  readonly live: LiveSchemas;
  /** What decides for the integration now; undefined if no SchemaConfig selects it. */
  readonly unit: SchemaConfigUnit | undefined;
  readonly account: AccountView;
  readonly literal: boolean;
  readonly sharing: Sharing;
  /** Whether the target has a folder of its own for new files. */
  readonly hasOwnFolder: boolean;
  /** Names of SchemaConfigs, including those that this import has given. */
  readonly takenNames: ReadonlySet<string>;
}

/** What to write for one integration's schemas. */
export interface SchemasAdoption {
  readonly changed?: ChangedSpec;
  readonly created?: { readonly document: DocumentText; readonly configName: string; readonly folder: Folder };
  readonly notices?: readonly string[];
  readonly failure?: ImportFailure;
  /** The account differs from the SchemaConfig, which was not changed because it also applies to these targets. */
  readonly deviation?: { readonly config: Address; readonly targets: readonly string[] };
}

/** Pure. One integration at a time: its schemas can be freed afterwards. */
export function adoptSchemas(input: AdoptSchemasInput): SchemasAdoption {
  const { name, live, unit, sharing } = input;
  const isEmpty = Object.keys(live).length === 0;
  if (unit === undefined) {
    if (!isEmpty) return create(input, specFor(name, live, input.literal), sharing.inUse);
    return { notices: [`${integrationAddress(name)} has no schemas yet. Run import again when the service has discovered them.`] };
  }
  const { resource: top } = unit;
  // While a source is discovered again, it has no schemas for a time. That does not mean that they are gone.
  if (isEmpty) return { notices: [`The service returned no schemas for Integration/${name}, so ${top.address} was not changed.`] };
  return reconcile(input, unit, sharing.decidesIn(top, integrationAddress(name)));
}

/** A SchemaConfig of many integrations or targets is not changed for one: another one, of higher priority, holds the differences. */
function reconcile(input: AdoptSchemasInput, unit: SchemaConfigUnit, targets: readonly string[]): SchemasAdoption {
  const { name, live, account, literal } = input;
  const { resource: top, rules, address } = unit;
  const inPlace = top.spec.integrations === undefined && targets.length === 0;
  const { spec, exposing, addedColumns } = reconcileSchemas({
    ...{ resources: account.resources, rules, live, literal, inPlace },
    isIgnored: (path, key) => account.ignored(address, nodePointer(path, key)),
  });
  if (spec === top.spec) return {};
  const notices = exposureNotices(address, exposing, addedColumns);
  if (inPlace) return { changed: { resource: top, spec, untyped: [] }, notices };
  const priority = (top.spec.priority ?? 0) + 1;
  const override = { integration: name, priority, missing: "warn", schemas: addedLeaves(top.spec, spec) } as const;
  const affected = [...new Set([...targets, ...input.sharing.inUse])];
  if (affected.length > 0 && !input.hasOwnFolder) return { deviation: { config: top.address, targets: affected } };
  return { ...create(input, override, affected), notices };
}

/** A new SchemaConfig. If other targets would plan it too, it goes to the folder of this target, or is a failure. */
function create(
  { name, takenNames, hasOwnFolder }: AdoptSchemasInput,
  spec: SchemaConfigSpec,
  targets: readonly string[],
): SchemasAdoption {
  const configName = freeName(name, takenNames);
  const document = schemaConfigText(configName, spec);
  if (targets.length > 0 && !hasOwnFolder) return { failure: notShared(document.address, targets) };
  return { created: { document, configName, folder: targets.length > 0 ? "own" : "shared" } };
}

const shownNodes = 50;

/** A reviewer must not overlook that an import declares more data as readable. */
function exposureNotices(address: Address, exposing: readonly LeafDifference[], added: readonly NodePath[]): readonly string[] {
  const list = (texts: readonly string[]): string => {
    const rest = texts.length - shownNodes;
    return `${texts.slice(0, shownNodes).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  };
  const unhashed = exposing.flatMap(({ path, key }) => (key === "hashed" ? [path] : []));
  const enabled = exposing.flatMap(({ path, key }) => (key === "enabled" ? [path] : []));
  const leaves = [...byTable(unhashed).map((text) => `${text} unhashed`), ...byTable(enabled).map((text) => `${text} enabled`)];
  return [
    ...(leaves.length > 0 ? [`${address} was stricter than the account. The manifests now declare: ${list(leaves)}.`] : []),
    ...(added.length > 0 ? [`${address} now covers new columns that are replicated unhashed: ${list(byTable(added))}.`] : []),
  ];
}

/** "public.orders (email, phone)" for columns of one table; other nodes, and a single column, as they are. */
function byTable(paths: readonly NodePath[]): readonly string[] {
  const groups = new Map<string, NodePath[]>();
  for (const path of paths) {
    const [schema, table, column] = path;
    const key = table === undefined || column === undefined ? nodeText(path) : nodeText([schema, table]);
    groups.set(key, [...(groups.get(key) ?? []), path]);
  }
  return [...groups].map(([table, nodes]) => {
    const [only = [""] as const, second] = nodes;
    return second === undefined ? nodeText(only) : `${table} (${nodes.map(([, , column = ""]) => nodeText([column])).join(", ")})`;
  });
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
  const dropAndGoOn = (leaves: ColumnTree, path: NodePath): true => {
    drop(path, leaves);
    return true;
  };
  walk(before.schemas ?? {}, { schema: dropAndGoOn, table: dropAndGoOn, column: dropAndGoOn });
  return treeOf(draft) ?? {};
}
