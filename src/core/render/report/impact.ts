import type { Impact, Plan, Reader } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import { andMore } from "../../text/lists.ts";
import { nameText } from "../../text/paths.ts";
import { code, type Entry, type Line, name, type Row, type Section } from "../blocks.ts";

/** Who reads a column, or a table. */
interface Readers {
  /** "read by 3 models and 1 exposure" */
  readonly sum: string;
  /** How certain it is, and names: "mention it", "stg_customers, dim_customer". */
  readonly readers: readonly (readonly [certainty: string, names: string])[];
  /** "1 more model reads the table.", or "1 model …" if nothing else reads the column; "" if there is none. */
  readonly more: string;
  readonly owners: readonly string[];
}

const certainties: readonly (readonly [of: Reader["certainty"], text: string])[] = [
  ["certain", "tests that can fail"],
  ["mentions", "mention it"],
  ["mayRead", "may read it"],
  ["unknown", "cannot be read, because their SQL is not in the manifest or is one macro call"],
];

const kinds = ["model", "snapshot", "test", "exposure"] as const;

/** "read by 3 models, 1 exposure"; `isLeast`: of some columns, only the first readers are known. */
function sumOf(readers: readonly Reader[], more = 0, isLeast = false): string {
  const counts = kinds.map((kind) => [readers.filter((reader) => reader.kind === kind).length, kind] as const);
  const parts = [...counts, [more, "more reader"] as const].filter(([count]) => count > 0);
  return parts.length === 0 ? "" : `read by ${isLeast ? "at least " : ""}${parts.map(([count, kind]) => counted(count, kind)).join(", ")}`;
}

const byName = (readers: readonly Reader[]): readonly Reader[] => [
  ...new Map(readers.map((reader) => [`${reader.kind} ${reader.name}`, reader])).values(),
];

const ownersOf = (readers: readonly Reader[]): readonly string[] => [
  ...new Set(readers.flatMap(({ owner = "" }) => (owner === "" ? [] : [owner]))),
];

export function readersOf({ readers, moreReaders = 0, tableReaders = 0 }: Impact): Readers {
  const ofCertainty = (wanted: Reader["certainty"]): string =>
    andMore(
      readers.flatMap(({ certainty, kind, name }) => (certainty === wanted ? [kind === "exposure" ? `exposure ${name}` : name] : [])),
      "reader",
      { shown: 10 },
    );
  return {
    sum: sumOf(readers, moreReaders),
    readers: certainties.map(([of, text]) => [text, ofCertainty(of)] as const).filter(([, names]) => names !== ""),
    more:
      tableReaders === 0
        ? ""
        : `${counted(tableReaders, readers.length === 0 ? "model" : "more model")} ${tableReaders === 1 ? "reads" : "read"} the table.`,
    owners: ownersOf(readers),
  };
}

/** Who reads what a plan changes, by dbt, if anyone does. Owners are code, so that no comment mentions them. */
export function impactSection({ impact = [] }: Pick<Plan, "impact">): Section {
  const read = impact.filter(({ readers, tableReaders = 0 }) => readers.length + tableReaders > 0);
  const columns = read.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const isOne = read.length === 1;
  const owned = (of: readonly string[]): Line => (of.length === 0 ? [] : ["Owners:", ...of.map((owner) => code(owner))]);
  const entries = read.map((one): Entry => {
    const { sum, readers, more, owners } = readersOf(one);
    const { addresses, schema, table, column } = one;
    const path = [schema, table, ...(column === undefined ? [] : [column])].map(nameText).join(".");
    return {
      sign: "!",
      tone: "warn",
      head: [[name(andMore(addresses, "integration", { shown: 1 }))], [code(path)], [sum]],
      rows: readers.map(([certainty, names]): Row => [[`${certainty}:`], [names]]),
      notes: [[more], isOne ? owned(owners) : []],
    };
  });
  const all = byName(read.flatMap(({ readers }) => readers));
  const sum = sumOf(
    all,
    0,
    read.some(({ moreReaders = 0 }) => moreReaders > 0),
  );
  return {
    id: "impact",
    title: "Who reads what changes",
    count: columns,
    part: "attention",
    isFolded: true,
    isVital: true,
    noun: "table or column",
    entries,
    notes: isOne ? [] : [[sum === "" ? "" : `All of them: ${sum}.`], owned(ownersOf(all))],
  };
}
