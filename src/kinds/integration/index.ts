import type { JsonObject, JsonValue } from "../../model/json.ts";
import type { LiveIntegration } from "../../model/live.ts";
import type { Blocked } from "../../model/plan.ts";
import type { IntegrationSpec, Resource } from "../../model/resource.ts";
import { locationIn } from "../../model/resource.ts";
import { bindItem, goneInstruction } from "../identity.ts";
import { type AccountView, type DiffResult, emptyDiff, type Kind } from "../kind.ts";
import { leavesOf } from "../leaves.ts";
import { createBody, ownersNeedUsers } from "./create.ts";
import { compare, recordOf } from "./diff.ts";
import { identify, matchesKey } from "./identify.ts";
import { destinationOf, type IntegrationUnit } from "./unit.ts";

// The interface creates and reads integrations and has no call that changes one (interface §4.1): after the POST every difference is manual.

interface IntegrationLive {
  readonly all: readonly LiveIntegration[];
}

export const integration: Kind<IntegrationUnit, IntegrationLive> = {
  name: "Integration",
  listedIn: "integrations",

  references({ spec }) {
    const { destination } = spec as IntegrationSpec;
    return destination !== undefined && "asset" in destination
      ? [{ kind: "Asset", name: destination.asset, pointer: "/spec/destination/asset", orLive: false }]
      : [];
  },

  lists: (resource) => (ownersNeedUsers(resource.spec as IntegrationSpec) ? ["integrations", "users"] : ["integrations"]),

  identify: (resource, world) => identify(resource as Resource<IntegrationSpec>, world),

  baseline: ({ spec }) => {
    const { create } = spec as IntegrationSpec;
    return create === undefined ? {} : recordOf(create);
  },

  units(resources, world) {
    const units: IntegrationUnit[] = [];
    const blocked: Blocked[] = [];
    const deferred = [];
    for (const resource of resources as readonly Resource<IntegrationSpec>[]) {
      const { address } = resource;
      const identity = world.identities.get(address);
      if (identity?.state === "blocked")
        blocked.push({
          address,
          code: identity.code,
          message: identity.message,
          ...(identity.command === undefined ? {} : { command: identity.command }),
        });
      else if (identity?.state === "waits") deferred.push({ address, waitsFor: identity.on, desired: desired(resource) });
      else
        units.push({
          address,
          resource,
          destination: destinationOf(resource, world),
          ...(identity?.state === "found" ? { liveId: identity.id } : {}),
        });
    }
    return { units, blocked, deferred, problems: [] };
  },

  diff(unit, _live, world) {
    const identity = world.identities.get(unit.address);
    if (identity?.state === "gone")
      return { ...emptyDiff, manual: [{ address: unit.address, path: "", instruction: goneInstruction(unit.resource, identity.id) }] };
    return unit.liveId === undefined ? created(unit, world) : adopted(unit, unit.liveId, world);
  },

  reread: async (_item, reads) => ({ all: (await reads.integrations()).items }),

  document(item, live) {
    const matches = (live?.all ?? []).filter((candidate) => matchesKey(candidate, item.naturalKey ?? {})).map(({ id }) => id);
    return { matches };
  },
};

const desired = (resource: Resource<IntegrationSpec>): JsonValue => (resource.spec.create ?? {}) as JsonObject;

function created(unit: IntegrationUnit, world: AccountView): DiffResult {
  const { resource, destination } = unit;
  const { create } = resource.spec;
  if (create === undefined || destination.state !== "found") return emptyDiff;
  const made = createBody(create, destination.id, world.users);
  if (made.unknownPeople.length > 0)
    return {
      ...emptyDiff,
      problems: made.unknownPeople.map(({ email, pointer }) => ({
        code: "E_UNKNOWN_USER",
        severity: "error",
        summary: "Unknown user",
        message: `The account has no user with the e-mail address ${email}, so the owner's id can't be written. Correct the address, or have the user added.`,
        place: locationIn(resource, pointer),
        address: unit.address,
      })),
    };
  return {
    ...emptyDiff,
    items: [
      {
        address: unit.address,
        kind: "Integration",
        action: "create",
        changes: leavesOf(made.body).map(({ path, value }) => ({
          path,
          after: value,
          risk: "neutral",
          cause: { place: locationIn(resource, path === "/destinationId" ? "/spec/destination" : `/spec/create${path}`) },
        })),
        requests: [{ method: "POST", path: "/v1/integrations", body: made.body }],
        observed: { "/matches": [] },
        naturalKey: { sourceName: create.sourceConfig.name, sourceType: create.sourceConfig.type, destinationId: destination.id },
        binding: recordOf(create),
      },
    ],
  };
}

function adopted(unit: IntegrationUnit, id: string, world: AccountView): DiffResult {
  const { resource, address } = unit;
  const live = world.integrations.find((candidate) => candidate.id === id);
  if (live === undefined) return emptyDiff;
  const differences = compare(unit, live, world.bindings.get(address));
  return { ...emptyDiff, items: bindItem(resource, id, live.name, world), ...differences };
}
