import { byText } from "../../base/model/address.ts";
import { type Plan, type UnmanagedTable, unmanagedObjects } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted, countList } from "../../base/text/counts.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore, grouped } from "../../base/text/lists.ts";
import { nameText } from "../../base/text/paths.ts";
import { kinds } from "../../kinds/index.ts";
import { code, type Entry, id, muted, name, type Row, type Section } from "../blocks.ts";
import { integrationOf } from "./change-rows.ts";

/** The numbers of live objects and columns that no manifest covers, the same in every output. */
export const unmanagedCounts = (unmanaged: Plan["unmanaged"]): { readonly objects: number; readonly columns: number } => ({
  objects: [...unmanagedObjects(unmanaged).values()].flat().length,
  columns: unmanaged.columns,
});

/** The kind of the objects of a list. */
const kindOfList = (list: string): string => kinds.find((kind) => kind.list?.name === list)?.name ?? list;

const listsOf = (unmanaged: Plan["unmanaged"]) =>
  Array.from(unmanagedObjects(unmanaged), ([list, objects]) => ({ of: kindOfList(list), objects }));

/** Live objects and columns that no manifest covers, counted. */
export function unmanagedHead({ unmanaged }: Pick<Plan, "unmanaged">): Pick<Section, "title" | "isSentence" | "aside"> {
  const { columns, tables } = unmanaged;
  const part = (count: number, one: string) => [count, counted(count, one).split(" ")[1] ?? one] as const;
  const objects = listsOf(unmanaged).map(({ of, objects: all }) => part(all.length, of.toLowerCase()));
  const counts = countList([...objects, part(columns, "column")]);
  return {
    title: `Not managed by any manifest: ${counts === "" ? "columns of tables that were not read" : counts}`,
    isSentence: counts !== "",
    ...(columns > 0 && tables === undefined ? { aside: "-v names them" } : {}),
  };
}

/** A report lists the objects; -v the objects and the columns. */
export const unmanagedEntries = ({ kind, unmanaged }: Pick<Plan, "kind" | "unmanaged">): readonly Entry[] => [
  ...listsOf(unmanaged).flatMap(({ of, objects }) =>
    objects.map((one): Entry => ({ head: [[of], [name(nameText(one.name))], [id(one.id)]], isDetail: kind !== "DriftReport" })),
  ),
  ...tableRows(unmanaged.tables ?? []).map((head): Entry => ({ head })),
];

/** Objects of manifests that only other targets have: one sentence. */
export function elsewhereHead({ target, elsewhere = {} }: Pick<Plan, "target" | "elsewhere">): Pick<Section, "title" | "isSentence"> {
  const counts = Object.entries(elsewhere).map(([kind, count]) => counted(count, kind.toLowerCase()));
  const verb = Object.values(elsewhere).reduce((sum, count) => sum + count, 0) === 1 ? "is" : "are";
  const title = `${enumerate(counts, "and")} of the manifests ${verb} not in ${visible(target)} (metadata.targets)`;
  return { title, isSentence: counts.length > 0 };
}

/** Tables with the same name that lack rules for the same columns are one row, so that the exception in a fleet is visible. */
const tableRows = (all: readonly UnmanagedTable[]): readonly Row[] =>
  grouped(all, ({ schema, table, columns }) => JSON.stringify([schema, table, columns]))
    .map((group) => {
      const [{ schema, table, columns }] = group;
      return {
        table: `${nameText(schema)}.${nameText(table)}`,
        columns: columns === undefined ? "(columns not read)" : columns.map(nameText).join(", "),
        integrations: integrationsText(group.map(({ address }) => integrationOf(address))),
      };
    })
    .sort((a, b) => byText(a.table, b.table) || byText(a.columns, b.columns))
    .map(({ table, columns, integrations }) => [[code(table)], [code(columns)], [muted(integrations)]]);

/** "shop-01", or "9 integrations: shop-01, shop-02, shop-03 and 6 more integrations". */
export function integrationsText(names: readonly string[], most = 3): string {
  return names.length === 1 ? names.join() : `${counted(names.length, "integration")}: ${andMore(names, "integration", { shown: most })}`;
}
