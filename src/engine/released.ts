import { lists } from "../kinds/index.ts";
import type { ReadNeeds } from "../kinds/kind.ts";
import { kindNames } from "../kinds/manifests.ts";
import { byText, parseAddress } from "../model/address.ts";
import { ServiceError } from "../model/errors.ts";
import type { Released } from "../model/plan.ts";
import type { Reads } from "../model/service.ts";
import type { Compared } from "./compare.ts";
import type { BaseUnit, BaseView } from "./origin.ts";

interface ReleasedInput {
  readonly base: BaseView;
  readonly compared: Pick<Compared, "objects" | "parts">;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
}

/**
 * The live objects that the base manifests have and the current ones do not, an integration and its schemas as one. Reads
 * the schemas to count the columns that the base manifests covered.
 */
export async function releasedObjects({ base, compared, reads, needs }: ReleasedInput): Promise<readonly Released[]> {
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
    const { kind, unit } = one;
    const id = unit.liveId ?? "";
    const isOfIntegration = kind.schemas !== undefined || kind.name === kindNames.integration;
    const key = `${isOfIntegration ? kindNames.integration : kind.name} ${id}`;
    const known = found.get(key);
    const address = known?.address.startsWith(`${kindNames.integration}/`) === true ? known.address : unit.address;
    const columns = kind.schemas !== undefined ? await managedColumns(one, base, { reads, needs }) : 0;
    found.set(key, { address, id, name: nameOf(one, base), columns: (known?.columns ?? 0) + columns });
  }
  return [...found.values()].sort((a, b) => byText(a.address, b.address));
}

/** 0 if they cannot be read: the plan does not touch them, so it must not fail for them. */
async function managedColumns({ kind, unit }: BaseUnit, { account }: BaseView, { reads, needs }: Pick<ReleasedInput, "reads" | "needs">) {
  try {
    const live = await kind.observe?.(unit, reads, needs);
    return kind.diff(unit, live, account).size?.managedColumns ?? 0;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return 0;
  }
}

const nameOf = ({ unit: { liveId = "", address } }: BaseUnit, { account }: BaseView): string =>
  lists.map((list) => account.list(list).byId.get(liveId)?.name).find((name) => name !== undefined) ?? parseAddress(address)?.name ?? "";
