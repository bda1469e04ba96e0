import { type Address, byText, kindOf } from "../../base/model/address.ts";
import { blockedStep, byHandStep, waitingStep } from "../../base/model/draft-steps.ts";
import { toPointer, urlPath } from "../../base/model/json/pointer.ts";
import { locationIn, problemIn, type TagResource, type TagSpec } from "../../base/model/manifest.ts";
import { getOrAdd, once } from "../../base/model/maps.ts";
import type { DraftItem, DraftStep } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { maySend, whyNotSent } from "../../base/model/service.ts";
import { andMore } from "../../base/text/lists.ts";
import type { Account, DiffResult } from "../kind.ts";
import { integrations, type LiveTag, users } from "../lists.ts";
import { assetAddress, integrationAddress, isTag, kindNames, schemasAddress } from "../manifests.ts";
import { fromIdentity, integrationMatcher, nameInAddresses, type Selected, selectIntegration, selectIntegrations } from "../select.ts";
import { unclearUserProblem, userIdOf } from "../users.ts";
import type { TagUnit } from "./fields.ts";

/** As the interface names them (docs/service-interface.md). */
type ResourceType = "Integration" | "DataAsset" | "Monitor";

/** A resource that the manifest lists. */
interface Target {
  readonly type: ResourceType;
  readonly selected: Selected;
  /** Of its entry in the manifest. */
  readonly pointer: string;
}

/** A tag as far as its relations depend on it. */
type Taggable = Pick<LiveTag, "id" | "name" | "taggedResources">;

type Relations = Pick<DiffResult, "steps" | "problems">;

/**
 * One POST for each declared relation that the live tag lacks. If the tag is exclusive, one DELETE for each relation that is not declared, or a
 * step by hand if it is not possible.
 */
export function relations(unit: TagUnit, live: Taggable, account: Account): Relations {
  const { manifest } = unit;
  const targets = (manifest.spec.resources ?? []).flatMap((target, index) => targetsOf(target, `/spec/resources/${index}`, account));
  const byId = new Map<string, Target>();
  const waiting = new Map<Address, DraftStep>();
  const blocked: DraftStep[] = [];
  const problems: Problem[] = [];
  for (const target of targets) {
    const { selected } = target;
    if (selected.state === "found") byId.set(selected.id, target);
    else if (selected.state === "waits") waiting.set(selected.on, waitingRelation(unit, live, target.type, selected.on));
    else if (selected.code === "E_DEPENDENCY") blocked.push(blockedRelation(unit, target.type, selected));
    else problems.push(unknownIntegration(unit, target.pointer, selected));
  }
  const missing = missingRelations(unit, live, byId, account);
  const unknown = [...blocked.map(({ address }) => address), ...problems.map(({ message }) => message)];
  const extra = extraRelations(unit, live, { declared: byId, unknown, account });
  return { steps: [...blocked, ...missing.steps, ...extra, ...waiting.values()], problems: [...problems, ...missing.problems] };
}

/** The live ids that the manifest lists or selects. */
export const relatedIds = ({ resources = [] }: TagSpec, account: Account): ReadonlySet<string> =>
  new Set(
    resources
      .flatMap((target) => targetsOf(target, "", account))
      .flatMap(({ selected }) => (selected.state === "found" ? [selected.id] : [])),
  );

type Unresolved = Extract<Selected, { readonly state: "unresolved" }>;

function waitingRelation({ address }: TagUnit, live: Taggable, resourceType: ResourceType, on: Address): DraftStep {
  const desired = { tag: live.name, resource: on, resourceType };
  return waitingStep({ verb: "relate", address: `${address}#${on}`, waitsFor: [on], desired, later: ["POST"] });
}

function blockedRelation({ address }: TagUnit, type: ResourceType, { name, code, message }: Unresolved): DraftStep {
  const resource = type === "DataAsset" ? name : integrationAddress(name);
  return blockedStep({ address: `${address}#${resource}`, code, message });
}

const unknownIntegration = ({ manifest, address }: TagUnit, pointer: string, { code, message }: Unresolved): Problem =>
  problemIn(manifest, pointer, { code, message: `${address} lists an integration. ${message}` });

/** Whether the entry names a manifest of other targets only. */
const isElsewhere = (target: TagResource, { elsewhere }: Account): boolean =>
  ("asset" in target && elsewhere.has(assetAddress(target.asset))) ||
  ("integration" in target && typeof target.integration === "string" && elsewhere.has(integrationAddress(target.integration)));

