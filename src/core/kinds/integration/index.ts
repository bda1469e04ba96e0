import { waitingStep } from "../../base/model/draft-steps.ts";
import { defined, isObject, type JsonObject } from "../../base/model/json/json.ts";
import { leavesOf } from "../../base/model/json/pointer.ts";
import type { LiveIntegration, LiveReference } from "../../base/model/live.ts";
import type { IntegrationSpec, Manifest, Reference } from "../../base/model/manifest.ts";
import { unknownValue } from "../hints.ts";
import { bindItem, goneObject, recordOf, unitPerManifest } from "../identity.ts";
import { type Account, type DiffResult, emptyDiff, type ImportedObjects, type Kind } from "../kind.ts";
import { details, integrations, settingNames, unshownIntegration, users } from "../lists.ts";
import { kindNames, schemasAddress } from "../manifests.ts";
import { isConfigured } from "../select.ts";
import { tagReferences } from "../tags.ts";
import { createdIntegration, ownersNeedUsers } from "./create.ts";
import { compareIntegration, type IntegrationUnit, placesOf, recordOfCreate } from "./diff.ts";
import { destinationOf, identify, matchesKey, sourceOf } from "./identify.ts";
import { contradictions, needsDetails, settingChanges, settingsDocument, shownSettings, unintendedSettings } from "./settings.ts";

const withKnownValues = [
  ...settingNames.flatMap((name) => [`/spec/create/${name}`, `/spec/settings/${name}`]),
  "/spec/create/sourceConfig/authMethod",
  "/spec/create/sourceConfig/connectionType",
  "/spec/create/sourceSettings/incremental_mode",
];

/** The manifest has no `create`, since the integration exists. */
const imported: ImportedObjects<LiveIntegration> = {
  skips: ({ isDraft }) => (isDraft ? "is a draft" : undefined),
  needs: ({ source, destination }) => [source, destination].flatMap((reference) => reference?.id || []),
  fits: ({ name, spec }, live, slug) => {
    const { match, expect, create, settings } = spec as IntegrationSpec;
    const wanted = match?.name ?? settings?.name ?? expect?.name;
    return create === undefined && (wanted === undefined ? name === slug : wanted === live.name);
  },
  manifest(live, { nameOf, account }) {
    const { id, name, paused, source, destination } = live;
    const destinationId = destination?.id || undefined;
    const asset = destinationId && nameOf(kindNames.asset, destinationId);
    const named = asset ? { asset } : destinationId && { id: destinationId };
    const settings = account.extended === undefined ? undefined : shownSettings(live);
    const expected = settings === undefined ? { name: name || undefined, paused } : {};
    const expect = defined({ ...expected, source: source && shownOf(source) });
    return { body: { spec: defined({ destination: named, settings, expect }) as JsonObject }, integration: id };
  },
};

// The interface has calls that create and read integrations, but none that changes one
// (docs/service-interface.md). Settings change with a request beyond it (docs/writes.md); other differences are steps by hand.

