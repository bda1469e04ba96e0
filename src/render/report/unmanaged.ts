import { kinds } from "../../kinds/index.ts";
import { byText } from "../../model/address.ts";
import { type Plan, type UnmanagedTable, unmanagedObjects } from "../../model/plan.ts";
import { counted, countList } from "../../text/counts.ts";
import { andMore, grouped } from "../../text/lists.ts";
import { nameText } from "../../text/paths.ts";
import { integrationOf } from "./changes/rules.ts";

/** Live objects and columns that no manifest covers. */
export interface Unmanaged {
  readonly columns: number;
  /** "2 integrations, 1 tag, 612 columns"; "" if there is nothing. */
  readonly counts: string;
  /** Raw. */
  readonly objects: readonly { readonly kind: string; readonly name: string; readonly id: string }[];
  readonly tables: readonly UnmanagedTables[];
  /** Whether `--list-unmanaged` would list more. */
  readonly canListColumns: boolean;
}

/**
 * Tables with the same name that lack rules for the same columns, so that the exception in a fleet
 * is visible.
 */
export interface UnmanagedTables {
  /** "public.orders" */
  readonly table: string;
  /** "id, note" */
  readonly columns: string;
  readonly integrations: readonly string[];
}

/** The numbers of live objects and columns that no manifest covers, the same in every output. */
export const unmanagedCounts = (unmanaged: Plan["unmanaged"]): { readonly objects: number; readonly columns: number } => ({
  objects: [...unmanagedObjects(unmanaged).values()].flat().length,
  columns: unmanaged.columns,
});

/** The kind of the objects of a list. */
export const kindOfList = (list: string): string => kinds.find((kind) => kind.list?.name === list)?.name ?? list;

export function unmanagedOf(unmanaged: Plan["unmanaged"]): Unmanaged {
  const { columns, tables } = unmanaged;
  const lists = Array.from(unmanagedObjects(unmanaged), ([list, objects]) => ({ kind: kindOfList(list), objects }));
  const part = (count: number, one: string) => [count, counted(count, one).split(" ")[1] ?? one] as const;
  return {
    columns,
    counts: countList([...lists.map(({ kind, objects }) => part(objects.length, kind.toLowerCase())), part(columns, "column")]),
    objects: lists.flatMap(({ kind, objects }) => objects.map((object) => ({ kind, ...object }))),
    tables: unmanagedTables(tables ?? []),
    canListColumns: columns > 0 && tables === undefined,
  };
}

function unmanagedTables(tables: readonly UnmanagedTable[]): readonly UnmanagedTables[] {
  return grouped(tables, ({ schema, table, columns }) => JSON.stringify([schema, table, columns]))
    .map((group): UnmanagedTables => {
      const [{ schema, table, columns }] = group;
      return {
        table: `${nameText(schema)}.${nameText(table)}`,
        columns: columns === undefined ? "(columns not read)" : columns.map(nameText).join(", "),
        integrations: group.map(({ address }) => integrationOf(address)),
      };
    })
    .sort((a, b) => byText(a.table, b.table) || byText(a.columns, b.columns));
}

/** "shop-01", or "9 integrations: shop-01, shop-02, shop-03 and 6 more". */
export function integrationsText(names: readonly string[], most = 3): string {
  return names.length === 1 ? andMore(names) : `${counted(names.length, "integration")}: ${andMore(names, { shown: most })}`;
}
