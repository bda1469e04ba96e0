import { type Address, byText } from "../../base/model/address.ts";
import { byHandStep } from "../../base/model/draft-steps.ts";
import type { Manifest } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import type { Reads } from "../../base/model/service.ts";
import { giveUpCommand } from "../../base/text/shell.ts";
import type { Account, Kind, ReadNeeds } from "../../kinds/index.ts";
import { emptyDiff, integrationMatcher, integrations, kindNamed, schemasAddress, selectIntegrations } from "../../kinds/index.ts";
import { withoutIgnored } from "../overlay.ts";
import type { Check, CheckInput } from "./check.ts";

// A selector by live name covers what has such a name. A rename in the account takes an integration out of it, and nothing in the manifests
// shows that. So the records keep what each selector covered, by id.

/** An integration that a selector covered and that has another name now. */
interface Left {
  readonly kind: Kind;
  readonly manifest: Manifest;
  readonly id: string;
  readonly before: string;
  readonly now: string;
}

/** What selectors by live name cover, and what has left them. Reads the schemas of the latter. */
export const checkCoverage = ({ run: { reads, kind: kindOfPlan }, account }: CheckInput): Check => ({
  async end({ needs }) {
    const covered = new Map<Address, Map<string, string>>();
    const left: Left[] = [];
    const { byId } = account.list(integrations);
    for (const manifest of account.manifests) {
      const kind = kindNamed(manifest.kind);
      const selectors = (kind?.selection?.selectors(manifest) ?? []).filter(({ names }) => names !== undefined);
      if (kind === undefined || selectors.length === 0) continue;
      const ids = getOrAdd(covered, manifest.address, () => new Map<string, string>());
      for (const selector of selectors)
        for (const one of selectIntegrations(selector, account)) {
          const live = one.state === "found" ? byId.get(one.id) : undefined;
          if (live !== undefined) ids.set(live.id, live.name);
        }
      const labels = (id: string) => account.naming.manifests.get(id)?.labels ?? {};
      for (const [id, before] of account.covered.get(manifest.address) ?? []) {
        const now = byId.get(id)?.name;
        const wasSelected = selectors.some((selector) => integrationMatcher(selector)({ names: [before], labels: labels(id) }));
        if (now === undefined || now === before || ids.has(id) || !wasSelected || kind.selection?.covers(manifest, id, account) === true)
          continue;
        ids.set(id, before);
        left.push({ kind, manifest, id, before, now });
      }
    }
    const steps = await Promise.all(left.map((one) => stepFor(one, left, { account, reads, needs })));
    const entries = [...covered].sort(([a], [b]) => byText(a, b));
    const ids = Object.fromEntries(entries.map(([address, ids]) => [address, sortedRecord(ids)]));
    return {
      differences: [withoutIgnored({ ...emptyDiff, steps }, account)],
      left: new Set(left.map(({ id }) => id)),
      ...(covered.size === 0 || kindOfPlan !== "Plan" ? {} : { covered: ids }),
    };
  },
});

const sortedRecord = (ids: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries([...ids].sort(([a], [b]) => byText(a, b)));

interface LostInput {
  readonly account: Account;
  readonly reads: Reads;
  readonly needs: ReadNeeds;
}

async function stepFor(one: Left, all: readonly Left[], input: LostInput): Promise<DraftStep> {
  const { kind, manifest, id, before, now } = one;
  const { account } = input;
  const isTaken = account.list(integrations).byName.has(before) || all.some((other) => other.before === before && other.id !== id);
  const lost = (await kind.selection?.lost(manifest, id, input)) ?? "";
  const address = kind.schemas === undefined ? `${manifest.address}#${id}` : schemasAddress(isTaken ? id : before);
  return byHandStep({
    address,
    path: "/name",
    manifests: [manifest.address],
    expected: before,
    actual: now,
    instruction: `Integration ${before} (${id}) was renamed ${now} and left ${manifest.address}: ${lost}. To keep it as it was, add ${JSON.stringify(now)} to the names of the selector. If that is no longer needed, give it up:`,
    command: giveUpCommand(address),
    // The records show it, also without a base.
    origin: "drift",
    obligation: true,
    liveId: id,
  });
}
