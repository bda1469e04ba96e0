import type { Binding } from "../../base/model/address.ts";
import { blockedStep, byHandStep, unseenSteps } from "../../base/model/draft-steps.ts";
import { canonicalJson, defined, type JsonObject, type JsonValue, sameJson } from "../../base/model/json/json.ts";
import { atPointer, isWithin, leavesOf, type Pointer, toPointer, urlPath } from "../../base/model/json/pointer.ts";
import { type AssetSpec, locationIn, type Manifest } from "../../base/model/manifest.ts";
import type { DraftFacts, DraftItem, DraftStep, PathChange } from "../../base/model/plan.ts";
import { isError, type Problem } from "../../base/model/problem.ts";
import { isSecretReference } from "../../base/model/settings/secret.ts";
import { writtenDocument } from "../fields.ts";
import { bindItem, recordOf } from "../identity.ts";
import { type Account, type DiffResult, emptyDiff, type Overlay } from "../kind.ts";
import { createChanges, leafDigests } from "../leaves.ts";
import { assetFields, integrations, type LiveAsset, users } from "../lists.ts";
import { tagIds } from "../tags.ts";
import { isUser, ownersToWrite } from "../users.ts";
import { naturalKeyOf, recordOfSpec, writable } from "./record.ts";
import { referencesIn } from "./references.ts";

type AssetManifest = Manifest<AssetSpec>;

export function createdAsset(manifest: AssetManifest, account: Account): DiffResult {
  const { spec, address } = manifest;
  const { values, problems } = writtenValues(manifest, account);
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const tags = tagIds(manifest, { tags: spec.tags, desired: writable(spec) }, account);
  if ("instead" in tags) return tags.instead;
  const body: JsonObject = {
    ...values,
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
    verb: "create",
    standing: "ready",
    changes: createChanges(manifest, body),
    requests: [{ method: "POST", path: urlPath(["v1", "assets"]), body }],
    naturalKey: naturalKeyOf(spec),
    binding: recordOfSpec(spec),
  };
  return { ...emptyDiff, steps: [item], problems };
}

/** What requests write: the declared members, with owners in the form that the service takes. */
function writtenValues(manifest: AssetManifest, account: Account): { readonly values: JsonObject; readonly problems: readonly Problem[] } {
  const { spec } = manifest;
  if (spec.owners === undefined) return { values: writable(spec), problems: [] };
  const known = account.list(users).items;
  const { problems, owners } = ownersToWrite(manifest, spec.owners, { pointer: "/spec/owners", known });
  return { values: { ...writable(spec), owners }, problems };
}

/** A value that the manifest declares. Paths are those below spec, and of request bodies. */
interface Declared {
  readonly path: Pointer;
  /** As it is written; undefined: it was declared when the connection was sent, and is no longer. */
  readonly wanted: JsonValue | undefined;
  /** As the service shows it; undefined: not known. */
  readonly live: JsonValue | undefined;
  /** Its digest now, and when it was sent last; undefined: never. */
  readonly digest: string | undefined;
  readonly sent: string | undefined;
}

/** An existing asset and its manifest. */
interface Known {
  readonly manifest: AssetManifest;
  readonly account: Account;
  /** What requests write. */
  readonly values: JsonObject;
  readonly declared: readonly Declared[];
  readonly record: Binding | undefined;
  /** As a read or an integration shows it. */
  readonly live: {
    readonly id: string;
    readonly name: string | undefined;
    readonly type: string | undefined;
    readonly connectionType?: string | undefined;
  };
  /** The recorded secretVersion; 0 if dimsync has sent the asset without one; undefined if it has sent nothing. */
  readonly version: number | undefined;
  /** Whether the manifest raises secretVersion, so that the connection is sent again. */
  readonly isRaised: boolean;
}

/**
 * Compares with what the service shows, and the rest with the digests of what was sent. What is not known in either way is sent once, but not
 * the name, because the id could be that of another asset, and not the connection, which has secrets and replaces the live one. It is sent if
 * the manifest raises secretVersion, or changes what is known of it.
 */
export function updatedAsset(
  manifest: AssetManifest,
  shown: { readonly id: string; readonly asset: LiveAsset | undefined },
  account: Account,
): DiffResult {
  const { values, problems } = writtenValues(manifest, account);
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const known = knownOf(manifest, { ...shown, values }, account);
  const overlay = account.overlay(manifest.address);
  const due = dueOf(known, overlay);
  const isDue = values["connection"] !== undefined && (known.isRaised || due.some(isOfConnection));
  const isRefused = isDue && known.live.connectionType === "multi_purpose" && hasFlatConnection(manifest.spec);
  const changes = changesOf(known, due, isDue && !isRefused);
  return {
    ...emptyDiff,
    steps: [
      ...itemsOf(known, changes),
      ...typeDifferences(known),
      ...(isRefused ? [blockedStep({ address: manifest.address, code: "E_FLAT_CONNECTION", message: flatRefused })] : []),
      ...unsent(known),
      ...overlay.steps(),
    ],
    problems,
    size: {
      address: manifest.address,
      count: leavesOf(values).length + (manifest.spec.secretVersion === undefined ? 0 : 1),
      unit: "fields",
    },
  };
}

