import { kindNamed } from "../kinds/index.ts";
import type { Address } from "../model/address.ts";
import type { Bindings } from "../model/binding.ts";
import { ServiceError } from "../model/errors.ts";
import type { Item } from "../model/plan.ts";
import type { Reads } from "../model/service.ts";
import type { OpenIntent } from "../records/journal.ts";

/** What reading tells of POSTs that an earlier run began and did not see the end of. */
export interface Recovered {
  /** Ids of objects that were created after all. */
  readonly ids: ReadonlyMap<Address, string>;
  /** Addresses of which reading can't tell, with the reason. */
  readonly unknown: ReadonlyMap<Address, string>;
}

/** Settles open journal entries by reading, never by sending (product §3.4). */
export async function recover(open: readonly OpenIntent[], bindings: Bindings, reads: Reads): Promise<Recovered> {
  const ids = new Map<Address, string>();
  const unknown = new Map<Address, string>();
  for (const intent of open) {
    const bound = bindings.get(intent.address)?.id;
    if (bound !== undefined && !intent.idsSeenBefore.includes(bound)) continue;
    const kind = kindNamed(intent.kind);
    const [, , , tagId] = intent.path.split("/");
    const relation = intent.path.endsWith("/relation");
    // Enough of an item for the kind to find the object by its natural key.
    const item: Item = {
      id: "",
      address: intent.address,
      kind: intent.kind,
      action: relation ? "relate" : "create",
      ...(relation && tagId !== undefined ? { liveId: decodeURIComponent(tagId) } : {}),
      requests: [],
      observed: {},
      ...(intent.naturalKey === undefined ? {} : { naturalKey: intent.naturalKey }),
      changes: [],
      dependsOn: [],
    };
    try {
      const document = kind?.document(item, await kind.reread(item, reads)) ?? {};
      if (relation && document["related"] === true) continue;
      const matches = Array.isArray(document["matches"]) ? document["matches"].filter((id) => typeof id === "string") : [];
      const fresh = matches.filter((id) => !intent.idsSeenBefore.includes(id));
      const [only] = fresh;
      if (only !== undefined && fresh.length === 1) ids.set(intent.address, only);
      else
        unknown.set(
          intent.address,
          fresh.length > 1 ? `${fresh.length} new objects match it: ${fresh.join(", ")}.` : "Reading does not show it.",
        );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      unknown.set(intent.address, `Reading failed: ${error.message}`);
    }
  }
  return { ids, unknown };
}
