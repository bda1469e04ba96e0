import type { Plan, ReadyStep, UnmanagedTable } from "../../../src/core/base/model/plan.ts";
import { change, item, plan } from "./plans.ts";

const node = (table: string, column?: string): string =>
  `/schemas/public/tables/${table}${column === undefined ? "" : `/columns/${column}`}`;

/** One rule in nine integrations: 312 columns of 87 tables; three more rules and a literal beside it. */
function fleetItems(): readonly ReadyStep[] {
  const tables = Array.from({ length: 87 }, (_, index) => ({ shard: index % 9, table: `t${Math.floor(index / 9)}` }));
  const columns = Array.from({ length: 312 }, (_, index) => {
    const { shard, table } = tables[index % 87] ?? { shard: 0, table: "" };
    return { shard, change: change({ path: `${node(table, `email_${Math.floor(index / 87)}`)}/hashed` }) };
  });
  return Array.from({ length: 9 }, (_, shard) =>
    item({
      id: `i${shard}`,
      address: `Schemas/shop-0${shard}`,
      liveId: `s${shard}`,
      liveName: `shop-0${shard}`,
      changes: [
        ...columns.filter((one) => one.shard === shard).map((one) => one.change),
        change({
          path: `${node("staging")}/enabled`,
          before: true,
          after: false,
          cause: { rule: "unmatched.tables", file: "manifests/shops.yaml", line: 6 },
        }),
        change({ path: `${node("users", "fax")}/hashed`, cause: { file: "manifests/shops.yaml", line: 40 } }),
        ...(shard < 2
          ? [
              change({
                path: `${node("orders", "contact")}/hashed`,
                before: true,
                after: false,
                risk: "exposes",
                cause: { rule: "contact-readable", reason: "DPIA-41", file: "manifests/shops.yaml", line: 12 },
              }),
            ]
          : []),
      ],
      ...(shard < 2 ? { exposedColumns: 1 } : {}),
    }),
  );
}

const unmanagedTables: readonly UnmanagedTable[] = Array.from({ length: 9 }, (_, shard) => [
  { address: `Schemas/shop-0${shard}`, schema: "public", table: "orders", columns: shard === 4 ? ["id", "ssn"] : ["id"] },
  ...(shard === 8 ? [{ address: "Schemas/shop-08", schema: "public", table: "x.y" }] : []),
]).flat();

export const fleetPlan = (kind: Plan["kind"] = "Plan"): Plan =>
  plan({ kind, items: fleetItems(), unmanaged: { integrations: [], tags: [], columns: 10, tables: unmanagedTables } });
