import type { JsonObject, JsonValue } from "../../model/json.ts";
import { leavesOf } from "../../model/leaves.ts";
import type { LiveReference } from "../../model/live.ts";
import type { DraftChange, DraftItem } from "../../model/plan.ts";
import { atPointer, isWithin, type Pointer } from "../../model/pointer.ts";
import { type AssetSpec, locationIn, type Resource } from "../../model/resource.ts";
import { isSecretReference } from "../../model/secret.ts";
import { urlPath } from "../../model/url-path.ts";
import { bindItem, boundIdentity, goneInstruction } from "../identity.ts";
import { type AccountView, type DiffResult, emptyDiff, type Kind, type Unit } from "../kind.ts";
import { changedLeaves, leafDigests } from "../leaves.ts";
import { lookalikes, referencesIn } from "./references.ts";

// An asset can't be read back (interface §4.4): what is live is known only as far as the references of integrations show it, and what was
// sent only by the digests in the bindings file.

export interface AssetUnit extends Unit {
  readonly resource: Resource<AssetSpec>;
}

/** Compared with the references by which integrations show assets. */
export const asset: Kind<AssetUnit, readonly LiveReference[]> = {
  name: "Asset",
  references: () => [],
  lists: () => ["integrations"],
  // An asset can't be read back, so a lost binding would create it a second time.
  defaultCreate: "never",
  connectorAt: "/spec",
  isPlainKey: (path, key) => key === "secretVersion" && path.length === 1 && path[0] === "spec",

  identify(resource, account) {
    const bound = boundIdentity(resource, account);
    if (bound !== undefined) return bound;
    const candidates = lookalikes(resource as Resource<AssetSpec>, account);
    const [candidate] = candidates;
    if (candidate !== undefined) {
      const seen = candidates.map(({ id, name, type }) => `${JSON.stringify(name)} (${type}, ${id})`).join(", ");
      return {
        state: "blocked",
        code: "E_UNBOUND",
        message: `No id is on record for it, and integrations refer to ${seen}, which may be this asset. An asset can't be read back, so dimsync does not create a second one. If it is the same, bind it.`,
        command: `dimsync bind ${resource.address}=${candidate.id}`,
      };
    }
    if (resource.lifecycle.create === "ifMissing") return { state: "absent" };
    return {
      state: "blocked",
      code: "E_UNBOUND",
      message:
        "No id is on record for it, and the interface has no call that finds an asset. Bind its id, or set lifecycle.create: ifMissing if it does not exist yet.",
      command: `dimsync bind ${resource.address}=ID`,
    };
  },

  baseline: ({ spec }) => record(spec as AssetSpec),

  units(resources, account) {
    const units: AssetUnit[] = [];
    const blocked = [];
    for (const resource of resources as readonly Resource<AssetSpec>[]) {
      const identity = account.identities.get(resource.address);
      if (identity?.state === "blocked")
        blocked.push({
          address: resource.address,
          code: identity.code,
          message: identity.message,
          ...(identity.command === undefined ? {} : { command: identity.command }),
        });
      else units.push({ address: resource.address, resource, ...(identity?.state === "found" ? { liveId: identity.id } : {}) });
    }
    return { units, blocked, deferred: [], problems: [] };
  },

  diff(unit, _live, account) {
    const identity = account.identities.get(unit.address);
    if (identity?.state === "gone")
      return { ...emptyDiff, manual: [{ address: unit.address, path: "", instruction: goneInstruction(unit.resource, identity.id) }] };
    return unit.liveId === undefined ? created(unit) : updated(unit, unit.liveId, account);
  },

  find: async (key, reads) =>
    referencesIn((await reads.integrations()).items)
      .filter(({ name, type }) => name === key["name"] && type === key["type"])
      .map(({ id }) => id),

  update: {
    reread: async (_item, reads) => referencesIn((await reads.integrations()).items),

    document(item, references) {
      const name = references?.find(({ id }) => id === item.liveId)?.name;
      return name === undefined ? {} : { name };
    },
  },
};

const record = (spec: AssetSpec): { readonly sent: Readonly<Record<Pointer, string>>; readonly secretVersion?: number } => ({
  sent: leafDigests(managed(spec)),
  ...(spec.secretVersion === undefined ? {} : { secretVersion: spec.secretVersion }),
});

/** The members that PATCH can change (interface §4.4). */
function managed({ name, description, connection, secretVersion }: AssetSpec): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(connection === undefined || secretVersion === 0 ? {} : { connection }),
  };
}

function created(unit: AssetUnit): DiffResult {
  const { spec } = unit.resource;
  const body: JsonObject = {
    ...managed(spec),
    ...(spec.type === undefined ? {} : { type: spec.type }),
    ...(spec.connectionType === undefined ? {} : { connectionType: spec.connectionType }),
  };
  const item: DraftItem = {
    address: unit.address,
    kind: "Asset",
    action: "create",
    changes: leavesOf(body).map((leaf) => described(unit.resource, leaf.path, { after: leaf.value })),
    requests: [{ method: "POST", path: urlPath(["v1", "assets"]), body }],
    observed: {},
    naturalKey: { name: spec.name, type: spec.type ?? "" },
    binding: record(spec),
  };
  return { ...emptyDiff, items: [item] };
}

