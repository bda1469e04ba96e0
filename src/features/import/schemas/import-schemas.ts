import { type Address, kindOf } from "../../../core/base/model/address.ts";
import { readOr, ServiceError } from "../../../core/base/model/errors.ts";
import type { LiveSchemas } from "../../../core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../core/base/model/manifest.ts";
import { freeName } from "../../../core/base/model/maps.ts";
import type { OnProgress } from "../../../core/base/model/runtime/progress.ts";
import { counted } from "../../../core/base/text/counts.ts";
import {
  type Account,
  integrationAddress,
  isSchemaConfig,
  kindNames,
  readSchemas,
  type SchemaConfigUnit,
  schemaConfigAddress,
  schemasAddress,
  schemaUnits,
} from "../../../core/kinds/index.ts";
import { type RunReads, readAhead } from "../../../core/plan/index.ts";
import type { Adoption, NamedIntegration, NewDocument } from "../adopt.ts";
import type { ImportFailure } from "../other-targets.ts";
import { type IntendedSchemas, intendedSchemas, type StateDifferences, type TerraformState } from "../terraform.ts";
import { type DocumentText, schemaConfigText, type Writer } from "../writer.ts";
import { inferRules } from "./infer-rules.ts";

interface SchemasInput {
  readonly account: Account;
  readonly reads: RunReads;
  readonly writer: Writer;
  /** metadata.targets of new manifests. */
  readonly targets: readonly string[] | undefined;
  /** Addresses of manifests of other targets. */
  readonly taken: ReadonlySet<Address>;
  readonly state: TerraformState | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/** What importing the schemas adds to the result of the import. */
interface ImportedSchemas {
  readonly addresses: readonly Address[];
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  readonly differences: StateDifferences;
}

/** The import so far. */
interface Draft extends SchemasInput {
  /** The addresses of the SchemaConfigs that decide for integrations, by live id. */
  readonly units: ReadonlyMap<string, SchemaConfigUnit>;
  /** Names of SchemaConfigs, new ones included. */
  readonly takenNames: Set<string>;
  readonly addresses: Address[];
  readonly notices: string[];
  readonly failures: ImportFailure[];
  readonly differences: { readonly [List in keyof StateDifferences]: string[] };
}

/** Reads the schemas of the adopted integrations that no SchemaConfig selects one after the other, and writes each one's file. Throws what the reads and the writer throw. */
export async function importSchemas(adoption: Adoption, input: SchemasInput): Promise<ImportedSchemas> {
  const { reads, writer, account, onProgress } = input;
  const takenNames = new Set(account.manifests.filter(isSchemaConfig).map(({ name }) => name));
  const draft: Draft = {
    ...input,
    units: unitsById(account),
    takenNames,
    addresses: [],
    notices: [],
    failures: [],
    differences: { missing: [], neverKept: [], readable: [] },
  };
  const total = adoption.integrations.length;
  let done = 0;
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const read = async ({ live }: NamedIntegration) =>
    draft.units.has(live.id) && input.state?.schemas.has(live.id) !== true
      ? undefined
      : await readOr(
          () => readSchemas(reads, live.id),
          (failure) => failure,
        );
  for await (const { item, read: schemas } of readAhead(adoption.integrations, read)) {
    input.signal.throwIfAborted();
    const { name, live } = item;
    const unit = draft.units.get(live.id);
    if (unit !== undefined) draft.addresses.push(unit.manifest.address);
    const config = schemas === undefined ? undefined : adoptSchemas(draft, item, schemas);
    const [integration, others] = documentsOf(adoption, name);
    writer.addToIntegration(name, [...integration, ...(config === undefined ? [] : [config]), ...others]);
    await writer.flush();
    onProgress?.({ type: "step", phase: "read", done: ++done, total, label: integrationAddress(name) });
  }
  writer.end();
  const { addresses, notices, failures, differences } = draft;
  return { addresses, notices, failures, differences };
}

/** What decides for each integration that a SchemaConfig selects, by live id. */
export const unitsById = (account: Account): ReadonlyMap<string, SchemaConfigUnit> =>
  new Map(schemaUnits(account).units.map((unit) => [unit.liveId, unit]));

/** The new documents in the integration's file: its own, and those behind its schemas. */
function documentsOf({ documents }: Adoption, name: string): readonly [readonly NewDocument[], readonly NewDocument[]] {
  const inFile = documents.filter(({ integration }) => integration === name);
  const isIntegration = ({ address }: NewDocument): boolean => kindOf(address) === kindNames.integration;
  return [inFile.filter(isIntegration), inFile.filter((document) => !isIntegration(document))];
}

/** Adopts the schemas of one integration, and returns its new SchemaConfig if there is one. */
function adoptSchemas(draft: Draft, { name, live }: NamedIntegration, read: LiveSchemas | ServiceError): DocumentText | undefined {
  const { notices, failures, state, units } = draft;
  if (read instanceof ServiceError) {
    failures.push({ address: schemaConfigAddress(name), message: read.message });
    return undefined;
  }
  const { schemas, left } = withoutNul(read);
  if (left > 0)
    notices.push(
      `${counted(left, "name")} in the schemas of ${integrationAddress(name)} ${left === 1 ? "contains" : "contain"} a NUL character, which manifests cannot contain, and ${left === 1 ? "is" : "are"} not imported.`,
    );
  const intended = intendedSchemas(schemas, state?.schemas.get(live.id) ?? {});
  for (const [list, nodes] of Object.entries(draft.differences) as (readonly [keyof StateDifferences, string[]])[])
    for (const node of intended[list]) nodes.push(`${schemasAddress(name)} ${node}`);
  if (units.has(live.id)) return undefined;
  if (Object.keys(schemas).length > 0) return createConfig(draft, name, intended);
  notices.push(
    `The service shows no schemas of ${integrationAddress(name)}, so import wrote no SchemaConfig for it. If it shows some later, run import again.`,
  );
  return undefined;
}

/** A new SchemaConfig for what is off or hashed. */
function createConfig({ targets, taken, takenNames, addresses }: Draft, name: string, intended: IntendedSchemas): DocumentText | undefined {
  const spec = specFor(name, intended);
  if (spec === undefined) return undefined;
  const configName = freeName(name, (one) => takenNames.has(one) || taken.has(schemaConfigAddress(one)));
  const document = schemaConfigText(configName, spec, { targets });
  takenNames.add(configName);
  addresses.push(document.address);
  return document;
}

/** Undefined if the account protects nothing there. */
function specFor(integration: string, { schemas, expect }: IntendedSchemas): SchemaConfigSpec | undefined {
  const filled = Object.entries({ ...inferRules(schemas), expect }).filter(([, part]) => Object.keys(part).length > 0);
  return filled.length === 0 ? undefined : { integration, missing: "warn", ...Object.fromEntries(filled) };
}

/** The schemas, tables and columns whose names manifests can contain, and how many others there are, not counting what is below them. */
function withoutNul(schemas: LiveSchemas): { readonly schemas: LiveSchemas; readonly left: number } {
  let left = 0;
  const kept = <T>(entries: Readonly<Record<string, T>>, change: (entry: T) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([name, entry]): readonly (readonly [string, T])[] => {
        if (!name.includes("\0")) return [[name, change(entry)]];
        left += 1;
        return [];
      }),
    );
  const found = kept(schemas, (schema) => ({
    ...schema,
    tables: kept(schema.tables, (table) =>
      table.columns === undefined ? table : { ...table, columns: kept(table.columns, (column) => column) },
    ),
  }));
  return { schemas: left === 0 ? schemas : found, left };
}
