import type { ReadersOf } from "../../classification/lineage.ts";
import { labelScopes } from "../../kinds/select.ts";
import { byText } from "../../model/address.ts";
import { isOfNodes } from "../../model/changes.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { eachNode, type NodePath } from "../../model/nodes.ts";
import type { DraftItem, Impact } from "../../model/plan.ts";
import type { ObservedAccount } from "../observe.ts";
import type { CheckedUnit } from "./policies.ts";

/** Collects who reads what the items of a run change. */
export interface ImpactCheck {
  readonly checkUnit: (unit: CheckedUnit) => void;
  /** Sorted by address; in an item, in the order of its changes. */
  readonly impact: () => readonly Impact[];
}

/** Undefined if no Classification names a dbt manifest. dbt names columns as they are in the destination. */
export function checkImpact(readersOf: ReadersOf | undefined, { account }: ObservedAccount): ImpactCheck | undefined {
  if (readersOf === undefined) return undefined;
  const scopes = labelScopes(account);
  const found: Impact[] = [];
  return {
    checkUnit({ kind, unit, live, difference }) {
      if (kind.schemas === undefined || unit.liveId === undefined || live === undefined) return;
      const destinationSchema = scopes?.(unit.liveId).destinationSchema;
      const tree = kind.schemas.tree(live);
      for (const item of difference.items) found.push(...impactOf(item, { tree, destinationSchema, readersOf }));
    },
    impact: () => [...found].sort((a, b) => byText(a.address, b.address)),
  };
}

interface Destination {
  readonly tree: LiveSchemas;
  /** For schemas for which the service returns none. */
  readonly destinationSchema: string | undefined;
  readonly readersOf: ReadersOf;
}

const affecting: ReadonlySet<string> = new Set(["hashed", "enabled"]);

/** Each column once, although it may be both hashed and switched off. */
function impactOf({ address, changes }: DraftItem, { tree, destinationSchema, readersOf }: Destination): readonly Impact[] {
  const impact = new Map<string, Impact>();
  for (const entry of changes) {
    if (!isOfNodes(entry) || !affecting.has(entry.field)) continue;
    for (const [schema, table, column] of [...eachNode(entry.nodes)].flatMap((path) => tablesOf(path, tree))) {
      const liveSchema = own(tree, schema);
      const liveTable = own(liveSchema?.tables, table);
      const inDestination = column === undefined ? undefined : (own(liveTable?.columns, column)?.nameInDestination ?? column);
      const schemaThere = liveSchema?.nameInDestination ?? destinationSchema ?? schema;
      const readers = readersOf(schemaThere, liveTable?.nameInDestination ?? table, inDestination);
      const place = { address, schema, table, ...(column === undefined ? {} : { column }) };
      if (readers !== undefined) impact.set(JSON.stringify(place), { ...place, ...readers });
    }
  }
  return [...impact.values()];
}

/** A schema stands for its tables. */
const tablesOf = ([schema, table, column]: NodePath, tree: LiveSchemas): readonly (readonly [string, string, string?])[] =>
  table === undefined
    ? Object.keys(own(tree, schema)?.tables ?? {}).map((name) => [schema, name] as const)
    : [column === undefined ? [schema, table] : [schema, table, column]];