export const integration: Kind<IntegrationUnit, LiveIntegration> = {
  name: kindNames.integration,
  list: integrations,
  imported,

  references({ spec }) {
    const { destination, create } = spec as IntegrationSpec;
    const asset = (end: object | string | undefined, pointer: string): readonly Reference[] =>
      typeof end === "object" && "asset" in end ? [{ kind: kindNames.asset, name: String(end.asset), pointer, orLive: false }] : [];
    return [
      ...asset(destination, "/spec/destination/asset"),
      ...asset(create?.sourceId, "/spec/create/sourceId/asset"),
      ...tagReferences(create?.tags, "/spec/create/tags"),
    ];
  },

  hints: (manifest) => [
    ...withKnownValues.flatMap((pointer) => unknownValue(manifest, pointer)),
    ...contradictions(manifest as Manifest<IntegrationSpec>),
  ],

  lists: (manifest) => (ownersNeedUsers(manifest.spec as IntegrationSpec) ? [integrations, users] : [integrations]),

  places: placesOf,

  readOnlyField(parent, key) {
    if ((parent === "/spec" || parent === "/spec/create") && (key === "paused" || key === "source"))
      return key === "paused"
        ? "Write `paused` under spec.settings. Of a new integration, it decides `enabled`."
        : `The service shows \`${key}\`, and dimsync has no request that changes it. Assert it under spec.expect instead, or change it in the service.`;
    if (parent === "/spec/create" && key === "destinationId")
      return "`destinationId` is taken from spec.destination. Write spec.destination: { asset: NAME } or { id: ID }.";
    return undefined;
  },

  liveView: {
    columns: ["id", "name", "paused", "source.name", "source.type", "destination.name", "createdAt"],
    more: details,
  },

  identify: (manifest, account) => identify(manifest as Manifest<IntegrationSpec>, account),

  baseline: ({ spec }) => {
    const { create } = spec as IntegrationSpec;
    return create === undefined ? {} : recordOfCreate(create);
  },

  units(manifests, account) {
    const found = unitPerManifest<IntegrationSpec>(manifests, account, ({ create = {} }) => create as JsonObject);
    return {
      ...found,
      units: found.units.map((unit) => ({
        ...unit,
        destination: destinationOf(unit.manifest, account),
        source: sourceOf(unit.manifest, account),
      })),
    };
  },

  observe: async ({ manifest, liveId = "" }, reads) => {
    const listed = (await reads.list(integrations)).items.find(({ id }) => id === liveId);
    const isUnclear = listed?.isInCreation === true || needsDetails(manifest.spec);
    return isUnclear && manifest.spec.settings !== undefined ? await reads.one(integrations, liveId) : listed;
  },

  diff(unit, live, account) {
    const identity = account.identities.get(unit.address);
    if (identity?.state === "gone") return goneObject(unit.manifest, identity.id);
    return unit.liveId === undefined
      ? createdIntegration(unit, account)
      : adopted(unit, live ?? account.list(integrations).byId.get(unit.liveId), account);
  },

  replicatesAtOnce: (desired) => isObject(desired) && desired["enabled"] !== false,

  find: async (key, reads) => (await reads.list(integrations)).items.filter((live) => matchesKey(live, key)).map(({ id }) => id),

  update: {
    reread: ({ liveId = "" }, reads) => reads.one(integrations, liveId),
    document: (_item, live) => (live === undefined ? {} : settingsDocument(live)),
    // The response shows at most whether it is paused, so the integration is read again.
    answered: (before) => before ?? unshownIntegration,
    unintended: unintendedSettings,
    showsLate: true,
  },
};

const shownOf = ({ name, type }: LiveReference) => defined({ name: name || undefined, type: type || undefined });

function adopted(unit: IntegrationUnit, live: LiveIntegration | undefined, account: Account): DiffResult {
  if (live === undefined) return emptyDiff;
  const { manifest, address } = unit;
  const { id } = live;
  const schemas = schemasAddress(account.naming.ofLive.get(id) ?? id);
  const needed = isConfigured(schemas, account) ? [schemas] : [];
  const { expect, create, settings } = manifest.spec;
  if (live.isInCreation === true && settings !== undefined) {
    const desired = settings as JsonObject; // what a manifest declares is JSON
    return {
      ...emptyDiff,
      steps: [...bindItem(manifest, live, account), waitingStep({ verb: "update", address, liveId: id, waitsFor: needed, desired })],
    };
  }
  const own = compareIntegration(unit, live, recordOf(manifest, id, account));
  const changed = settingChanges(unit, live, { account, requires: () => needed });
  const size = { address, count: leavesOf({ expect, create, settings }).length, unit: "fields" } as const;
  return {
    ...emptyDiff,
    steps: [...bindItem(manifest, live, account), ...changed, ...own],
    size,
  };
}
