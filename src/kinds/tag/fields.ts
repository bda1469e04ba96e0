import { urlPath } from "../../model/json/pointer.ts";
import type { LiveTag } from "../../model/live.ts";
import type { DraftFacts, DraftItem, PathChange } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type TagSpec } from "../../model/resource.ts";
import type { AccountView, Unit } from "../kind.ts";
import { users } from "../lists.ts";
import { isUser, plainEmailWarning, unclearUserProblem, userToWrite } from "../users.ts";

export interface TagUnit extends Unit {
  readonly resource: Resource<TagSpec>;
}

const fields = ["name", "description", "owner"] as const;
type Fields = { readonly [Field in (typeof fields)[number]]?: string };

/** How many fields a tag has. */
export const fieldCount = fields.length;

/**
 * The differences of a tag's own fields, and the PUT for them. It has all three fields: those that
 * the manifest does not set repeat the live values, which is right whether the service merges or
 * replaces.
 */
export function fieldChanges(
  unit: TagUnit,
  live: LiveTag,
  account: AccountView,
): { readonly items: readonly DraftItem[]; readonly problems: readonly Problem[] } {
  const { resource, address } = unit;
  const owner = ownerToWrite(unit, live, account);
  if (typeof owner === "object") return { items: [], problems: [owner] };
  const desired = withIgnored(
    { name: resource.spec.name, description: resource.spec.description ?? live.description, owner },
    unit,
    live,
    account,
  );
  const problems = plainEmailWarning(resource.spec.owner, account.list(users).items, locationIn(resource, "/spec/owner"));
  const changes = fields.flatMap((field) => changeOf(field, unit, live, desired));
  if (changes.length === 0) return { items: [], problems };
  const item: DraftItem = {
    address,
    kind: resource.kind,
    action: "update",
    liveId: live.id,
    liveName: live.name,
    changes,
    requests: [{ method: "PUT", path: urlPath(["v1", "tags", live.id]), body: bodyOf(desired) }],
    binding: { id: live.id },
  };
  return { items: [item], problems };
}

/** The owner as text; undefined if there is none. */
function ownerToWrite(unit: TagUnit, live: LiveTag, { list }: AccountView): string | undefined | Problem {
  const { owner } = unit.resource.spec;
  const { items } = list(users);
  if (owner === undefined || isUser(live.owner, owner, items)) return live.owner;
  const written = userToWrite(owner, items);
  return typeof written === "string" ? written : unclearUserProblem(unit.resource, "/spec/owner", written, items);
}

type DesiredFields = { readonly [Field in keyof Fields]: string | undefined };

/** Ignored fields keep their live value. */
function withIgnored(desired: DesiredFields, { address }: TagUnit, live: LiveTag, { ignored }: AccountView): DesiredFields {
  const kept = fields.filter((field) => live[field] !== undefined && ignored(address, `/${field}`));
  return { ...desired, ...Object.fromEntries(kept.map((field) => [field, live[field]])) };
}

function changeOf(field: keyof Fields, { resource }: TagUnit, live: LiveTag, desired: DesiredFields): readonly PathChange<DraftFacts>[] {
  const before = live[field];
  const after = desired[field];
  if (after === undefined || before === after) return [];
  const cause = { place: locationIn(resource, `/spec/${field}`) };
  return [{ path: `/${field}`, ...(before === undefined ? {} : { before }), after, risk: "neutral", cause }];
}

const bodyOf = (desired: DesiredFields): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.flatMap((field) => (desired[field] === undefined ? [] : [[field, desired[field]] as const])));
