import { byText } from "../../base/model/address.ts";
import { type Plan, type UnmanagedTable, unmanagedObjects } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted, countList } from "../../base/text/counts.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore, grouped } from "../../base/text/lists.ts";
import { nameText } from "../../base/text/paths.ts";
import { kinds } from "../../kinds/index.ts";
import { code, type Entry, id, muted, name, type Row, type Section } from "../blocks.ts";
import { integrationOf } from "./changes.ts";

/** The numbers of live objects and columns that no manifest covers, the same in every output. */
export const unmanagedCounts = (unmanaged: Plan["unmanaged"]): { readonly objects: number; readonly columns: number } => ({
  objects: [...unmanagedObjects(unmanaged).values()].flat().length,
  columns: unmanaged.columns,
});

/** The kind of the objects of a list. */
const kindOfList = (list: string): string => kinds.find((kind) => kind.list?.name === list)?.name ?? list;

/** Live objects and columns that no manifest covers, counted. A report lists the objects, too; -v the objects and the columns. */
export function unmanagedSection({ kind, unmanaged }: Pick<Plan, "kind" | "unmanaged">): Section {
  const { columns, tables } = unmanaged;
  const lists = Array.from(unmanagedObjects(unmanaged), ([list, objects]) => ({ of: kindOfList(list), objects }));
  const part = (count: number, one: string) => [count, counted(count, one).split(" ")[1] ?? one] as const;
  const counts = countList([...lists.map(({ of, objects }) => part(objects.length, of.toLowerCase())), part(columns, "column")]);
  const isDetail = kind !== "DriftReport";
  return {
    id: "unmanaged",
    title: `Not managed by any manifest: ${counts === "" ? "columns of tables that were not read" : counts}`,
    count: 0,
    part: "rest",
    isFolded: true,
    isSentence: counts !== "",
    ...(columns > 0 && tables === undefined ? { aside: "-v names them" } : {}),
    entries: [
      ...lists.flatMap(({ of, objects }) =>
        objects.map((one): Entry => ({ head: [[of], [name(nameText(one.name))], [id(one.id)]], isDetail })),
      ),
      ...tableRows(tables ?? []).map((head): Entry => ({ head })),
    ],
  };
}

/** Objects of manifests that only other targets have: one sentence. */
export function elsewhereSection({ target, elsewhere = {} }: Pick<Plan, "target" | "elsewhere">): Section {
  const counts = Object.entries(elsewhere).map(([kind, count]) => counted(count, kind.toLowerCase()));
  const verb = Object.values(elsewhere).reduce((sum, count) => sum + count, 0) === 1 ? "is" : "are";
  return {
    id: "elsewhere",
    title: `${enumerate(counts, "and")} of the manifests ${verb} not in ${visible(target)} (metadata.targets)`,
    count: 0,
    part: "rest",
    isFolded: true,
    isSentence: counts.length > 0,
    entries: [],
  };
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
