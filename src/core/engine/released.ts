import { lists } from "../kinds/index.ts";
import type { AccountView, KindUnit, ReadNeeds, Unit } from "../kinds/kind.ts";
import { kindNames } from "../kinds/manifests.ts";
import { byText, parseAddress } from "../model/address.ts";
import { readOr } from "../model/errors.ts";
import type { Released } from "../model/plan.ts";
import { type Steps, withPauses } from "../model/runtime/event-loop.ts";
import type { Reads } from "../model/service.ts";
import type { Compared } from "./compare.ts";
import { type BaseView, unitsByObject } from "./origin.ts";

interface ReleasedInput {
  readonly account: AccountView;
  readonly base: BaseView;
  readonly compared: Pick<Compared, "objects" | "parts">;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
  /** Called with the live object of each, which is read for its columns, and what the current manifests have of it. */
  readonly onLive: ((base: KindUnit, now: Unit | undefined, live: unknown) => Steps<void>) | undefined;
}

/**
 * The live objects that the base manifests have and the current ones do not, an integration and its schemas as one. Reads
 * the schemas to count the columns that only the base manifests covered.
 */
export async function releasedObjects({ account, base, compared, reads, needs, onLive }: ReleasedInput): Promise<readonly Released[]> {
  const parts = new Set(compared.parts);
  const released = [...base.unitByObject].flatMap(([object, one]) =>
    one.unit.liveId === undefined ||
    base.account.goneIds.has(one.unit.liveId) ||
    compared.objects.has(object) ||
    parts.has(one.unit.address)
      ? []
      : [one],
  );
  const found = new Map<string, Released>();
  for (const one of released) {
    const { liveId: id = "", address } = one.unit;
    const key = keyOf(one);
    // Its schemas come after the integration.
    if (!found.has(key)) found.set(key, { address, id, name: nameOf(one, base), columns: 0 });
  }
  // A SchemaConfig for many integrations can still cover some of the columns.
  const current = found.size === 0 ? undefined : unitsByObject(account);
  for (const [object, one] of base.unitByObject) {
    const known = found.get(keyOf(one));
    if (known === undefined || one.kind.schemas === undefined) continue;
    const now = current?.get(object)?.unit;
    // 0 if they cannot be read: the plan must not fail for them.
    const columns = await readOr(
      async () => {
        const live = await one.kind.observe?.(one.unit, reads, needs);
        if (onLive !== undefined) await withPauses(onLive(one, now, live));
        const before = await managedColumns(one, live, base.account);
        const still = now === undefined ? 0 : await managedColumns({ ...one, unit: now }, live, account);
        return Math.max(0, before - still);
      },
      () => 0,
    );
    found.set(keyOf(one), { ...known, columns });
  }
  return [...found.values()].sort((a, b) => byText(a.address, b.address));
}

/** The same for an integration and its schemas. */
const keyOf = ({ kind, unit: { liveId = "" } }: KindUnit): string =>
  `${kind.schemas !== undefined || kind.name === kindNames.integration ? kindNames.integration : kind.name} ${liveId}`;

const managedColumns = async ({ kind, unit }: KindUnit, live: unknown, view: AccountView): Promise<number> =>
  (await withPauses(kind.diff(unit, live, view))).size?.managedColumns ?? 0;

const nameOf = ({ unit: { liveId = "", address } }: KindUnit, { account }: BaseView): string =>
  lists.map((list) => account.list(list).byId.get(liveId)?.name).find((name) => name !== undefined) ?? parseAddress(address)?.name ?? "";
