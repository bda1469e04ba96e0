import { defined, type JsonObject } from "../../base/model/json/json.ts";
import { urlPath } from "../../base/model/json/pointer.ts";
import { locationIn, type Manifest, type TagSpec } from "../../base/model/manifest.ts";
import type { DraftFacts, DraftItem, PathChange } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { type WrittenName, writtenIn } from "../fields.ts";
import type { Account, DiffResult, Unit } from "../kind.ts";
import { type LiveTag, tagFields, users } from "../lists.ts";
import { isUser, plainEmailWarning, unclearUserProblem, userToWrite } from "../users.ts";

export interface TagUnit extends Unit {
  readonly manifest: Manifest<TagSpec>;
}

const fields = writtenIn(tagFields);
type Field = WrittenName<typeof tagFields>;
type DesiredFields = { readonly [Name in Field]: string | undefined };

/** The fields that a request can write, of a manifest or a tag. */
export const writtenOf = (of: { readonly [Name in Field]?: unknown }): JsonObject =>
  defined(Object.fromEntries(fields.map((field) => [field, of[field]]))) as JsonObject; // manifests and decoded responses are JSON

/** How many fields a tag has. */
export const fieldCount = fields.length;

/**
 * The differences of a tag's own fields, and the PUT for them. It has all fields: those that the manifest does not set
 * repeat the live values, which is right whether the service merges or replaces.
 */
export function fieldChanges(unit: TagUnit, live: LiveTag, account: Account): Pick<DiffResult, "steps" | "problems"> {
  const { manifest, address } = unit;
  const owner = ownerToWrite(unit, live, account);
  if (typeof owner === "object") return { steps: [], problems: [owner] };
  const wanted: DesiredFields = { ...live, ...writtenOf(manifest.spec), description: descriptionToWrite(manifest.spec, live), owner };
  const overlay = account.overlay(address);
  const isLeft = (field: Field): boolean =>
    wanted[field] !== live[field] &&
    overlay.decide({ path: `/${field}`, wanted: wanted[field] ?? null, live: live[field] ?? null, risk: "neutral" }) === "leave";
  const desired: DesiredFields = { ...wanted, ...Object.fromEntries(fields.filter(isLeft).map((field) => [field, live[field]])) };
  const problems = plainEmailWarning(manifest.spec.owner, account.list(users).items, locationIn(manifest, "/spec/owner"));
  const changes = fields.flatMap((field) => changeOf(field, unit, live, desired));
  if (changes.length === 0) return { steps: overlay.steps(), problems };
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    verb: "update",
    standing: "ready",
    liveId: live.id,
    liveName: live.name,
    changes,
    requests: [{ method: "PUT", path: urlPath(["v1", "tags", live.id]), body: bodyOf(desired) }],
    binding: { id: live.id },
  };
  return { steps: [item, ...overlay.steps()], problems };
}

/** The owner as text; undefined if there is none. */
function ownerToWrite(unit: TagUnit, live: LiveTag, { list }: Account): string | undefined | Problem {
  const { owner } = unit.manifest.spec;
  const { items } = list(users);
  if (owner === undefined || isUser(live.owner, owner, items)) return live.owner;
  const written = userToWrite(owner, items);
  return typeof written === "string" ? written : unclearUserProblem(unit.manifest, "/spec/owner", written, items);
}

/** The service may not show a description that is empty. */
const descriptionToWrite = ({ description }: TagSpec, live: LiveTag): string | undefined =>
  description === "" && live.description === undefined ? undefined : (description ?? live.description);

function changeOf(field: Field, { manifest }: TagUnit, live: LiveTag, desired: DesiredFields): readonly PathChange<DraftFacts>[] {
  const before = live[field];
  const after = desired[field];
  if (after === undefined || before === after) return [];
  const cause = { place: locationIn(manifest, `/spec/${field}`) };
  return [{ path: `/${field}`, ...(before === undefined ? {} : { before }), after, risk: "neutral", cause }];
}

const bodyOf = (desired: DesiredFields): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.flatMap((field) => (desired[field] === undefined ? [] : [[field, desired[field]] as const])));
