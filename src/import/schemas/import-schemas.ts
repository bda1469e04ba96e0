import type { RunReads } from "../../engine/reads/cached-reads.ts";
import { readAhead } from "../../engine/reads/read-account.ts";
import type { AccountView } from "../../kinds/kind.ts";
import { integrationAddress, isSchemaConfig, kindNames, schemaConfigAddress } from "../../kinds/manifests.ts";
import { readSchemas, type SchemaConfigUnit, schemaUnits, tablesToRead } from "../../kinds/schemas.ts";
import { type Address, kindOf } from "../../model/address.ts";
import { readOr, ServiceError } from "../../model/errors.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { OnProgress } from "../../model/runtime/progress.ts";
import type { TablePath } from "../../model/schema-tree.ts";
import { counted } from "../../text/counts.ts";
import type { Adoption, NamedIntegration, NewDocument } from "../adopt.ts";
import type { ImportFailure, Sharing } from "../other-targets.ts";
import type { Writer } from "../writer.ts";
import { adoptSchemas, type SchemasAdoption } from "./adopt-schemas.ts";

export interface SchemasInput {
  readonly account: AccountView;
  readonly reads: RunReads;
  readonly writer: Writer;
  readonly sharing: Sharing;
  /** Whether new manifests may be written. */
  readonly canCreate: boolean;
  /** Writes a literal tree instead of rules. */
  readonly literal: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/** What importing the schemas adds to the result of the import. */
export interface ImportedSchemas {
  readonly addresses: readonly Address[];
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  /** Something was not written because other targets would load it too. */
  readonly isLimited: boolean;
}

/** The import so far. */
interface State {
  /** By live id. */
  readonly units: Map<string, SchemaConfigUnit>;
  /** Names of SchemaConfigs, new ones included. */
  readonly takenNames: Set<string>;
  readonly addresses: Address[];
  readonly notices: string[];
  readonly failures: ImportFailure[];
  isLimited: boolean;
}

/** Reads the schemas of the adopted integrations one after the other, and writes each one's file. Throws what the reads and the writer throw. */
export async function importSchemas(adoption: Adoption, input: SchemasInput): Promise<ImportedSchemas> {
  const { reads, writer, account, onProgress } = input;
  const takenNames = new Set(account.resources.filter(isSchemaConfig).map(({ name }) => name));
  const state: State = { units: unitsById(account), takenNames, addresses: [], notices: [], failures: [], isLimited: false };
  const total = adoption.integrations.length;
  let done = 0;
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const read = ({ live }: NamedIntegration) =>
    readOr(
      () => readSchemas(reads, live.id, tablesOfPlan(state.units.get(live.id))),
      (failure) => failure,
    );
  for await (const outcome of readAhead(adoption.integrations, read)) {
    input.signal.throwIfAborted();
    const { name } = outcome.item;
    const created = adoptOutcome(outcome, input, state);
    const [integration, others] = documentsOf(adoption, name);
    writer.addToIntegration(name, [...integration, ...(created === undefined ? [] : [created.document]), ...others]);
    await writer.flush();
    onProgress?.({ type: "step", phase: "read", done: ++done, total, label: integrationAddress(name) });
  }
  writer.end();
  const { addresses, notices, failures, isLimited } = state;
  return { addresses, notices, failures, isLimited };
}

/** What decides for each integration that a SchemaConfig selects, by live id. */
export const unitsById = (account: AccountView): Map<string, SchemaConfigUnit> =>
  new Map(schemaUnits(account).units.map((unit) => [unit.liveId, unit]));

/** The new documents in the integration's file: its own, and those behind its schemas. */
function documentsOf({ documents }: Adoption, name: string): readonly [readonly NewDocument[], readonly NewDocument[]] {
  const inFile = documents.filter(({ integration }) => integration === name);
  const isIntegration = ({ address }: NewDocument): boolean => kindOf(address) === kindNames.integration;
  return [inFile.filter(isIntegration), inFile.filter((document) => !isIntegration(document))];
}

/** Import has to read the columns of the same tables as the plan after it. */
const tablesOfPlan =
  (unit: SchemaConfigUnit | undefined) =>
  (live: LiveSchemas): readonly TablePath[] =>
    unit === undefined ? [] : tablesToRead(unit.rules, live, undefined);

/** Adopts one integration's schemas if they were read, and returns the new SchemaConfig if there is one. */
function adoptOutcome(
  { item: { live, name }, read }: { readonly item: NamedIntegration; readonly read: LiveSchemas | ServiceError | undefined },
  { sharing, canCreate, literal, writer }: SchemasInput,
  state: State,
): SchemasAdoption["created"] {
  const { units, takenNames, addresses, notices, failures } = state;
  if (read instanceof ServiceError) failures.push({ address: schemaConfigAddress(name), message: read.message });
  if (read === undefined || read instanceof ServiceError) return undefined;
  const unit = units.get(live.id);
  // Frees what the unit has cached about the names of this integration.
  units.delete(live.id);
  if (unit !== undefined) addresses.push(unit.resource.address);
  const { schemas: readable, left } = withoutNul(read);
  if (left > 0)
    notices.push(
      `${counted(left, "name")} in the schemas of ${integrationAddress(name)} ${left === 1 ? "contains" : "contain"} a NUL character, which manifests cannot contain, and ${left === 1 ? "is" : "are"} not imported.`,
    );
  const adopted = adoptSchemas({ name, live: readable, unit, literal, sharing, canCreate, takenNames });
  const { changed, created, failure } = adopted;
  notices.push(...(adopted.notices ?? []));
  state.isLimited ||= failure !== undefined;
  const unwritten = changed === undefined ? undefined : writer.change(changed);
  for (const one of [failure, unwritten]) if (one !== undefined) failures.push(one);
  if (created === undefined) return undefined;
  takenNames.add(created.configName);
  addresses.push(created.document.address);
  return created;
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
