import { type Address, byText } from "../../base/model/address.ts";
import { readOr } from "../../base/model/errors.ts";
import type { Account, Pair, Unit } from "../../kinds/index.ts";
import { kindNames, lists } from "../../kinds/index.ts";
import type { CheckInput, Comparison } from "../checks/check.ts";
import { pairsByObject, type Reviewed } from "../origin.ts";

/** A live object that lost its manifest, or a resource that a tag no longer lists. Nothing is sent, and the account keeps it. */
export interface Released {
  /** Address at the base. Integration/NAME also stands for its schemas, and Tag/NAME#ID for the relation to a resource. */
  readonly address: Address;
  /** Live name of a resource that a tag does not list any more. */
  readonly name?: string;
  /** Number of columns that the base manifests covered. */
  readonly columns: number;
}

interface ReleasedInput extends Pick<CheckInput, "run" | "account"> {
  readonly reviewed: Reviewed;
  readonly comparison: Comparison;
  /** Called with the live object of each, which is read for its columns, and what the current manifests have of it. */
  readonly onLive: ((before: Pair, now: Unit | undefined, live: unknown) => void) | undefined;
}

/**
 * The live objects that the base manifests have and the current ones do not, an integration and its schemas as one. Reads
 * the schemas to count the columns that only the base manifests covered.
 */
export async function releasedObjects({ run, account, reviewed: base, comparison, onLive }: ReleasedInput): Promise<readonly Released[]> {
  const { objects, needs } = comparison;
  const parts = new Set(comparison.parts);
  const released = [...base.pairs].flatMap(([object, one]) =>
    one.unit.liveId === undefined || base.account.goneIds.has(one.unit.liveId) || objects.has(object) || parts.has(one.unit.address)
      ? []
      : [one],
  );
  const found = new Map<string, Released>();
  for (const one of released) {
    const { address } = one.unit;
    const key = keyOf(one);
    // Its schemas come after the integration.
    if (!found.has(key)) found.set(key, { address, columns: 0 });
  }
  // A SchemaConfig for many integrations can still cover some of the columns.
  const current = found.size === 0 ? undefined : pairsByObject(account);
  for (const [object, one] of base.pairs) {
    const known = found.get(keyOf(one));
    if (known === undefined || one.kind.schemas === undefined) continue;
    const now = current?.get(object)?.unit;
    // 0 if they cannot be read: the plan must not fail for them.
    const columns = await readOr(
      async () => {
        const live = await one.kind.observe?.(one.unit, run.reads, needs);
        if (onLive !== undefined) onLive(one, now, live);
        const before = await managedColumns(one, live, base.account);
        const still = now === undefined ? 0 : await managedColumns({ ...one, unit: now }, live, account);
        return Math.max(0, before - still);
      },
      () => 0,
    );
    found.set(keyOf(one), { ...known, columns });
  }
  return [...found.values(), ...releasedRelations(base, account)].sort((a, b) => byText(a.address, b.address));
}

/** The relations that the base manifests declare and the current ones do not. Those of an object that is released itself are not listed. */
function releasedRelations(base: Reviewed, account: Account): readonly Released[] {
  const all = [...base.pairs].filter(([, { kind }]) => kind.related !== undefined);
  const current = pairsByObject(account, [...new Set(all.map(([, { kind }]) => kind))]);
  return all.flatMap(([object, { kind, unit: before }]) => {
    const now = current.get(object)?.unit;
    const still = now && kind.related?.(now.manifest, account);
    if (still === undefined) return [];
    return [...(kind.related?.(before.manifest, base.account) ?? [])]
      .filter((id) => !still.has(id))
      .map((id) => ({ address: `${before.address}#${id}`, name: nameOfLive(id, base.account) ?? id, columns: 0 }));
  });
}

/** The same for an integration and its schemas. */
const keyOf = ({ kind, unit: { liveId = "" } }: Pair): string =>
  `${kind.schemas !== undefined || kind.name === kindNames.integration ? kindNames.integration : kind.name} ${liveId}`;

const managedColumns = async ({ kind, unit }: Pair, live: unknown, view: Account): Promise<number> =>
  kind.diff(unit, live, view).size?.managedColumns ?? 0;

const nameOfLive = (id: string, account: Account): string | undefined =>
  lists.map((list) => account.list(list).byId.get(id)?.name).find((name) => name !== undefined);