/** The live resources of one entry of `spec.resources`. */
function targetsOf(target: TagResource, pointer: string, account: Account): readonly Target[] {
  if (isElsewhere(target, account)) return [];
  if ("integration" in target)
    return [{ type: "Integration", selected: selectIntegration(target.integration, account), pointer: `${pointer}/integration` }];
  if ("integrations" in target) {
    const selected = selectIntegrations(target.integrations, account);
    return selected.map((one) => ({ type: "Integration", selected: one, pointer: `${pointer}/integrations` }));
  }
  if ("asset" in target) {
    const address = assetAddress(target.asset);
    return [{ type: "DataAsset", selected: fromIdentity(address, address, account.identities.get(address)), pointer: `${pointer}/asset` }];
  }
  const [type, { id }] = "dataAsset" in target ? (["DataAsset", target.dataAsset] as const) : (["Monitor", target.monitor] as const);
  return [{ type, selected: { state: "found", id, name: id }, pointer }];
}

/** The relations that the tag lacks. Each needs the user who adds the tag; a drift report sends nothing, so it needs none. */
function missingRelations(unit: TagUnit, live: Taggable, targets: ReadonlyMap<string, Target>, account: Account): Relations {
  const related = new Set(live.taggedResources?.map(({ id }) => id));
  const missing = [...targets].filter(([id]) => !related.has(id)).sort(([a], [b]) => byText(a, b));
  if (missing.length === 0) return { steps: [], problems: [] };
  const manifests = manifestsById(account);
  const relate = (taggedBy: string | undefined) =>
    missing.map(([id, target]) => {
      const after = manifests.get(`${target.type} ${id}`);
      return { ...relateItem(unit, live, { id, target, taggedBy }), ...(after === undefined ? {} : { after }) };
    });
  if (account.isDrift) return { steps: relate(undefined), problems: [] };
  const own = unit.manifest.spec.taggedBy;
  const ref = own ?? account.taggedBy;
  if (ref === undefined) return { steps: missing.map(([id]) => noTaggedBy(unit, id)), problems: [] };
  const userId = userIdOf(ref, account.list(users).items);
  if (typeof userId === "string") return { steps: relate(userId), problems: [] };
  const pointer = own === undefined ? "/spec/resources" : "/spec/taggedBy";
  return { steps: [], problems: [unclearUserProblem(unit.manifest, pointer, userId, account.list(users).items)] };
}

/** The manifests of a resource, by type and id: if one of them is bound to another id meanwhile, a relation with this id must not be sent. */
function manifestsById({ identities }: Account): ReadonlyMap<string, readonly Address[]> {
  const found = new Map<string, Address[]>();
  const types = [
    ["Integration", integrationAddress("")],
    ["DataAsset", assetAddress("")],
  ] as const;
  for (const [address, identity] of identities) {
    const type = types.find(([, prefix]) => address.startsWith(prefix))?.[0];
    if (type !== undefined && identity.state === "found") getOrAdd(found, `${type} ${identity.id}`, () => []).push(address);
  }
  return found;
}

const noTaggedBy = ({ address }: TagUnit, resourceId: string): DraftStep =>
  blockedStep({
    address: `${address}#${resourceId}`,
    code: "E_MISSING_KEY",
    message: "The request needs the user who adds the tag. Set spec.taggedBy, or defaults.taggedBy in dimsync.yaml.",
  });

interface Relation {
  readonly id: string;
  readonly target: Target;
  /** A user id; undefined in a drift report. */
  readonly taggedBy: string | undefined;
}

function relateItem(unit: TagUnit, live: Taggable, { id, target, taggedBy }: Relation): DraftItem {
  const { manifest, address } = unit;
  return {
    address: `${address}#${id}`,
    kind: manifest.kind,
    verb: "relate",
    standing: "ready",
    liveId: live.id,
    liveName: live.name,
    changes: [
      {
        path: toPointer(["taggedResources", id]),
        after: { resourceType: target.type, name: target.selected.name },
        risk: "neutral",
        cause: { place: locationIn(manifest, target.pointer) },
      },
    ],
    requests: [
      {
        method: "POST",
        path: urlPath(["v1", "tags", live.id, "relation"]),
        body: { resourceId: id, resourceType: target.type, ...(taggedBy === undefined ? {} : { taggedBy }) },
      },
    ],
    naturalKey: { tagId: live.id, resourceId: id },
  };
}

interface Declared {
  readonly declared: ReadonlyMap<string, Target>;
  /** What the manifest lists and is not known: each of the other relations may be it. */
  readonly unknown: readonly string[];
  readonly account: Account;
}

