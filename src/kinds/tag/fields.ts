import type { JsonValue } from "../../model/json.ts";
import type { LiveTag } from "../../model/live.ts";
import type { DraftChange, DraftItem } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type TagSpec } from "../../model/resource.ts";
import { urlPath } from "../../model/url-path.ts";
import type { AccountView, Unit } from "../kind.ts";
import { isUser, userToWrite } from "../users.ts";

export interface TagUnit extends Unit {
  readonly resource: Resource<TagSpec>;
}

/** One PUT with all three fields: those that the manifest leaves open are repeated from the live tag, right whether the service merges or replaces (product §3.3). */
export function fieldChanges(
  unit: TagUnit,
  live: LiveTag,
  account: AccountView,
): { readonly items: readonly DraftItem[]; readonly problems: readonly Problem[] } {
  const { resource, address } = unit;
  const { name, description, owner } = resource.spec;
  const wanted: { name: string; description?: string; owner?: string } = { name };
  const keptDescription = description ?? live.description;
  if (keptDescription !== undefined) wanted.description = keptDescription;
  if (owner === undefined || isUser(live.owner, owner, account.users)) {
    if (live.owner !== undefined) wanted.owner = live.owner;
  } else {
    const written = userToWrite(owner, account.users);
    if (typeof written !== "string") return { items: [], problems: [unknownUser(unit, written.email, "/spec/owner")] };
    wanted.owner = written;
  }
  const changes: DraftChange[] = [];
  const observed: Record<string, JsonValue> = {};
  for (const key of ["name", "description", "owner"] as const) {
    const before = live[key];
    // A field that is left to others keeps its live value in the body.
    if (account.ignored(address, `/${key}`) && before !== undefined) wanted[key] = before;
    const after = wanted[key];
    if (before !== undefined) observed[`/${key}`] = before;
    if (after !== undefined && before !== after)
      changes.push({
        path: `/${key}`,
        ...(before === undefined ? {} : { before }),
        after,
        risk: "neutral",
        cause: { place: locationIn(resource, `/spec/${key}`) },
      });
  }
  if (changes.length === 0) return { items: [], problems: [] };
  const item: DraftItem = {
    address,
    kind: "Tag",
    action: "update",
    liveId: live.id,
    liveName: live.name,
    changes,
    requests: [{ method: "PUT", path: urlPath(["v1", "tags", live.id]), body: wanted }],
    observed,
    binding: { id: live.id },
  };
  return { items: [item], problems: [] };
}

export function unknownUser(unit: TagUnit, email: string, pointer: string): Problem {
  return {
    code: "E_UNKNOWN_USER",
    severity: "error",
    summary: "Unknown user",
    message: `The account has no user with the e-mail address ${email}. Correct the address, give the user's id as plain text, or have the user added.`,
    place: locationIn(unit.resource, pointer),
    address: unit.address,
  };
}
