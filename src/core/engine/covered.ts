import { kindNamed } from "../kinds/index.ts";
import type { AccountView, Kind, ReadNeeds } from "../kinds/kind.ts";
import { integrations } from "../kinds/lists.ts";
import { schemasAddress } from "../kinds/manifests.ts";
import { integrationMatcher, selectIntegrations } from "../kinds/select.ts";
import { type Address, byText } from "../model/address.ts";
import { getOrAdd } from "../model/maps.ts";
import type { Manual, Plan } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import type { Reads } from "../model/service.ts";
import { shellWord } from "../text/shell.ts";

// A selector by live name covers what has such a name. A rename in the account takes an integration out of it, and nothing in the manifests
// shows that. So the records keep what each selector covered, by id.

/** An integration that a selector covered and that has another name now. */
interface Left {
  readonly kind: Kind;
  readonly resource: Resource;
  readonly id: string;
  readonly before: string;
  readonly now: string;
}

export interface Coverage {
  /** For the records: what each selector covers, and what has left it by a rename. Absent if no manifest has such a selector. */
  readonly covered?: NonNullable<Plan["covered"]>;
  readonly manual: readonly Omit<Manual, "id">[];
}

interface CoverageInput {
  readonly account: AccountView;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
}

/** What selectors by live name cover, and what has left them. Reads the schemas of the latter. */
export async function checkCoverage(input: CoverageInput): Promise<Coverage> {
  const { account } = input;
  const covered = new Map<Address, Map<string, string>>();
  const left: Left[] = [];
  const { byId } = account.list(integrations);
  for (const resource of account.resources) {
    const kind = kindNamed(resource.kind);
    const selectors = (kind?.selection?.selectors(resource) ?? []).filter(({ names }) => names !== undefined);
    if (kind === undefined || selectors.length === 0) continue;
    const ids = getOrAdd(covered, resource.address, () => new Map<string, string>());
    for (const selector of selectors)
      for (const one of selectIntegrations(selector, account)) {
        const live = one.state === "found" ? byId.get(one.id) : undefined;
        if (live !== undefined) ids.set(live.id, live.name);
      }
    const labels = (id: string) => account.naming.manifests.get(id)?.labels ?? {};
    for (const [id, before] of account.covered.get(resource.address) ?? []) {
      const now = byId.get(id)?.name;
      const wasSelected = selectors.some((selector) => integrationMatcher(selector)({ names: [before], labels: labels(id) }));
      if (now === undefined || now === before || ids.has(id) || !wasSelected || kind.selection?.covers(resource, id, account) === true)
        continue;
      ids.set(id, before);
      left.push({ kind, resource, id, before, now });
    }
  }
  const manual = await Promise.all(left.map((one) => stepFor(one, left, input)));
  if (covered.size === 0) return { manual };
  const entries = [...covered].sort(([a], [b]) => byText(a, b));
  return { manual, covered: Object.fromEntries(entries.map(([address, ids]) => [address, sortedRecord(ids)])) };
}

const sortedRecord = (ids: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries([...ids].sort(([a], [b]) => byText(a, b)));

async function stepFor(one: Left, all: readonly Left[], input: CoverageInput): Promise<Omit<Manual, "id">> {
  const { kind, resource, id, before, now } = one;
  const { account } = input;
  const isTaken = account.list(integrations).byName.has(before) || all.some((other) => other.before === before && other.id !== id);
  const schemas = schemasAddress(isTaken ? id : before);
  const lost = (await kind.selection?.lost(resource, id, input)) ?? "";
  return {
    address: kind.schemas === undefined ? `${resource.address}#${id}` : schemas,
    path: "/name",
    manifests: [resource.address],
    expected: before,
    actual: now,
    instruction: `Integration ${before} (${id}) was renamed ${now} and left ${resource.address}: ${lost}. To keep it as it was, add ${JSON.stringify(now)} to the names of the selector. If that is no longer needed, give it up:`,
    command: `dimsync unbind ${shellWord(schemas)}`,
    // The records show it, also without a base.
    origin: "drift",
  };
}