/** The relations that an exclusive tag has and no entry declares. */
function extraRelations(unit: TagUnit, live: Taggable, { declared, unknown, account }: Declared): readonly DraftStep[] {
  const { address: tag } = unit;
  const names = account.list(integrations).byId;
  // What left a selector by a rename in the account keeps its tag, which the engine reports. What the list has no longer has no tag to lose.
  const selectors = (unit.manifest.spec.resources ?? []).flatMap((one) => ("integrations" in one ? [one.integrations] : []));
  const hasLeft = (id: string): boolean => {
    const [was, name] = [account.covered.get(tag)?.get(id), names.get(id)?.name];
    const labels = account.naming.manifests.get(id)?.labels ?? {};
    if (was === undefined || was === name) return false;
    return selectors.some((selector) => integrationMatcher(selector)({ names: [was], labels }));
  };
  const extra =
    unit.manifest.spec.exclusive === true ? (live.taggedResources ?? []).filter(({ id }) => !declared.has(id) && !hasLeft(id)) : [];
  const resources = once(() => resourcesById(account));
  return extra
    .toSorted((a, b) => byText(a.id, b.id))
    .map(({ id }) => {
      const address = `${tag}#${id}`;
      const known = resources().get(id);
      const why =
        known === undefined && maySend(account.extended, removal)
          ? "the request needs the type of the resource, which no list, manifest or record shows."
          : whyNotSent(account.extended, removal);
      if (known === undefined || !maySend(account.extended, removal)) {
        const resource = known === undefined ? id : `${known.type} ${JSON.stringify(known.name)} (${id})`;
        const instruction = `Remove the tag ${JSON.stringify(live.name)} from ${resource} in the service, because the tag is exclusive and no manifest declares this relation: ${why}`;
        return byHandStep({ address, path: "", instruction });
      }
      if (unknown.length > 0) {
        const message = `It is not removed, because the manifest may declare it: spec.resources has entries whose resources are not known (${andMore(unknown, "entry")}).`;
        return blockedStep({ address, code: "E_DEPENDENCY", message });
      }
      return unrelateItem(unit, live, { id, ...known, account });
    });
}

const removal = "DELETE /v1/tags/{id}/relation";

interface KnownResource {
  readonly type: ResourceType;
  readonly name: string;
}

/** By id, the resources whose type a list, a manifest or the records show; no read of a tag does. Without those that may be of several types. */
function resourcesById(account: Account): ReadonlyMap<string, KnownResource> {
  const found = new Map<string, KnownResource | undefined>();
  const add = (type: ResourceType, id: string, name = id): void => {
    const isOther = found.has(id) && found.get(id)?.type !== type;
    if (isOther || !found.has(id)) found.set(id, isOther ? undefined : { type, name: name || id });
  };
  for (const { id, name, source, destination } of account.list(integrations).items) {
    add("Integration", id, name);
    for (const asset of [source, destination]) if (asset?.id) add("DataAsset", asset.id, asset.name);
  }
  const recorded = [...account.lookup.recorded].flatMap(([id, addresses]) => addresses.map((address) => [kindOf(address), id] as const));
  const pinned = account.manifests.flatMap(({ kind, id }) => (id === undefined ? [] : [[kind, id] as const]));
  for (const [kind, id] of [...recorded, ...pinned])
    if (kind === kindNames.integration || kind === kindNames.asset) add(kind === kindNames.asset ? "DataAsset" : "Integration", id);
  for (const target of account.manifests.filter(isTag).flatMap(({ spec }) => spec.resources ?? [])) {
    if ("dataAsset" in target) add("DataAsset", target.dataAsset.id);
    else if ("monitor" in target) add("Monitor", target.monitor.id);
    else if ("integration" in target && typeof target.integration === "object") add("Integration", target.integration.id);
  }
  return new Map([...found].flatMap(([id, known]) => (known === undefined ? [] : [[id, known] as const])));
}

const hiddenByTag = "what the service hides because of the tag can become readable";

/** What the service hides because of the tag becomes readable, so what protects the resource is sent before. */
function unrelateItem(
  { manifest, address }: TagUnit,
  live: Taggable,
  { id, type, name, account }: KnownResource & { readonly id: string; readonly account: Account },
): DraftItem {
  return {
    address: `${address}#${id}`,
    kind: manifest.kind,
    verb: "unrelate",
    standing: "ready",
    liveId: live.id,
    liveName: live.name,
    changes: [
      {
        path: toPointer(["taggedResources", id]),
        before: name,
        after: null,
        risk: "exposes",
        cause: { place: locationIn(manifest, "/spec/exclusive"), ...(account.isDrift ? {} : { reason: hiddenByTag }) },
      },
    ],
    requests: [{ method: "DELETE", path: urlPath(["v1", "tags", live.id, "relation"]), body: { resourceId: id, resourceType: type } }],
    naturalKey: { tagId: live.id, resourceId: id },
    requires: [schemasAddress(nameInAddresses(id, account))],
  };
}
