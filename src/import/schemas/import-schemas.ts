import type { RunReads } from "../../engine/cached-reads.ts";
import { type ReadAhead, readAhead, readSchemas, type Tables } from "../../engine/read-schemas.ts";
import type { AccountView } from "../../kinds/kind.ts";
import { tablesToRead } from "../../kinds/schema-config/coverage.ts";
import { schemaConfig } from "../../kinds/schema-config/index.ts";
import type { SchemaConfigUnit } from "../../kinds/schema-config/units.ts";
import { type Address, toAddress } from "../../model/address.ts";
import { ServiceError } from "../../model/errors.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { OnProgress } from "../../model/progress.ts";
import type { Adoption, NamedIntegration, NewDocument } from "../adopt.ts";
import type { DocumentText } from "../document-text.ts";
import type { ImportFailure, Writer } from "../writer.ts";
import { adoptSchemas } from "./adopt-schemas.ts";

/** How many integrations are read before the one that is being written; no more are held in memory. */
const ahead = 4;

export interface SchemasInput {
  readonly account: AccountView;
  readonly reads: RunReads;
  readonly writer: Writer;
  readonly boundElsewhere: ReadonlySet<Address>;
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
}

/** Reads the schemas of the adopted integrations one after the other, and writes each one's file. Throws what the reads and the writer throw. */
export async function importSchemas(adoption: Adoption, input: SchemasInput): Promise<ImportedSchemas> {
  const { reads, writer, account, onProgress } = input;
  const takenNames = new Set(schemaConfigs(account).map(({ name }) => name));
  const state: State = { units: unitsById(account), takenNames, addresses: [], notices: [], failures: [] };
  const total = adoption.integrations.length;
  let done = 0;
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const read = ({ live }: NamedIntegration) => readSchemas(reads, live.id, tablesOfPlan(state.units.get(live.id)));
  for await (const outcome of readAhead(adoption.integrations, ahead, read)) {
    input.signal.throwIfAborted();
    const { name } = outcome.item;
    const schemaDocuments = adoptOutcome(outcome, input, state);
    const [integration, others] = documentsOf(adoption, name);
    writer.addToIntegration(name, [...integration, ...schemaDocuments, ...others]);
    await writer.flush();
    onProgress?.({ type: "step", phase: "read", done: ++done, total, label: toAddress("Integration", name) });
  }
  writer.end();
  return state;
}

const schemaConfigs = ({ resources }: AccountView): AccountView["resources"] => resources.filter(({ kind }) => kind === "SchemaConfig");

/** What decides for each integration that a SchemaConfig selects, by live id. */
export const unitsById = (account: AccountView): Map<string, SchemaConfigUnit> =>
  new Map(schemaConfig.units(schemaConfigs(account), account).units.map((unit) => [unit.liveId, unit]));

/** The new documents in the integration's file: its own, and those behind its schemas. */
function documentsOf({ documents }: Adoption, name: string): readonly [readonly NewDocument[], readonly NewDocument[]] {
  const inFile = documents.filter(({ integration }) => integration === name);
  const isIntegration = ({ address }: NewDocument): boolean => address.startsWith("Integration/");
  return [inFile.filter(isIntegration), inFile.filter((document) => !isIntegration(document))];
}

/** Import has to read the columns of the same tables as the plan after it. */
const tablesOfPlan =
  (unit: SchemaConfigUnit | undefined) =>
  (live: LiveSchemas): Tables =>
    unit === undefined ? [] : tablesToRead(unit.program, live, undefined);

/** Adopts one integration's schemas if they were read, and returns the documents to add to its file. */
function adoptOutcome(
  outcome: ReadAhead<NamedIntegration, LiveSchemas | undefined>,
  { account, boundElsewhere, literal, writer }: SchemasInput,
  { units, takenNames, addresses, notices, failures }: State,
): readonly DocumentText[] {
  const { live, name } = outcome.item;
  if ("error" in outcome) {
    if (!(outcome.error instanceof ServiceError)) throw outcome.error;
    failures.push({ address: toAddress("SchemaConfig", name), message: outcome.error.message });
    return [];
  }
  if (outcome.read === undefined) return [];
  const unit = units.get(live.id);
  // Frees what the unit has cached about the names of this integration.
  units.delete(live.id);
  if (unit !== undefined) addresses.push(unit.resource.address);
  const adopted = adoptSchemas({ name, live: outcome.read, unit, account, literal, boundElsewhere, takenNames });
  if (adopted.type === "notice") notices.push(adopted.notice);
  if (adopted.type === "changed") {
    const failure = writer.change(adopted.changed);
    if (failure !== undefined) failures.push(failure);
  }
  if (adopted.type !== "new") return [];
  takenNames.add(adopted.configName);
  addresses.push(adopted.document.address);
  return [adopted.document];
}
