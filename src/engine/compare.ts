import { kinds } from "../kinds/index.ts";
import { type Found, type Kind, nothingFound, type Unit } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import { ServiceError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import type { OnProgress } from "../model/progress.ts";
import type { Resource } from "../model/resource.ts";
import type { RunReads } from "./reads.ts";
import type { Scope } from "./scope.ts";
import { failedRead, type Observed } from "./world.ts";

/** Every difference of the compared units, in the order of kinds and addresses. */
export interface Compared {
  readonly found: readonly Found[];
  /** Units that were compared and equal what is declared. */
  readonly equal: readonly Address[];
  /** The live objects that were compared, one per unit. */
  readonly liveIds: readonly string[];
  readonly complete: boolean;
}

/**
 * Reads and compares unit by unit. A unit's live state lives only as long as its comparison, so memory follows the largest unit and the number
 * of differences, not the size of the account; how many are read at a time is the client's affair.
 */
export async function compareUnits(
  observed: Observed,
  compared: readonly Resource[],
  scope: Scope,
  reads: RunReads,
  onProgress: OnProgress | undefined,
): Promise<Compared> {
  const { world } = observed;
  const found: Promise<Found>[] = [];
  const equal: Address[] = [];
  let complete = true;
  let done = 0;
  let total = 0;

  const compare = async (kind: Kind, unit: Unit): Promise<Found> => {
    try {
      const live = unit.liveId === undefined ? undefined : await kind.observe?.(unit, reads);
      const difference = kind.diff(unit, live, world);
      if (isEqual(difference)) equal.push(unit.address);
      return difference;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      complete = false;
      return {
        ...nothingFound,
        problems: [failedRead(error, unit.address)],
        blocked: [{ address: unit.address, code: "E_READ_FAILED", message: error.message }],
      };
    } finally {
      done++;
      onProgress?.({ type: "step", phase: "read", done, total, label: unit.address });
    }
  };

  const work: { readonly kind: Kind; readonly unit: Unit }[] = [];
  for (const kind of kinds) {
    const ofKind = compared.filter((resource) => resource.kind === kind.name);
    if (ofKind.length === 0) continue;
    const readable = ofKind.filter(
      (resource) => !kind.lists(resource, { taggedBy: world.taggedBy }).some((name) => observed.unreadLists.has(name)),
    );
    const { units, blocked, deferred, problems } = kind.units(readable, world);
    found.push(
      Promise.resolve({
        ...nothingFound,
        problems,
        deferred,
        blocked: [
          ...blocked,
          ...ofKind
            .filter((resource) => !readable.includes(resource))
            .map(({ address }) => ({ address, code: "E_READ_FAILED", message: "A list that it needs could not be read." })),
        ],
      }),
    );
    for (const unit of units) if (scope.unit(unit.address)) work.push({ kind, unit });
  }
  total = work.length;
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  for (const { kind, unit } of work) found.push(compare(kind, unit));
  const liveIds = work.flatMap(({ unit }) => unit.liveId ?? []);
  return { found: await Promise.all(found), equal, liveIds, complete };
}

const isEqual = (found: Found): boolean =>
  found.items.length + found.manual.length + found.blocked.length + found.deferred.length === 0 &&
  !found.problems.some((problem: Problem) => problem.severity === "error");
