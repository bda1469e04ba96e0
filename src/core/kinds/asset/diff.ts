import type { Binding } from "../../model/address.ts";
import { defined, type JsonObject, type JsonValue } from "../../model/json/json.ts";
import { leavesOf } from "../../model/json/leaves.ts";
import { atPointer, isWithin, type Pointer, toPointer, urlPath } from "../../model/json/pointer.ts";
import type { LiveReference } from "../../model/live.ts";
import { type AssetSpec, locationIn, type Manifest } from "../../model/manifest.ts";
import type { DraftFacts, DraftItem, Manual, PathChange, Unverifiable } from "../../model/plan.ts";
import { isError, type Problem } from "../../model/problem.ts";
import { isSecretReference } from "../../model/settings/secret.ts";
import { writtenDocument, writtenIn } from "../fields.ts";
import { bindItem, recordOf } from "../identity.ts";
import { type Account, type DiffResult, emptyDiff } from "../kind.ts";
import { changedLeaves, createChanges, leafDigests } from "../leaves.ts";
import { assetFields, integrations, type LiveAsset, users } from "../lists.ts";
import { tagIds } from "../tags.ts";
import { isUser, ownersToWrite } from "../users.ts";
import { naturalKeyOf, recordOfSpec, writable } from "./record.ts";
import { referencesIn } from "./references.ts";

type AssetManifest = Manifest<AssetSpec>;

export function createdAsset(manifest: AssetManifest, account: Account): DiffResult {
  const { spec, address } = manifest;
  const { problems, ...written } = ownersIn(manifest, account);
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const tags = tagIds(manifest, { tags: spec.tags, desired: writable(spec) }, account);
  if ("instead" in tags) return tags.instead;
  const body: JsonObject = {
    ...writable(spec),
    ...written,
    // An asset is multi_purpose if the create has no connectionType.
    ...defined({
      type: spec.type,
      connectionType: spec.connectionType === "multi_purpose" ? undefined : spec.connectionType,
      tags: tags.ids,
    }),
    ...(spec.secretVersion === 0 ? {} : defined({ connectionOverrides: spec.connectionOverrides })),
  };
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    action: "create",
    changes: createChanges(manifest, body),
    requests: [{ method: "POST", path: urlPath(["v1", "assets"]), body }],
    naturalKey: naturalKeyOf(spec),
    binding: recordOfSpec(spec),
  };
  return { ...emptyDiff, items: [item], problems };
}

/** The owners as they are written. */
function ownersIn(
  manifest: AssetManifest,
  account: Account,
): { readonly owners?: readonly string[]; readonly problems: readonly Problem[] } {
  const { owners } = manifest.spec;
  return owners === undefined
    ? { problems: [] }
    : ownersToWrite(manifest, owners, { pointer: "/spec/owners", known: account.list(users).items });
}

/** What is known about an existing asset. */
interface Known {
  readonly manifest: AssetManifest;
  readonly id: string;
  readonly account: Account;
  readonly declared: JsonObject;
  readonly digests: Readonly<Record<Pointer, string>>;
  /** The asset as a read or integrations show it; undefined if none does. */
  readonly shown: LiveReference | undefined;
  /** As a read shows it; undefined if the service has none. */
  readonly asset: LiveAsset | undefined;
  readonly record: Binding | undefined;
  /** The recorded version; 0 if dimsync has sent the asset without one; undefined if it has sent nothing. */
  readonly versionBefore: number | undefined;
  /** Whether the manifest raises secretVersion, so that the connection is sent again. */
  readonly isVersionRaised: boolean;
}

/**
 * Compares with what the service shows, and the rest with the digests of what was sent. If nothing is recorded, the rest is not sent
 * unless the manifest raises secretVersion; then everything is sent, so that it is recorded from then on.
 */
