import { type Address, byText } from "../../model/address.ts";
import { toPointer, urlPath } from "../../model/json/pointer.ts";
import type { LiveTag } from "../../model/live.ts";
import { getOrAdd } from "../../model/maps.ts";
import type { Blocked, Deferred, DraftItem } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, problemIn, type TagResource, type TagSpec } from "../../model/resource.ts";
import type { AccountView, DiffResult } from "../kind.ts";
import { users } from "../lists.ts";
import { assetAddress, integrationAddress } from "../manifests.ts";
import { fromIdentity, type Selected, selectIntegration, selectIntegrations } from "../select.ts";
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

type Relations = Pick<DiffResult, "items" | "manual" | "blocked" | "deferred" | "problems">;

/** One POST for each declared relation that the live tag lacks. Extra relations are manual if the tag is exclusive. */
export function relations(unit: TagUnit, live: Taggable, account: AccountView): Relations {
  const { resource } = unit;
  const targets = (resource.spec.resources ?? []).flatMap((target, index) => targetsOf(target, `/spec/resources/${index}`, account));
  const byId = new Map<string, Target>();
  const deferred = new Map<Address, Deferred>();
  const blocked: Blocked[] = [];
  const problems: Problem[] = [];
  for (const target of targets) {
    const { selected } = target;
    if (selected.state === "found") byId.set(selected.id, target);
    else if (selected.state === "waits") deferred.set(selected.on, waitingRelation(unit, live, target.type, selected.on));
    else if (selected.code === "E_DEPENDENCY") blocked.push(blockedRelation(unit, target.type, selected));
    else problems.push(unknownIntegration(unit, target.pointer, selected));
  }
  const missing = missingRelations(unit, live, byId, account);
  return {
    items: missing.items,
    manual: extraRelations(unit, live, byId),
    blocked: [...blocked, ...missing.blocked],
    deferred: [...deferred.values()],
    problems: [...problems, ...missing.problems],
  };
}

/** The live ids that the manifest lists or selects. */
export const relatedIds = ({ resources = [] }: TagSpec, account: AccountView): ReadonlySet<string> =>
  new Set(
    resources
      .flatMap((target) => targetsOf(target, "", account))
      .flatMap(({ selected }) => (selected.state === "found" ? [selected.id] : [])),
  );

type Unresolved = Extract<Selected, { readonly state: "unresolved" }>;

function waitingRelation({ address }: TagUnit, live: Taggable, resourceType: ResourceType, on: Address): Deferred {
  return { address: `${address}#${on}`, waitsFor: [on], desired: { tag: live.name, resource: on, resourceType } };
}

function blockedRelation({ address }: TagUnit, type: ResourceType, { name, code, message }: Unresolved): Blocked {
  const resource = type === "DataAsset" ? name : integrationAddress(name);
  return { address: `${address}#${resource}`, code, message };
}

const unknownIntegration = ({ resource, address }: TagUnit, pointer: string, { code, message }: Unresolved): Problem =>
  problemIn(resource, pointer, { code, message: `${address} lists an integration. ${message}` });

/** Whether the entry names a manifest of other targets only. */
const isElsewhere = (target: TagResource, { elsewhere }: AccountView): boolean =>
  ("asset" in target && elsewhere.has(assetAddress(target.asset))) ||
  ("integration" in target && typeof target.integration === "string" && elsewhere.has(integrationAddress(target.integration)));

/** The live resources of one entry of `spec.resources`. */
function targetsOf(target: TagResource, pointer: string, account: AccountView): readonly Target[] {
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
function missingRelations(
  unit: TagUnit,
  live: Taggable,
  targets: ReadonlyMap<string, Target>,
  account: AccountView,
): Pick<Relations, "items" | "blocked" | "problems"> {
  const related = new Set(live.taggedResources?.map(({ id }) => id));
  const missing = [...targets].filter(([id]) => !related.has(id)).sort(([a], [b]) => byText(a, b));
  if (missing.length === 0) return { items: [], blocked: [], problems: [] };
  const manifests = manifestsById(account);
  const relate = (taggedBy: string | undefined) =>
    missing.map(([id, target]) => {
      const after = manifests.get(`${target.type} ${id}`);
      return { ...relateItem(unit, live, { id, target, taggedBy }), ...(after === undefined ? {} : { after }) };
    });
  if (account.isDrift) return { items: relate(undefined), blocked: [], problems: [] };
  const own = unit.resource.spec.taggedBy;
  const ref = own ?? account.taggedBy;
  if (ref === undefined) return { items: [], blocked: missing.map(([id]) => noTaggedBy(unit, id)), problems: [] };
  const userId = userIdOf(ref, account.list(users).items);
  if (typeof userId === "string") return { items: relate(userId), blocked: [], problems: [] };
  const pointer = own === undefined ? "/spec/resources" : "/spec/taggedBy";
  return { items: [], blocked: [], problems: [unclearUserProblem(unit.resource, pointer, userId, account.list(users).items)] };
}

/** The manifests of a resource, by type and id: if one of them is bound to another id meanwhile, a relation with this id must not be sent. */
function manifestsById({ identities }: AccountView): ReadonlyMap<string, readonly Address[]> {
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

const noTaggedBy = ({ address }: TagUnit, resourceId: string): Blocked => ({
  address: `${address}#${resourceId}`,
  code: "E_TAGGED_BY_MISSING",
  message: "The request needs the user who adds the tag. Set spec.taggedBy, or defaults.taggedBy in dimsync.yaml.",
});

interface Relation {
  readonly id: string;
  readonly target: Target;
  /** A user id; undefined in a drift report. */
  readonly taggedBy: string | undefined;
}

function relateItem(unit: TagUnit, live: Taggable, { id, target, taggedBy }: Relation): DraftItem {
  const { resource, address } = unit;
  return {
    address: `${address}#${id}`,
    kind: resource.kind,
    action: "relate",
    liveId: live.id,
    liveName: live.name,
    changes: [
      {
        path: toPointer(["taggedResources", id]),
        after: { resourceType: target.type, name: target.selected.name },
        risk: "neutral",
        cause: { place: locationIn(resource, target.pointer) },
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

function extraRelations({ resource, address }: TagUnit, live: Taggable, declared: ReadonlyMap<string, Target>): Relations["manual"] {
  if (resource.spec.exclusive !== true) return [];
  return (live.taggedResources ?? [])
    .filter(({ id }) => !declared.has(id))
    .sort((a, b) => byText(a.id, b.id))
    .map(({ id }) => ({
      address: `${address}#${id}`,
      path: "",
      actual: id,
      instruction: `Remove the tag ${JSON.stringify(live.name)} from ${id} in the service: the tag is exclusive, no manifest declares this relation, and dimsync has no request that removes one.`,
    }));
}
