import { type Address, type Binding, byText, kindOf } from "../base/model/address.ts";
import { blockedStep, byHandStep, waitingStep } from "../base/model/draft-steps.ts";
import { ServiceError } from "../base/model/errors.ts";
import { isObject, type JsonValue } from "../base/model/json/json.ts";
import { urlPath } from "../base/model/json/pointer.ts";
import type { Manifest } from "../base/model/manifest.ts";
import type { DraftItem, DraftStep } from "../base/model/plan.ts";
import type { Listed, UnreadEntry } from "../base/model/service.ts";
import type { Code } from "../base/model/titles.ts";
import { shellWord } from "../base/text/shell.ts";
import { type Account, type DiffResult, emptyDiff, type Identity, type Unit, type Units } from "./kind.ts";

/** The pinned id, else the bound one, else one that was recovered; undefined if there is none. */
export function boundIdentity(manifest: Manifest, account: Account): Identity | undefined {
  const bound = account.bindings.get(manifest.address)?.id;
  const id = manifest.id ?? bound;
  const recovered = account.recovered.get(manifest.address);
  if (id === undefined) return recovered === undefined ? undefined : { state: "found", id: recovered, by: "recovered" };
  return account.goneIds.has(id) ? { state: "gone", id } : { state: "found", id, by: manifest.id === undefined ? "binding" : "pin" };
}

/** Why the live object is not known, or must not be created. */
export const blocked = (code: Code, message: string, command?: string): Identity => ({
  state: "blocked",
  code,
  message,
  ...(command === undefined ? {} : { command }),
});

/** The objects that could be meant, for the message of E_AMBIGUOUS: "t-1 ("PII", created 2026-01-05T08:00:00Z), …". */
export const candidateTexts = (objects: readonly Candidate[]): string =>
  [...objects]
    .sort((a, b) => byText(a.id, b.id))
    .map(({ id, name, createdAt }) => {
      const known = [...(name === undefined ? [] : [JSON.stringify(name)]), ...(createdAt === undefined ? [] : [`created ${createdAt}`])];
      return known.length === 0 ? id : `${id} (${known.join(", ")})`;
    })
    .join(", ");

interface Candidate extends Listed {
  readonly createdAt: string | undefined;
}

/**
 * Whether a live object with this name may be the manifest's, although nothing else of it is shown. A service that names an integration
 * itself uses the name of its source. Undefined: the name is not shown either.
 */
export function mayHaveName({ name, spec }: Manifest, shown: string | undefined): boolean {
  const nameIn = (part: unknown): unknown => (isObject(part) ? part["name"] : undefined);
  const { match, expect, settings, create } = isObject(spec) ? spec : {};
  const source = nameIn(isObject(create) ? create["sourceConfig"] : undefined);
  return (
    !shown ||
    [name, ...[spec, match, expect, settings, create].map(nameIn)].includes(shown) ||
    (typeof source === "string" && shown.includes(source))
  );
}

/** `"Draft" (x9)`, or `entry 3` if it shows neither. */
export const entryText = ({ id, name, index }: Omit<UnreadEntry, "why">): string =>
  name === undefined ? (id ?? `entry ${index}`) : id === undefined ? JSON.stringify(name) : `${JSON.stringify(name)} (${id})`;

/** The ways on from an entry that may be the manifest's object. */
export const otherwise = (address: Address, repair: string): string =>
  `If it is the same, bind it. Otherwise, ${repair} in the service; until then, --exclude ${shellWord(address)} leaves the manifest out.`;

/** What is recorded for the object `id`, under the manifest's address or under the one that it was renamed from. */
export function recordOf(manifest: Manifest, id: string, account: Account): Binding | undefined {
  const own = account.bindings.get(manifest.address);
  if (own?.id === id) return own;
  const from = renamedFrom(manifest, id, account);
  return from === undefined ? undefined : account.bindings.get(from);
}

/** The address that the object `id` is or was recorded under, if no manifest has that address any more. */
export function renamedFrom(manifest: Manifest, id: string, { lookup }: Account): Address | undefined {
  return lookup.recorded.get(id)?.find((address) => kindOf(address) === manifest.kind && !lookup.manifests.has(address));
}

