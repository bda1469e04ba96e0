import { emptyRecord, type JsonObject, own } from "../../model/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import type { Problem } from "../../model/problem.ts";
import type { Reference, Resource, SchemaConfigSpec } from "../../model/resource.ts";
import type { Reads } from "../../model/service.ts";
import { type AccountView, type DiffResult, emptyDiff, type Kind } from "../kind.ts";
import { labelOf } from "../select.ts";
import { tablesToRead, unmanagedTables } from "./coverage.ts";
import { evaluate } from "./evaluate.ts";
import { liveView } from "./live-view.ts";
import { isLabel, readOnlyNodeField } from "./manifest.ts";
import { missingNames } from "./missing.ts";
import { observedBy, patches, tablesTouched, unintendedChanges } from "./patch.ts";
import { manualSteps, refusals } from "./problems.ts";
import { addTo, emptySample, endTally, sampleText, type UnitTally } from "./rule-stats.ts";
import { ruleWarnings } from "./rule-warnings.ts";
import { nodePointer } from "./tree.ts";
import type { SchemaConfigUnit } from "./units.ts";
import { units, wish } from "./units.ts";

// One PATCH changes what of an integration's schemas is replicated and hashed (interface §4.3); its answer is the whole new state.

/** Above so many reads for one integration a person should know why a plan takes so long. */
const manyColumnReads = 1_000;

/** Tables whose columns took reads of their own, by the tree that they are in: the tree itself is the service's answer and has no place for it. */
const columnReads = new WeakMap<LiveSchemas, number>();

const specOf = (resource: Resource): SchemaConfigSpec => resource.spec as SchemaConfigSpec;

export const schemaConfig: Kind<SchemaConfigUnit, LiveSchemas> = {
  name: "SchemaConfig",

  references(resource): readonly Reference[] {
    const { integration } = specOf(resource);
    return typeof integration === "string" ? [{ kind: "Integration", name: integration, pointer: "/spec/integration", orLive: true }] : [];
  },

  lists: (resource) => (typeof specOf(resource).integration === "object" ? [] : ["integrations"]),

  units: (resources, world) => units(resources as readonly Resource<SchemaConfigSpec>[], world),

  observe: async (unit, reads, needs) => {
    const live = await reads.schemas(unit.liveId);
    if (live === undefined) return undefined;
    const tables = tablesToRead(unit.program, live, needs.policyColumns(unit.liveId));
    needs.claimColumns(unit.liveId, tables.length);
    return withColumns(unit.liveId, live, tables, reads);
  },

  namesBelow: ["spec", "schemas"],

  isPlainKey: isLabel,

  readOnlyField: readOnlyNodeField,

  liveView,

  isLayered: true,
  readsSchemas: true,

  diff: compare,

  // The engine hands a kind only tallies that the kind itself made.
  conclude: (tallies) => ruleWarnings(tallies as readonly UnitTally[]),

  update: {
    async reread(item, reads) {
      const id = item.liveId ?? "";
      const live = await reads.schemas(id);
      if (live === undefined) return undefined;
      const touched = tablesTouched(item.requests).filter(([schema, table]) => {
        const known = own(own(live, schema)?.tables, table);
        return known !== undefined && known.columns === undefined;
      });
      return withColumns(id, live, touched, reads);
    },

    // Live schemas are JSON; their types only don't say so.
    document: (_item, live) => ({ schemas: (live ?? {}) as unknown as JsonObject }),

    answered: (_before, answer, decode) => decode.schemas(answer),

    unintended: unintendedChanges,
  },
};

