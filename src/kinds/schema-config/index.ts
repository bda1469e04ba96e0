import { emptyRecord, type JsonObject, own } from "../../model/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import type { Reference, Resource, SchemaConfigSpec } from "../../model/resource.ts";
import type { Reads } from "../../model/service.ts";
import { type Kind, nothingFound } from "../kind.ts";
import { labelOf } from "../select.ts";
import { evaluate, tablesToRead } from "./evaluate.ts";
import { nodePointer, observedBy, patches, tablesTouched } from "./patch.ts";
import { unintendedChanges } from "./unintended.ts";
import type { SchemaConfigUnit } from "./unit.ts";
import { units, wish } from "./units.ts";

// One PATCH changes what of an integration's schemas is replicated and hashed (interface §4.3); its answer is the whole new state.

const specOf = (resource: Resource): SchemaConfigSpec => resource.spec as SchemaConfigSpec;

export const schemaConfig: Kind<SchemaConfigUnit, LiveSchemas> = {
  name: "SchemaConfig",

  references(resource): readonly Reference[] {
    const { integration } = specOf(resource);
    return typeof integration === "string" ? [{ kind: "Integration", name: integration, pointer: "/spec/integration", orLive: true }] : [];
  },

  lists: (resource) => (typeof specOf(resource).integration === "object" ? [] : ["integrations"]),

  units: (resources, world) => units(resources as readonly Resource<SchemaConfigSpec>[], world),

  observe: async (unit, reads) => {
    const live = await reads.schemas(unit.liveId);
    return live === undefined ? undefined : withColumns(unit.liveId, live, tablesToRead(unit.layers, live), reads);
  },

  diff(unit, live, world) {
    const { address, liveId, label } = unit;
    if (live === undefined)
      return { ...nothingFound, blocked: [{ address, code: "E_GONE", message: `The integration ${liveId} answers 404: it is gone from the account. Correct spec.integration.` }] };
    const discovering = { ...nothingFound, deferred: [{ address, waitsFor: [`Integration/${label}`], liveId, desired: wish(unit.layers) }] };
    if (Object.keys(live).length === 0) return discovering;
    const { changes, problems, missing, unmanagedColumns, exposedColumns } = evaluate(unit.layers, live);
    if (missing > 0 && world.fresh.has(liveId)) return discovering;
    const located = problems.map((problem) => ({ address, ...problem }));
    if (changes.length === 0 || problems.some(({ severity }) => severity === "error")) return { ...nothingFound, problems: located, unmanagedColumns };
    const requests = patches(liveId, changes, live);
    return {
      ...nothingFound,
      problems: located,
      unmanagedColumns,
      items: [
        {
          address,
          kind: "SchemaConfig",
          action: "update",
          liveId,
          liveName: labelOf(liveId, world),
          changes: changes.map(({ path, key, before, after, risk, cause }) => ({ path: nodePointer(path, key), before, after, risk, cause })),
          requests,
          observed: observedBy(requests, live),
          exposedColumns,
          after: [`Integration/${label}`],
        },
      ],
    };
  },

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

  document: (_item, live) => ({ schemas: (live ?? {}) as unknown as JsonObject }),

  answered: (_before, answer, decode) => decode.schemas(answer),

  unintended: unintendedChanges,
};

/** The same tree with the columns of some tables read on their own. */
async function withColumns(id: string, live: LiveSchemas, tables: readonly (readonly [schema: string, table: string])[], reads: Reads): Promise<LiveSchemas> {
  if (tables.length === 0) return live;
  const read = await Promise.all(tables.map(async ([schema, table]) => ({ schema, table, columns: await reads.columns(id, schema, table) })));
  const schemas = Object.assign(emptyRecord<LiveSchemas[string]>(), live);
  for (const { schema, table, columns } of read) {
    const known = own(schemas, schema);
    const entry = own(known?.tables, table);
    if (known === undefined || entry === undefined || columns === undefined) continue;
    const tablesAfter = Object.assign(emptyRecord<LiveTable>(), known.tables);
    tablesAfter[table] = { ...entry, columns };
    schemas[schema] = { ...known, tables: tablesAfter };
  }
  return schemas;
}
