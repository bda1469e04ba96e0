import { byText, toAddress } from "../../model/address.ts";
import type { LiveTag } from "../../model/live.ts";
import type { Blocked, Deferred, DraftItem, Manual } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, type TagResource } from "../../model/resource.ts";
import { urlPath } from "../../model/url-path.ts";
import type { AccountView } from "../kind.ts";
import { fromIdentity, type Selected, selectIntegration, selectIntegrations } from "../select.ts";
import { isEmail, userToWrite } from "../users.ts";
import type { TagUnit } from "./fields.ts";
import { unknownUser } from "./fields.ts";

/** interface §2.5 */
type ResourceType = "Integration" | "DataAsset" | "Monitor";

interface Target {
  readonly type: ResourceType;
  readonly selected: Selected;
  readonly pointer: string;
}

interface Relations {
  readonly items: readonly DraftItem[];
  readonly manual: readonly Omit<Manual, "id">[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  readonly problems: readonly Problem[];
}

/** One POST for each declared relation that the live tag lacks; extra ones are manual where the tag is exclusive (product §3.3). */
export function relations(unit: TagUnit, live: LiveTag, account: AccountView): Relations {
  const { resource, address } = unit;
  const targets = (resource.spec.resources ?? []).flatMap((target, index) => targetsOf(target, `/spec/resources/${index}`, account));
  const related = new Set(live.taggedResources?.map(({ id }) => id));
  const wanted = new Map<string, Target>();
  const blocked: Blocked[] = [];
  const deferred = new Map<string, Deferred>();
  const problems: Problem[] = [];
  for (const target of targets) {
    const { selected } = target;
    if (selected.state === "found") wanted.set(selected.id, target);
    else if (selected.state === "waits") {
      const relation = `${address}#${selected.on}`;
      deferred.set(relation, {
        address: relation,
        waitsFor: [selected.on],
        desired: { tag: live.name, resource: selected.on, resourceType: target.type },
      });
    } else if (selected.code === "E_DEPENDENCY") {
      blocked.push({
        address: `${address}#${toAddress(target.type === "DataAsset" ? "Asset" : "Integration", selected.label.replace(/^Asset\//u, ""))}`,
        code: selected.code,
        message: selected.message,
      });
    } else {
      const summary = selected.code === "E_AMBIGUOUS" ? "Ambiguous reference" : "Unknown reference";
      problems.push({
        code: selected.code,
        severity: "error",
        summary,
        message: `${address} lists an integration. ${selected.message}`,
        place: locationIn(resource, target.pointer),
        address,
      });
    }
  }
  const missing = [...wanted].filter(([id]) => !related.has(id)).sort(([a], [b]) => byText(a, b));
  const tagger = missing.length === 0 ? undefined : taggedBy(unit, account);
  const items: DraftItem[] = [];
  if (typeof tagger === "object") problems.push(tagger);
  else if (tagger !== undefined) for (const [id, target] of missing) items.push(relate(unit, live, id, target, tagger));
  return { items, manual: extra(unit, live, new Set(wanted.keys())), blocked, deferred: [...deferred.values()], problems };
}

function targetsOf(target: TagResource, pointer: string, account: AccountView): readonly Target[] {
  if ("integration" in target)
    return [{ type: "Integration", selected: selectIntegration(target.integration, account), pointer: `${pointer}/integration` }];
  if ("integrations" in target)
    return selectIntegrations(target.integrations, account).map((selected) => ({
      type: "Integration",
      selected,
      pointer: `${pointer}/integrations`,
    }));
  if ("asset" in target) {
    const address = toAddress("Asset", target.asset);
    return [{ type: "DataAsset", selected: fromIdentity(address, address, account.identities.get(address)), pointer: `${pointer}/asset` }];
  }
  if ("dataAsset" in target)
    return [{ type: "DataAsset", selected: { state: "found", id: target.dataAsset.id, label: target.dataAsset.id }, pointer }];
  return [{ type: "Monitor", selected: { state: "found", id: target.monitor.id, label: target.monitor.id }, pointer }];
}

/** The id of the user who tags: the interface asks for an id (§2.5), so text in the form of an e-mail address is looked up too. */
function taggedBy(unit: TagUnit, account: AccountView): string | Problem {
  const own = unit.resource.spec.taggedBy;
  const person = own ?? account.taggedBy;
  if (person === undefined)
    return {
      code: "E_TAGGED_BY_MISSING",
      severity: "error",
      summary: "No tagging user",
      message: "A relation needs the user who tags (interface §2.5). Add spec.taggedBy, or defaults.taggedBy in dimsync.yaml.",
      place: locationIn(unit.resource, "/spec/resources", "key"),
      address: unit.address,
    };
  const email = typeof person === "string" ? (isEmail(person) ? person : undefined) : person.user;
  if (email === undefined) return person as string;
  const written = userToWrite({ user: email }, account.users);
  return typeof written === "string" ? written : unknownUser(unit, email, own === undefined ? "/spec/resources" : "/spec/taggedBy");
}

function relate(unit: TagUnit, live: LiveTag, resourceId: string, target: Target, tagger: string): DraftItem {
  return {
    address: `${unit.address}#${resourceId}`,
    kind: "Tag",
    action: "relate",
    liveId: live.id,
    liveName: live.name,
    changes: [
      {
        path: `/taggedResources/${resourceId.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        after: { resourceType: target.type, name: target.selected.label },
        risk: "neutral",
        cause: { place: locationIn(unit.resource, target.pointer) },
      },
    ],
    requests: [
      {
        method: "POST",
        path: urlPath(["v1", "tags", live.id, "relation"]),
        body: { resourceId, resourceType: target.type, taggedBy: tagger },
      },
    ],
    observed: {},
    naturalKey: { tagId: live.id, resourceId },
  };
}

function extra(unit: TagUnit, live: LiveTag, wanted: ReadonlySet<string>): Relations["manual"] {
  if (unit.resource.spec.exclusive !== true) return [];
  return (live.taggedResources ?? [])
    .filter(({ id }) => !wanted.has(id))
    .sort((a, b) => byText(a.id, b.id))
    .map(({ id }) => ({
      address: `${unit.address}#${id}`,
      path: "",
      actual: id,
      instruction: `Remove the tag ${JSON.stringify(live.name)} from ${id} in the service: the tag is exclusive, no manifest declares this relation, and the interface has no call that ends one.`,
    }));
}