function updated(unit: AssetUnit, id: string, account: AccountView): DiffResult {
  const { resource, address } = unit;
  const { spec } = resource;
  const binding = account.bindings.get(address);
  const shown = referencesIn(account.integrations).find((reference) => reference.id === id);
  const declared = managed(spec);
  const bound = binding?.id === id ? binding : undefined;
  const recorded = bound?.sent;
  // Where dimsync has sent the asset without a version, any version is higher; where it has sent nothing, none is.
  const versionBefore = bound?.secretVersion ?? (recorded === undefined ? undefined : 0);
  const raised = versionBefore !== undefined && (spec.secretVersion ?? 0) > versionBefore;
  const resend = account.writeSecrets(address) || raised;

  // Without a record nothing is sent unasked; asked, everything is, so that from then on there is a record. What integrations show needs neither.
  const digests = leafDigests(declared);
  const differing = recorded === undefined ? (resend ? Object.keys(digests) : []) : changedLeaves(digests, recorded);
  const renamed = shown !== undefined && shown.name !== spec.name;
  const paths = [...(renamed && !differing.includes("/name") ? ["/name"] : []), ...differing]
    .filter((path) => !account.ignored(address, path))
    .filter((path) => path !== "/name" || renamed || shown === undefined)
    .filter((path) => atPointer(declared, path) !== undefined || (isWithin(path, "/connection") && declared["connection"] !== undefined));
  const sendConnection = declared["connection"] !== undefined && (resend || paths.some((path) => isWithin(path, "/connection")));
  const secrets = sendConnection ? leavesOf(declared).filter(({ value }) => isSecretReference(value)) : [];
  const leaves = [...paths, ...secrets.map(({ path }) => path)];
  const changes = leaves.map((path) =>
    described(resource, path, {
      ...(path === "/name" && shown !== undefined ? { before: shown.name } : {}),
      ...valueAt(declared, path),
    }),
  );
  if (sendConnection && raised)
    changes.push(
      described(resource, "/secretVersion", {
        ...(bound?.secretVersion === undefined ? {} : { before: bound.secretVersion }),
        after: spec.secretVersion ?? 0,
      }),
    );
  else if (sendConnection && !leaves.some((path) => isWithin(path, "/connection")))
    changes.push(described(resource, "/connection", valueAt(declared, "/connection")));

  const body: Record<string, JsonValue> = {};
  if (changes.some(({ path }) => path === "/name")) body["name"] = spec.name;
  if (changes.some(({ path }) => path === "/description") && spec.description !== undefined) body["description"] = spec.description;
  if (sendConnection && spec.connection !== undefined) body["connection"] = spec.connection;

  const manual =
    spec.type !== undefined && shown !== undefined && shown.type !== spec.type
      ? [
          {
            address,
            path: "/type",
            expected: spec.type,
            actual: shown.type,
            instruction: `An asset's type can be given only when it is created. Correct spec.type of ${address}, or bind the asset that has it.`,
          },
        ]
      : [];
  const unread = Object.keys(digests).filter((path) => path !== "/name" || shown === undefined);
  const unverifiable =
    recorded === undefined && unread.length > 0
      ? [
          {
            address,
            paths: unread,
            reason: "The interface never returns an asset's description and connection, and no digest of what was sent is on record.",
          },
        ]
      : [];
  if (Object.keys(body).length === 0) {
    const version = spec.secretVersion === undefined || versionBefore !== undefined ? {} : { secretVersion: spec.secretVersion };
    return { ...emptyDiff, items: bindItem(resource, id, shown?.name, account, version), manual, unverifiable };
  }

  const item: DraftItem = {
    address,
    kind: "Asset",
    action: "update",
    liveId: id,
    ...(shown === undefined ? {} : { liveName: shown.name }),
    changes,
    requests: [{ method: "PATCH", path: urlPath(["v1", "assets", id]), body }],
    observed: shown !== undefined && body["name"] !== undefined ? { "/name": shown.name } : {},
    binding: {
      id,
      ...(recorded === undefined && !resend ? {} : { sent: digests }),
      ...versionAfter(spec, bound?.secretVersion, sendConnection),
    },
  };
  return { ...emptyDiff, items: [item], manual, unverifiable: resend ? [] : unverifiable };
}

/** The version on record rises only when the connection was really sent, or where none was on record. */
function versionAfter(spec: AssetSpec, recorded: number | undefined, sent: boolean): { readonly secretVersion?: number } {
  const version = sent || recorded === undefined ? spec.secretVersion : recorded;
  return version === undefined ? {} : { secretVersion: version };
}

function valueAt(declared: JsonObject, path: Pointer): { readonly after?: JsonValue } {
  const value = atPointer(declared, path);
  return value === undefined ? {} : { after: value as JsonValue };
}

function described(resource: Resource, path: Pointer, values: Pick<DraftChange, "before" | "after">): DraftChange {
  return { path, ...values, risk: "neutral", cause: { place: locationIn(resource, `/spec${path}`) } };
}