function knownOf(
  manifest: AssetManifest,
  { id, asset, values }: { readonly id: string; readonly asset: LiveAsset | undefined; readonly values: JsonObject },
  account: Account,
): Known {
  const reference = referencesIn(account.list(integrations).items).find((one) => one.id === id);
  const record = recordOf(manifest, id, account);
  const version = record?.secretVersion ?? (record?.sent === undefined ? undefined : 0);
  return {
    manifest,
    account,
    values,
    declared: declaredIn(manifest, { values, shown: { name: reference?.name, ...shownOf(asset) }, sent: record?.sent ?? {} }),
    record,
    live: { ...asset, id, name: asset?.name ?? reference?.name, type: (asset?.type ?? reference?.type) || undefined },
    version,
    isRaised: version !== undefined && (manifest.spec.secretVersion ?? 0) > version,
  };
}

/** What a request would write. */
function dueOf({ declared, manifest, account, isRaised }: Known, overlay: Overlay): readonly Declared[] {
  const identity = account.identities.get(manifest.address);
  // The create of a recovered asset sent everything, and the journal has its digests.
  const isRecovered = identity?.state === "found" && identity.by === "recovered";
  return declared
    .filter((one) => (isUnknown(one) ? isRaised || (isSentOnce(one) && !isRecovered) : isDifferent(one, manifest, account)))
    .filter(({ path, wanted = null, live = null }) => overlay.decide({ path, wanted, live, risk: "neutral" }) === "send");
}

function changesOf(
  { manifest, values, record, isRaised }: Known,
  due: readonly Declared[],
  sendsConnection: boolean,
): readonly PathChange<DraftFacts>[] {
  const sent = due.filter((one) => sendsConnection || !isOfConnection(one));
  const secrets = sendsConnection ? leavesOf(values["connection"], "/connection").filter(({ value }) => isSecretReference(value)) : [];
  const version = sendsConnection && isRaised ? [["/secretVersion", record?.secretVersion, manifest.spec.secretVersion] as const] : [];
  return [
    ...sent.map(({ path, live, wanted }) => [path, live, wanted] as const),
    ...secrets.map(({ path, value }) => [path, undefined, value] as const),
    ...version,
  ].map(([path, before, after]) => ({
    path,
    ...defined({ before, after }),
    risk: "neutral",
    cause: { place: locationIn(manifest, `/spec${path}`) },
  }));
}

function itemsOf(known: Known, changes: readonly PathChange<DraftFacts>[]): readonly DraftItem[] {
  const { manifest, account, values, declared, record, live } = known;
  const { spec } = manifest;
  // Each member is sent whole, the connection also if only its version is raised.
  const isSent = (member: string): boolean =>
    changes.some(({ path }) => isWithin(path, toPointer([member])) || (member === "connection" && path === "/secretVersion"));
  const body = Object.fromEntries(Object.entries(values).filter(([member]) => isSent(member)));
  const after = body["connection"] === undefined ? (record?.secretVersion ?? spec.secretVersion) : spec.secretVersion;
  const version = defined({ secretVersion: after });
  if (Object.keys(body).length === 0) return bindItem(manifest, live, account, known.version === undefined ? version : {});
  const item: DraftItem = {
    address: manifest.address,
    kind: manifest.kind,
    verb: "update",
    standing: "ready",
    liveId: live.id,
    ...defined({ liveName: live.name }),
    changes,
    requests: [{ method: "PATCH", path: urlPath(["v1", "assets", live.id]), body }],
    binding: { id: live.id, sent: digestsAfter(declared, body), ...version },
  };
  // A renamed manifest takes over the id first; any other update records the id itself.
  return [...bindItem(manifest, live, account).filter(({ renamedFrom }) => renamedFrom !== undefined), item];
}