function compare(unit: SchemaConfigUnit, live: LiveSchemas | undefined, world: AccountView): DiffResult {
  const { address, liveId, label, program, targets } = unit;
  if (live === undefined)
    return {
      ...emptyDiff,
      blocked: [
        {
          address,
          code: "E_GONE",
          message: `The integration ${liveId} answers 404: it is gone from the account. Correct spec.integration.`,
        },
      ],
    };
  const discovering = (): DiffResult => ({
    ...emptyDiff,
    deferred: [{ address, waitsFor: [`Integration/${label}`], liveId, desired: wish(program.layers.map(({ compiled }) => compiled)) }],
  });
  if (Object.keys(live).length === 0) return discovering();
  const evaluation = evaluate(program, live, (path, key) => world.ignored(address, nodePointer(path, key)));
  const tally = endTally(evaluation.tally);
  const missing = missingNames(program, live, evaluation, label);
  if (missing.required > 0 && world.fresh.has(liveId)) return discovering();
  const { changes, unmanagedColumns, exposedColumns, unmet } = evaluation;
  const problems = [...missing.problems, ...refusals(program, evaluation, label), ...patience(live, label), ...unseen(unit, live)];
  const found: DiffResult = {
    ...emptyDiff,
    problems: problems.map((problem) => ({ address, ...problem })),
    manual: manualSteps(address, label, unmet),
    unmanagedColumns,
    ...(world.listUnmanaged === true ? { unmanagedTables: unmanagedTables(program, live).map((one) => ({ address, ...one })) } : {}),
    ...(tally === undefined ? {} : { tally: { ...tally, label, targets } satisfies UnitTally }),
  };
  if (changes.length === 0 || problems.some(({ severity }) => severity === "error")) return found;
  const requests = patches(liveId, changes, live, world.maxBodyBytes);
  return {
    ...found,
    items: [
      {
        address,
        kind: "SchemaConfig",
        action: "update",
        liveId,
        liveName: label === liveId ? world.integrations.find(({ id }) => id === liveId)?.name || label : labelOf(liveId, world),
        changes: changes.map(({ path, key, before, after, risk, cause }) => ({ path: nodePointer(path, key), before, after, risk, cause })),
        requests,
        observed: observedBy(requests, live),
        exposedColumns,
        after: [`Integration/${label}`],
      },
    ],
  };
}

function patience(live: LiveSchemas, label: string): readonly Problem[] {
  const reads = columnReads.get(live) ?? 0;
  if (reads <= manyColumnReads) return [];
  return [
    {
      code: "W_MANY_COLUMN_READS",
      severity: "warning",
      summary: "Many column reads",
      message: `The service answers the schemas of ${label} without columns, so the columns of ${reads} tables were read one table at a time. Narrow the column rules by schema and table, or unmatched.columns, so that fewer tables come into question.`,
    },
  ];
}

/**
 * Tables whose columns were asked for and not told (404): what the configuration says of them takes no effect, which nobody would notice otherwise.
 */
function unseen({ program, label, resource }: SchemaConfigUnit, live: LiveSchemas): readonly Problem[] {
  const tables = columnReads.has(live) ? tablesToRead(program, live, undefined) : [];
  if (tables.length === 0) return [];
  const sample = emptySample();
  for (const path of tables) addTo(sample, path);
  return [
    {
      code: "W_COLUMNS_UNKNOWN",
      severity: "warning",
      summary: "Columns could not be seen",
      message: `The service tells no columns of ${sampleText(sample)} in ${label}, so what is said of ${tables.length === 1 ? "its" : "their"} columns takes no effect. Have the schema discovered again, or look at the columns in the service.`,
      place: resource.place,
    },
  ];
}

/** The same tree with the columns of some tables read on their own. */
export async function withColumns(
  id: string,
  live: LiveSchemas,
  tables: readonly (readonly [schema: string, table: string])[],
  reads: Reads,
): Promise<LiveSchemas> {
  if (tables.length === 0) return live;
  const read = await Promise.all(
    tables.map(async ([schema, table]) => ({ schema, table, columns: await reads.columns(id, schema, table) })),
  );
  const schemas = Object.assign(emptyRecord<LiveSchemas[string]>(), live);
  const copied = new Map<string, Record<string, LiveTable>>();
  for (const { schema, table, columns } of read) {
    const known = own(live, schema);
    const entry = own(known?.tables, table);
    if (known === undefined || entry === undefined || columns === undefined) continue;
    const tablesAfter = copied.get(schema) ?? Object.assign(emptyRecord<LiveTable>(), known.tables);
    copied.set(schema, tablesAfter);
    tablesAfter[table] = { ...entry, columns };
    schemas[schema] = { ...known, tables: tablesAfter };
  }
  columnReads.set(schemas, tables.length);
  return schemas;
}
