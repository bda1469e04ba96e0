import { readAhead, readWhole } from "../../core/engine/reads/read-account.ts";
import { itemKindOf, kinds, lists } from "../../core/kinds/index.ts";
import { type AccountLists, accountLists } from "../../core/kinds/lookup.ts";
import { byText, toAddress } from "../../core/model/address.ts";
import { changeCount } from "../../core/model/changes.ts";
import type { Comparison } from "../../core/model/comparison.ts";
import type { Item } from "../../core/model/plan.ts";
import type { OnProgress } from "../../core/model/runtime/progress.ts";
import type { Listed, Reads } from "../../core/model/service.ts";
import { type ReadSource, withReads } from "../../core/operations/reads.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";

/** One side of a comparison; `name` is how the result refers to it. */
export interface ComparedSide {
  readonly name: string;
  readonly source: ReadSource;
}

type Differences = Pick<Comparison, "items" | "onlyFrom" | "onlyTo">;

/** Compares two accounts or snapshots kind by kind; items in which `to` protects less come first. Sends GET only. Throws DimsyncError. */
export async function compareSides(from: ComparedSide, to: ComparedSide, run: RunEnvironment): Promise<Comparison> {
  const found = await withReads(from.source, run, (a) => withReads(to.source, run, (b) => compareAccounts(a, b, run.onProgress)));
  const isSame = found.items.length + found.onlyFrom.length + found.onlyTo.length === 0;
  return {
    formatVersion: "2.0",
    kind: "Comparison",
    from: from.name,
    to: to.name,
    ...found,
    exit: isSame ? { code: 0, reasons: [] } : { code: 2, reasons: ["differences"] },
  };
}

async function compareAccounts(from: Reads, to: Reads, onProgress: OnProgress | undefined): Promise<Differences> {
  const [a, b] = await Promise.all([readLists(from), readLists(to)]);
  const found: { readonly [list in keyof Differences]: Differences[list][number][] } = { items: [], onlyFrom: [], onlyTo: [] };
  for (const kind of kinds) {
    const { compared } = kind;
    if (compared === undefined) continue;
    const pairs = pairByName(a(compared.list).byName, b(compared.list).byName);
    const both: Both[] = [];
    for (const { name, from: one, to: other } of pairs) {
      if (one !== undefined && other !== undefined) both.push({ name, from: one, to: other });
      // The objects of another kind are missing there.
      else if (compared.list === kind.list)
        (one === undefined ? found.onlyTo : found.onlyFrom).push({ address: toAddress(kind.name, name), id: (one ?? other)?.id ?? "" });
    }
    const whole = (live: Listed, reads: Reads): Promise<unknown> => compared.read?.(live, reads) ?? Promise.resolve(live);
    const readBoth = (pair: Both) => Promise.all([whole(pair.from, from), whole(pair.to, to)]);
    let done = 0;
    for await (const { item, read } of readAhead(both, readBoth, 2)) {
      const [kindName, address] = [itemKindOf(kind), toAddress(itemKindOf(kind), item.name)];
      onProgress?.({ type: "step", phase: "read", done: ++done, total: both.length, label: address });
      const changes = compared.differences({ live: read[0], list: a }, { live: read[1], list: b });
      const id = `i${found.items.length + 1}`;
      if (changes.length > 0)
        found.items.push({ id, address, kind: kindName, action: "update", liveId: item.to.id, changes, requests: [], dependsOn: [] });
    }
  }
  const isExposing = (item: Item): boolean => changeCount(item, ({ risk }) => risk === "exposes") > 0;
  return { ...found, items: found.items.sort((one, other) => Number(isExposing(other)) - Number(isExposing(one))) };
}

async function readLists(reads: Reads): Promise<AccountLists> {
  const read = lists.map(async (list) => [list.name, await readWhole(reads, { list, items: (await reads.list(list)).items })] as const);
  return accountLists(new Map(await Promise.all(read)));
}

type ByName = ReadonlyMap<string, readonly Listed[]>;

interface Pair {
  readonly name: string;
  readonly from: Listed | undefined;
  readonly to: Listed | undefined;
}

/** Of an object that both have. */
type Both = { readonly [member in keyof Pair]: NonNullable<Pair[member]> };

/** By name, because ids differ between accounts; several objects with one name in the order of their ids: "orders (2)". */
const pairByName = (from: ByName, to: ByName): readonly Pair[] =>
  [...new Set([...from.keys(), ...to.keys()])].sort(byText).flatMap((name) => {
    const [ones, others] = [from, to].map((objects) => (objects.get(name) ?? []).toSorted((a, b) => byText(a.id, b.id)));
    return Array.from({ length: Math.max(ones?.length ?? 0, others?.length ?? 0) }, (_, index): Pair => {
      return { name: index === 0 ? name : `${name} (${index + 1})`, from: ones?.[index], to: others?.[index] };
    });
  });