/** The declared values without secrets, and the members that a connection lost after it was sent: it is replaced as a whole. */
function declaredIn(
  { spec }: AssetManifest,
  { values, shown, sent }: { readonly values: JsonObject; readonly shown: object; readonly sent: NonNullable<Binding["sent"]> },
): readonly Declared[] {
  const digests = leafDigests(writable(spec));
  const removed =
    values["connection"] === undefined
      ? []
      : Object.keys(sent).filter((path) => isWithin(path, "/connection") && digests[path] === undefined);
  return [...Object.keys(digests), ...removed].map((path) => ({
    path,
    // Both are JSON documents.
    wanted: atPointer(values, path) as JsonValue | undefined,
    live: digests[path] === undefined ? undefined : (atPointer(shown, path) as JsonValue | undefined),
    digest: digests[path],
    sent: sent[path],
  }));
}

const isUnknown = ({ live, sent }: Declared): boolean => live === undefined && sent === undefined;

const isSentOnce = (one: Declared): boolean => one.path !== "/name" && !isOfConnection(one);

const isOfConnection = ({ path }: Pick<Declared, "path">): boolean => isWithin(path, "/connection");

function isDifferent({ path, wanted, live, digest, sent }: Declared, { spec }: AssetManifest, account: Account): boolean {
  if (wanted === undefined || live === undefined) return digest !== sent;
  if (path !== "/owners" || !Array.isArray(live)) return !sameShown(path, wanted, live);
  const { items } = account.list(users);
  const { owners = [] } = spec;
  return live.length !== owners.length || !owners.every((owner) => live.some((one) => one === owner || isUser(String(one), owner, items)));
}

/** Whether the service shows a value that was written: of owners, configuration and connection, lists in any order and numbers as texts. */
export const sameShown = (path: Pointer, wanted: JsonValue, live: JsonValue): boolean =>
  typeof wanted === "string" && path.lastIndexOf("/") === 0 ? wanted === live : sameJson(plain(wanted), plain(live));

const plain = (value: JsonValue): JsonValue =>
  Array.isArray(value)
    ? [...new Set(value.map((one: JsonValue) => canonicalJson(plain(one))))].sort()
    : typeof value === "object"
      ? value
      : String(value).trim();

/** The digests of what is sent or shown, and of what was sent before. */
const digestsAfter = (declared: readonly Declared[], body: JsonObject): NonNullable<Binding["sent"]> =>
  Object.fromEntries(
    declared.flatMap(({ path, live, digest, sent }) => {
      const kept = live !== undefined || atPointer(body, path) !== undefined ? digest : sent;
      return kept === undefined ? [] : [[path, kept]];
    }),
  );

/** What only a create sets. An asset can be multi_purpose whatever its create said. */
const typeDifferences = ({ manifest: { spec, address }, live }: Known): readonly DraftStep[] =>
  (["type", "connectionType"] as const).flatMap((member) => {
    const [expected, actual] = [spec[member], live[member]];
    if (expected === undefined || actual === undefined || actual === expected || actual === "multi_purpose") return [];
    const instruction = `The ${member} of an asset can only be set when it is created. Correct spec.${member} of ${address}, or bind the asset that has this ${member}.`;
    return [byHandStep({ address, path: `/${member}`, expected, actual, instruction })];
  });

/** What the manifest says, nothing shows, and dimsync has not sent and does not send. */
function unsent({ manifest: { address, spec }, declared, version = 0, isRaised }: Known): readonly DraftStep[] {
  if (isRaised) return [];
  const paths = declared.filter(isUnknown).map(({ path }) => path);
  const whys: readonly (readonly [readonly Pointer[], string])[] = [
    [paths.filter((path) => path === "/name"), "Nothing shows the name, and dimsync has not sent it."],
    [
      paths.filter((path) => isWithin(path, "/connection")),
      `Nothing shows these members of the connection, and dimsync has not sent them. To send the connection, set spec.secretVersion to ${version + 1}.`,
    ],
    [
      spec.connection && spec.secretVersion === 0 ? ["/connection"] : [],
      "dimsync does not send the connection while spec.secretVersion is 0.",
    ],
  ];
  return whys.flatMap(([of, why]) => unseenSteps(address, of, why));
}

/** What a read shows of the members that PATCH writes, as the JSON document that bodies point into. */
export const shownOf = (asset: LiveAsset | undefined): JsonObject => (asset === undefined ? {} : writtenDocument(assetFields, asset));

/** The blocks of a connection of an asset that serves several purposes. */
const purposes = ["etl", "reverseEtl", "catalog", "etlSource"];

export const writeBlocks = `Write one block per purpose that is used: ${purposes.join(", ")}.`;

const flatRefused = `The asset is multi_purpose. The service answers a flat connection of such an asset with 200 and writes nothing, so it is not sent. ${writeBlocks}`;

export const hasFlatConnection = ({ connection, secretVersion }: AssetSpec): boolean =>
  connection !== undefined && secretVersion !== 0 && !Object.keys(connection).some((name) => purposes.includes(name));