export function updatedAsset(manifest: AssetManifest, live: Pick<Known, "id" | "asset">, account: Account): DiffResult {
  const known = knownOf(manifest, live, account);
  const { id } = live;
  const { record, isVersionRaised, digests, shown, versionBefore } = known;
  const { spec, address } = manifest;
  const manual = typeDifferences(known);
  const unverifiable = unverifiableMembers(known);
  const { changes, sendConnection } = changesOf(known);
  const { problems, ...written } = ownersIn(manifest, account);
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const body = bodyOf({ ...known.declared, ...written }, changes, sendConnection);
  const size = { address, count: fieldCount(known), unit: "fields" } as const;
  if (Object.keys(body).length === 0) {
    const version = spec.secretVersion === undefined || versionBefore !== undefined ? {} : { secretVersion: spec.secretVersion };
    return { ...emptyDiff, items: bindItem(manifest, { id, name: shown?.name }, account, version), manual, unverifiable, problems, size };
  }
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    action: "update",
    liveId: id,
    ...(shown === undefined ? {} : { liveName: shown.name }),
    changes,
    requests: [{ method: "PATCH", path: urlPath(["v1", "assets", id]), body }],
    binding: {
      id,
      ...(record?.sent === undefined && !isVersionRaised ? {} : { sent: digests }),
      ...versionAfter(spec, record?.secretVersion, sendConnection),
    },
  };
  // A renamed manifest takes over the id first; any other update records the id itself.
  const renames = bindItem(manifest, { id, name: shown?.name }, account).filter(({ renamedFrom }) => renamedFrom !== undefined);
  return { ...emptyDiff, items: [...renames, item], manual, unverifiable: isVersionRaised ? [] : unverifiable, problems, size };
}

/** The leaves that the manifest declares, and the version of its secrets. */
const fieldCount = ({ declared, manifest: { spec } }: Known): number =>
  leavesOf(declared).length + (spec.secretVersion === undefined ? 0 : 1);

function knownOf(manifest: AssetManifest, { id, asset }: Pick<Known, "id" | "asset">, account: Account): Known {
  const { spec } = manifest;
  const declared = writable(spec);
  const record = recordOf(manifest, id, account);
  const versionBefore = record?.secretVersion ?? (record?.sent === undefined ? undefined : 0);
  const isVersionRaised = versionBefore !== undefined && (spec.secretVersion ?? 0) > versionBefore;
  return {
    manifest,
    id,
    account,
    declared,
    digests: leafDigests(declared),
    shown:
      asset?.name === undefined
        ? referencesIn(account.list(integrations).items).find((reference) => reference.id === id)
        : { id, name: asset.name, type: asset.type ?? "" },
    asset,
    record,
    versionBefore,
    isVersionRaised,
  };
}

/** The declared members that differ from the record, or from what integrations show. */
function differingPaths({ manifest, account, declared, digests, shown, asset, record, isVersionRaised }: Known): readonly Pointer[] {
  const unread = record?.sent === undefined ? (isVersionRaised ? Object.keys(digests) : []) : changedLeaves(digests, record.sent);
  const differing = [...unread.filter((path) => path === "/name" || !isRead(path, asset)), ...readDifferences(manifest, asset, account)];
  const isRenamed = shown !== undefined && shown.name !== manifest.spec.name;
  return [...(isRenamed && !differing.includes("/name") ? ["/name"] : []), ...differing]
    .filter((path) => !account.ignored(manifest.address, path))
    .filter((path) => path !== "/name" || isRenamed || shown === undefined)
    .filter((path) => hasMember(declared, path));
}

function changesOf(known: Known): { readonly changes: readonly PathChange<DraftFacts>[]; readonly sendConnection: boolean } {
  const { manifest, declared, record, isVersionRaised } = known;
  const paths = differingPaths(known);
  const sendConnection = declared["connection"] !== undefined && (isVersionRaised || paths.some((path) => isWithin(path, "/connection")));
  const secrets = sendConnection ? leavesOf(declared).filter(({ value }) => isSecretReference(value)) : [];
  const leaves = [...paths, ...secrets.map(({ path }) => path)];
  const changes = leaves.map((path) => changeAt(manifest, path, { ...beforeAt(path, known), ...valueAt(declared, path) }));
  if (!sendConnection) return { changes, sendConnection };
  if (isVersionRaised) {
    const before = record?.secretVersion === undefined ? {} : { before: record.secretVersion };
    return {
      changes: [...changes, changeAt(manifest, "/secretVersion", { ...before, after: manifest.spec.secretVersion ?? 0 })],
      sendConnection,
    };
  }
  const isShown = leaves.some((path) => isWithin(path, "/connection"));
  return { changes: isShown ? changes : [...changes, changeAt(manifest, "/connection", valueAt(declared, "/connection"))], sendConnection };
}

