import { readAhead, readWhole } from "../../engine/reads/read-account.ts";
import { itemKindOf, kinds, lists } from "../../kinds/index.ts";
import { type AccountLists, accountLists } from "../../kinds/lookup.ts";
import { byText, toAddress } from "../../model/address.ts";
import { changeCount } from "../../model/changes.ts";
import type { Comparison, LoneObject } from "../../model/comparison.ts";
import type { Item } from "../../model/plan.ts";
import type { OnProgress } from "../../model/runtime/progress.ts";
import type { Listed, Reads } from "../../model/service.ts";
import { type ReadSource, withReads } from "../reads.ts";
import type { RunEnvironment } from "../session.ts";

/** One side of a comparison; `name` is how the result refers to it. */
export interface ComparedSide {
  readonly name: string;
  readonly source: ReadSource;
}

/** Compares two accounts or snapshots. Sends GET only. Throws DimsyncError. */
export async function compareSides(from: ComparedSide, to: ComparedSide, run: RunEnvironment): Promise<Comparison> {
  const { items, onlyFrom, onlyTo } = await withReads(from.source, run, (a) =>
    withReads(to.source, run, (b) => compareAccounts(a, b, run.onProgress)),
  );
  const isSame = items.length + onlyFrom.length + onlyTo.length === 0;
  return {
    formatVersion: "2.0",
    kind: "Comparison",
    from: from.name,
    to: to.name,
    items,
    onlyFrom,
    onlyTo,
    exit: isSame ? { code: 0, reasons: [] } : { code: 2, reasons: ["differences"] },
  };
}

/** Kind by kind; items in which `to` protects less come first. Throws ServiceError. */
async function compareAccounts(
  from: Reads,
  to: Reads,
  onProgress: OnProgress | undefined,
): Promise<Pick<Comparison, "items" | "onlyFrom" | "onlyTo">> {
  const [a, b] = await Promise.all([readLists(from), readLists(to)]);
  const items: Item[] = [];
  const onlyFrom: LoneObject[] = [];
  const onlyTo: LoneObject[] = [];
  for (const kind of kinds) {
    const { compared } = kind;
    if (compared === undefined) continue;
    const pairs = pairByName(a(compared.list).byName, b(compared.list).byName);
    // The objects of another kind are missing there.
    if (compared.list === kind.list) {
      const lone = ({ name, from: one, to: other }: Pair): LoneObject => ({
        address: toAddress(kind.name, name),
        id: (one ?? other)?.id ?? "",
      });
      onlyFrom.push(...pairs.filter((pair) => pair.to === undefined).map(lone));
      onlyTo.push(...pairs.filter((pair) => pair.from === undefined).map(lone));
    }
    const both = pairs.flatMap((pair) =>
      pair.from === undefined || pair.to === undefined ? [] : [{ ...pair, from: pair.from, to: pair.to }],
    );
    const whole = (live: Listed, reads: Reads): Promise<unknown> => compared.read?.(live, reads) ?? Promise.resolve(live);
    const readBoth = (pair: (typeof both)[number]) => Promise.all([whole(pair.from, from), whole(pair.to, to)]);
    let done = 0;
    for await (const { item, read } of readAhead(both, readBoth, 2)) {
      const { name, to: object } = item;
      onProgress?.({ type: "step", phase: "read", done: ++done, total: both.length, label: toAddress(itemKindOf(kind), name) });
      const changes = compared.differences({ live: read[0], list: a }, { live: read[1], list: b });
      const [address, id] = [toAddress(itemKindOf(kind), name), `i${items.length + 1}`];
      if (changes.length > 0)
        items.push({ id, address, kind: itemKindOf(kind), action: "update", liveId: object.id, changes, requests: [], dependsOn: [] });
    }
  }
  const isExposing = (item: Item): boolean => changeCount(item, ({ risk }) => risk === "exposes") > 0;
  return { items: items.sort((one, other) => Number(isExposing(other)) - Number(isExposing(one))), onlyFrom, onlyTo };
}

async function readLists(reads: Reads): Promise<AccountLists> {
  const read = lists.map(async (list) => [list.name, await readWhole(reads, list, (await reads.list(list)).items)] as const);
  return accountLists(new Map(await Promise.all(read)));
}

type ByName = ReadonlyMap<string, readonly Listed[]>;

interface Pair {
  readonly name: string;
  readonly from: Listed | undefined;
  readonly to: Listed | undefined;
}

/** By name, because ids differ between accounts; several objects with one name in the order of their ids: "orders (2)". */
const pairByName = (from: ByName, to: ByName): readonly Pair[] =>
  [...new Set([...from.keys(), ...to.keys()])].sort(byText).flatMap((name) => {
    const [ones, others] = [from, to].map((objects) => (objects.get(name) ?? []).toSorted((a, b) => byText(a.id, b.id)));
    return Array.from({ length: Math.max(ones?.length ?? 0, others?.length ?? 0) }, (_, index): Pair => {
      return { name: index === 0 ? name : `${name} (${index + 1})`, from: ones?.[index], to: others?.[index] };
    });
  });