/** The other manifests that have the object `id` in their records. */
export const recordedFor = (manifest: Manifest, id: string, { lookup }: Account): readonly Address[] =>
  (lookup.recorded.get(id) ?? []).filter(
    (address) => address !== manifest.address && kindOf(address) === manifest.kind && lookup.manifests.has(address),
  );

/**
 * A `bind` item if the id is not recorded yet, or another one is, or if `record` has a version to
 * record. It sends nothing.
 */
export function bindItem(
  manifest: Manifest,
  live: { readonly id: string; readonly name: string | undefined },
  account: Account,
  record: Omit<Binding, "id"> = {},
): readonly DraftItem[] {
  const { id } = live;
  const before = account.bindings.get(manifest.address);
  if (before?.id === id) return record.secretVersion === undefined ? [] : [versionItem(manifest, live, record.secretVersion)];
  const from = renamedFrom(manifest, id, account);
  return [
    {
      ...emptyBind(manifest, live),
      ...(from === undefined ? {} : { renamedFrom: from }),
      changes: [{ path: "/id", ...(before === undefined ? {} : { before: before.id }), after: id, risk: "neutral" }],
      binding: { ...recordOf(manifest, id, account), ...record, id },
    },
  ];
}

/** Records the secretVersion of an object whose record has none. */
const versionItem = (manifest: Manifest, live: Parameters<typeof bindItem>[1], secretVersion: number): DraftItem => ({
  ...emptyBind(manifest, live),
  changes: [{ path: "/secretVersion", after: secretVersion, risk: "neutral" }],
  binding: { id: live.id, secretVersion },
});

const emptyBind = ({ address, kind }: Manifest, { id, name }: Parameters<typeof bindItem>[1]) => ({
  address,
  kind,
  verb: "bind" as const,
  standing: "ready" as const,
  liveId: id,
  ...(name === undefined ? {} : { liveName: name }),
  requests: [],
});

/** The units of manifests that describe one object each, and those that have none. `desired`: what a manifest that waits would create. */
export function unitPerManifest<Spec>(
  manifests: readonly Manifest[],
  { identities }: Account,
  desired: (spec: Spec) => JsonValue = () => null,
): Units<Unit & { readonly manifest: Manifest<Spec> }> {
  const units: (Unit & { readonly manifest: Manifest<Spec> })[] = [];
  const steps: DraftStep[] = [];
  for (const manifest of manifests as readonly Manifest<Spec>[]) {
    const { address } = manifest;
    const identity = identities.get(address);
    if (identity?.state === "blocked") {
      const { state: _state, id: _id, ...why } = identity;
      steps.push(blockedStep({ address, ...why }));
    } else if (identity?.state === "waits") steps.push(waitingCreate(address, identity.on, desired(manifest.spec)));
    else units.push({ address, manifest, ...(identity?.state === "found" ? { liveId: identity.id } : {}) });
  }
  return { units, steps, problems: [] };
}

export const waitingCreate = (address: Address, waitsFor: readonly Address[], desired: JsonValue): DraftStep =>
  waitingStep({ verb: "create", address, waitsFor, desired, later: desired === null ? [] : ["POST"] });

/** An object whose id returns 404 is never created again automatically: the user decides. */
export function goneObject({ address, id: pin }: Manifest, id: string): DiffResult {
  const forget = pin === undefined ? "unbind the address" : "unbind the address, remove metadata.id,";
  const instruction = `${address} refers to ${id}, which is gone from the account. dimsync never creates it again automatically. Remove the manifest; or ${forget} and plan again to look for another object, or to create one.`;
  return { ...emptyDiff, steps: [byHandStep({ address, path: "", instruction, command: `dimsync unbind ${shellWord(address)}` })] };
}

/** The failure of a read that returns 404 of an object that something else in the account shows: it is not gone. `shownBy` is the subject of a sentence. */
export function unreadable(list: string, id: string, shownBy: string): ServiceError {
  const path = urlPath(["v1", list, id]);
  const reason = `${shownBy} shows ${id}, but GET of it returns 404: it cannot be read with this key.`;
  return new ServiceError("E_SERVICE_STATUS", `GET ${path}: ${reason}`, { method: "GET", path, sent: "answered", status: 404, reason });
}
