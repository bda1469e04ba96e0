import { integrationAddress } from "../../kinds/manifests.ts";
import type { SchemaConfigUnit } from "../../kinds/schemas.ts";
import type { Address } from "../../model/address.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { groupBy } from "../../model/maps.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { SchemaConfigSpec } from "../../model/resource.ts";
import { freeName } from "../../text/free-name.ts";
import { nodeText } from "../../text/paths.ts";
import { type DocumentText, schemaConfigText } from "../document-text.ts";
import { type ImportFailure, notShared, type Sharing } from "../other-targets.ts";
import type { ChangedConfig } from "../writer.ts";
import { extendSpec } from "./extend.ts";
import { inferRules, literalSchemas } from "./infer-rules.ts";

export interface AdoptSchemasInput {
  /** Name of the integration's manifest. */
  readonly name: string;
  readonly live: LiveSchemas;
  /** What decides for the integration now; undefined if no SchemaConfig selects it. */
  readonly unit: SchemaConfigUnit | undefined;
  readonly literal: boolean;
  readonly sharing: Sharing;
  /** Whether new manifests may be written; otherwise, schemas without one are failures. */
  readonly canCreate: boolean;
  /** Names of SchemaConfigs, including those that this import has given. */
  readonly takenNames: ReadonlySet<string>;
}

/** What to write for one integration's schemas. */
export interface SchemasAdoption {
  readonly changed?: ChangedConfig;
  readonly created?: { readonly document: DocumentText; readonly configName: string };
  readonly notices?: readonly string[];
  readonly failure?: ImportFailure;
}

/** Pure. One integration at a time: its schemas can be freed afterwards. */
export function adoptSchemas(input: AdoptSchemasInput): SchemasAdoption {
  const { name, live, unit } = input;
  const isEmpty = Object.keys(live).length === 0;
  if (unit === undefined) {
    if (!isEmpty) return create(input, specFor(name, live, input.literal));
    return { notices: [`${integrationAddress(name)} has no schemas yet. Run import again when the service has discovered them.`] };
  }
  const { resource: top } = unit;
  // While a source is discovered again, it has no schemas for a time. That does not mean that they are gone.
  if (isEmpty) return { notices: [`The service returned no schemas for Integration/${name}, so ${top.address} was not changed.`] };
  return extend(input, unit);
}

/** Adds what nothing covers to the SchemaConfig of this integration alone. */
function extend({ name, live, literal, sharing }: AdoptSchemasInput, unit: SchemaConfigUnit): SchemasAdoption {
  const { resource, address } = unit;
  const isShared = resource.spec.integrations !== undefined || sharing.decidesIn(resource, integrationAddress(name)).length > 0;
  if (isShared) return {};
  const { spec, addedColumns } = extendSpec(unit, live, literal);
  if (spec === resource.spec) return {};
  return { changed: { resource, spec }, notices: addedNotices(address, addedColumns) };
}

/** A new SchemaConfig. */
function create({ name, takenNames, canCreate, sharing }: AdoptSchemasInput, spec: SchemaConfigSpec): SchemasAdoption {
  const configName = freeName(name, (one) => takenNames.has(one));
  const document = schemaConfigText(configName, spec);
  return canCreate ? { created: { document, configName } } : { failure: notShared(document.address, sharing.inUse) };
}

const shownNodes = 50;

/** A reviewer must not overlook that an import declares more data as readable. */
function addedNotices(address: Address, added: readonly NodePath[]): readonly string[] {
  if (added.length === 0) return [];
  const texts = byTable(added);
  const rest = texts.length - shownNodes;
  const list = `${texts.slice(0, shownNodes).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return [`${address} now covers new columns that are replicated unhashed: ${list}.`];
}

/** "public.orders (email, phone)" for columns of one table; other nodes, and a single column, as they are. */
function byTable(paths: readonly NodePath[]): readonly string[] {
  const groups = groupBy(paths, (path) => nodeText(path.slice(0, 2)));
  return [...groups].map(([table, nodes]) => {
    const [only, second] = nodes;
    return second === undefined ? nodeText(only) : `${table} (${nodes.map(([, , column = ""]) => nodeText([column])).join(", ")})`;
  });
}

function specFor(integration: string, live: LiveSchemas, literal: boolean): SchemaConfigSpec {
  if (literal) return { integration, missing: "warn", schemas: literalSchemas(live) };
  const { rules, schemas } = inferRules(live);
  return { integration, missing: "warn", rules, ...(Object.keys(schemas).length === 0 ? {} : { schemas }) };
}
