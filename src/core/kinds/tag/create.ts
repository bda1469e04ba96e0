import { defined, type JsonObject } from "../../model/json/json.ts";
import { locationIn } from "../../model/manifest.ts";
import type { Deferred, DraftItem } from "../../model/plan.ts";
import { fold } from "../../text/suggest.ts";
import { type Account, type DiffResult, emptyDiff } from "../kind.ts";
import { createChanges } from "../leaves.ts";
import { users } from "../lists.ts";
import { plainEmailWarning, unclearUserProblem, userIdOf } from "../users.ts";
import type { TagUnit } from "./fields.ts";
import { relations } from "./relations.ts";

/** The POST of a tag, after which its relations can be sent. It takes the owner as the id of a user. */
export function createdTag(unit: TagUnit, account: Account): DiffResult {
  const { manifest, address } = unit;
  const { name, description, owner: ref = "" } = manifest.spec;
  const { items: known } = account.list(users);
  const owner = userIdOf(ref, known);
  if (typeof owner === "object") return { ...emptyDiff, problems: [unclearUserProblem(manifest, "/spec/owner", owner, known)] };
  const body = defined({ name, owner, description }) as JsonObject; // defined() removes an undefined description
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    action: "create",
    changes: createChanges(manifest, body),
    requests: [{ method: "POST", path: "/v1/tags", body }],
    naturalKey: { name: fold(name) },
  };
  const related = relations(unit, { id: "", name, taggedResources: [] }, account);
  return {
    ...emptyDiff,
    items: [item],
    blocked: related.blocked,
    deferred: [
      ...related.items.map(
        ({ address: of, changes: [change], requests }): Deferred => ({
          ...{ verb: "relate", address: of, waitsFor: [address], desired: change?.after ?? null },
          later: requests.map(({ method }) => method),
        }),
      ),
      ...related.deferred.map((one) => ({ ...one, waitsFor: [address, ...one.waitsFor] })),
    ],
    problems: [...plainEmailWarning(ref, known, locationIn(manifest, "/spec/owner")), ...related.problems],
  };
}