/** The members that changed. Each is sent whole or not at all. */
function bodyOf(declared: JsonObject, changes: readonly PathChange<DraftFacts>[], sendConnection: boolean): JsonObject {
  const isSent = (member: string): boolean =>
    member === "connection" ? sendConnection : changes.some(({ path }) => isWithin(path, toPointer([member])));
  return Object.fromEntries(Object.entries(declared).filter(([member]) => isSent(member)));
}

/** What only a create sets. An asset can be multi_purpose whatever its create said. */
function typeDifferences({ manifest: { spec, address }, shown, asset }: Known): readonly Omit<Manual, "id">[] {
  const live = { ...asset, type: shown?.type || undefined };
  return (["type", "connectionType"] as const).flatMap((member) => {
    const [expected, actual] = [spec[member], live[member]];
    if (expected === undefined || actual === undefined || actual === expected || actual === "multi_purpose") return [];
    const instruction = `The ${member} of an asset can only be set when it is created. Correct spec.${member} of ${address}, or bind the asset that has this ${member}.`;
    return [{ address, path: `/${member}`, expected, actual, instruction }];
  });
}

/** What a read shows of the members that PATCH writes, as the JSON document that bodies point into. */
export const shownOf = (asset: LiveAsset): JsonObject => writtenDocument(assetFields, asset);

const hasMember = (document: JsonObject, path: Pointer): boolean =>
  Object.keys(document).some((member) => isWithin(path, toPointer([member])));

const isRead = (path: Pointer, asset: LiveAsset | undefined): boolean => asset !== undefined && hasMember(shownOf(asset), path);

/** Where a read shows another value than the manifest has, apart from the name. Owners can be ids or e-mail addresses. */
function readDifferences({ spec }: AssetManifest, asset: LiveAsset | undefined, account: Account): readonly Pointer[] {
  if (asset === undefined) return [];
  const { items } = account.list(users);
  return writtenIn(assetFields).flatMap((name) => {
    const [wanted, live] = [spec[name], asset[name]];
    if (name === "name" || wanted === undefined || live === undefined) return [];
    const isEqual =
      typeof wanted === "string" || typeof live === "string"
        ? wanted === live
        : live.length === wanted.length && wanted.every((owner) => live.some((one) => one === owner || isUser(one, owner, items)));
    return isEqual ? [] : [`/${name}`];
  });
}

function beforeAt(path: Pointer, { shown, asset }: Known): { readonly before?: JsonValue } {
  const before = path === "/name" ? shown?.name : asset && atPointer(shownOf(asset), path);
  return before === undefined ? {} : { before: before as JsonValue }; // what a read shows is JSON
}

function unverifiableMembers({ manifest, digests, shown, asset, record }: Known): readonly Unverifiable[] {
  const paths = Object.keys(digests).filter((path) => (path !== "/name" || shown === undefined) && !isRead(path, asset));
  if (record?.sent !== undefined || paths.length === 0) return [];
  const reason = "The API never returns these members of an asset, and what was sent is not recorded.";
  return [{ address: manifest.address, paths, reason }];
}

/** The recorded version changes only if the connection is sent, or if none was recorded. */
function versionAfter(spec: AssetSpec, recorded: number | undefined, isSent: boolean): Pick<Binding, "secretVersion"> {
  const version = isSent || recorded === undefined ? spec.secretVersion : recorded;
  return version === undefined ? {} : { secretVersion: version };
}

function valueAt(declared: JsonObject, path: Pointer): { readonly after?: JsonValue } {
  const value = atPointer(declared, path);
  // Everything in a declared value is JSON.
  return value === undefined ? {} : { after: value as JsonValue };
}

const changeAt = (manifest: Manifest, path: Pointer, values: Pick<PathChange<DraftFacts>, "before" | "after">): PathChange<DraftFacts> => ({
  path,
  ...values,
  risk: "neutral",
  cause: { place: locationIn(manifest, `/spec${path}`) },
});
