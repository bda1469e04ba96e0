import { type Address, byText } from "../../base/model/address.ts";
import { waitingStep } from "../../base/model/draft-steps.ts";
import type { JsonValue } from "../../base/model/json/json.ts";
import { locationIn, type Manifest, problemIn, type Reference, type TagSpec } from "../../base/model/manifest.ts";
import type { DraftItem, DraftStep } from "../../base/model/plan.ts";
import { maySend, whyNotSent } from "../../base/model/service.ts";
import { bindCommand } from "../../base/text/shell.ts";
import { fold, nearest, suggestion } from "../../base/text/suggest.ts";
import { inlineYaml } from "../../base/yaml/print.ts";
import { columnsOf, type Fields, readOnlyMessage, unintendedIn, writtenDocument } from "../fields.ts";
import { bindItem, blocked, boundIdentity, candidateTexts, goneObject, recordedFor, unitPerManifest, unreadable } from "../identity.ts";
import { type Account, type DiffResult, emptyDiff, type Identity, type ImportContext, type ImportedObjects, type Kind } from "../kind.ts";
import { createChanges } from "../leaves.ts";
import { integrations, type LiveTag, tagFields, tags, users } from "../lists.ts";
import { kindNames } from "../manifests.ts";
import { needsUsers, plainEmailWarning, unclearUserProblem, userIdOf, userRefFor } from "../users.ts";
import { fieldChanges, fieldCount, type TagUnit, writtenOf } from "./fields.ts";
import { relatedIds, relations } from "./relations.ts";

/** The POST of a tag, after which its relations can be sent. It takes the owner as the id of a user. */
function createdTag(unit: TagUnit, account: Account): DiffResult {
  const { manifest, address } = unit;
  const { name, owner: ref = "" } = manifest.spec;
  const { items: known } = account.list(users);
  const owner = userIdOf(ref, known);
  if (typeof owner === "object") return { ...emptyDiff, problems: [unclearUserProblem(manifest, "/spec/owner", owner, known)] };
  const body = { ...writtenOf(manifest.spec), owner };
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    verb: "create",
    standing: "ready",
    changes: createChanges(manifest, body),
    requests: [{ method: "POST", path: "/v1/tags", body }],
    naturalKey: { name: fold(name) },
  };
  const related = relations(unit, { id: "", name, taggedResources: [] }, account);
  return {
    ...emptyDiff,
    steps: [item, ...related.steps.map((step) => afterCreate(step, address))],
    problems: [...plainEmailWarning(ref, known, locationIn(manifest, "/spec/owner")), ...related.problems],
  };
}

/** A relation of a tag that does not exist yet waits for it. */
function afterCreate(step: DraftStep, tag: Address): DraftStep {
  const { address, standing, changes, requests, waitsFor = [] } = step;
  if (standing === "waits") return { ...step, waitsFor: [tag, ...waitsFor] };
  if (standing !== "ready") return step;
  const [{ after = null } = {}] = changes;
  return waitingStep({ verb: "relate", address, waitsFor: [tag], desired: after, later: requests.map(({ method }) => method) });
}

const imported: ImportedObjects<LiveTag> = {
  skips: ({ name }) => (name === "" ? "has no name" : undefined),
  manifest(live, context) {
    const { account } = context;
    const { resources, untyped } = resourcesOf(live, context);
    const owner = userRefFor(live.owner, account.list(users).items);
    return {
      body: {
        spec: {
          ...writtenOf({ ...live, owner }),
          resources,
        },
      },
      after: untypedComment(untyped),
      ...(resources.length > 0 && account.taggedBy === undefined ? { notice: noTagger } : {}),
    };
  },
};

/** Import cannot know the user; without one, the next resource that the user adds to a tag is an error. */
const noTagger =
  "Creating a tag relation needs the user who tags. Before you add resources to a tag, set defaults.taggedBy in dimsync.yaml to the e-mail address of a user.";

/** The entries for the resources of a tag: integrations and assets by name. `untyped`: ids whose type the service does not return. */
function resourcesOf(
  tag: LiveTag,
  { account, nameOf }: ImportContext,
): { readonly resources: readonly JsonValue[]; readonly untyped: readonly string[] } {
  const ids = [...new Set((tag.taggedResources ?? []).map(({ id }) => id))].sort(byText);
  const entries: { readonly key: string; readonly entry: JsonValue }[] = [];
  const untyped: string[] = [];
  for (const id of ids) {
    const integration = nameOf(kindNames.integration, id);
    const asset = nameOf(kindNames.asset, id);
    if (integration !== undefined) entries.push({ key: `1 ${integration}`, entry: { integration } });
    else if (account.list(integrations).byId.has(id)) entries.push({ key: `2 ${id}`, entry: { integration: { id } } });
    else if (asset !== undefined) entries.push({ key: `3 ${asset}`, entry: { asset } });
    else untyped.push(id);
  }
  return { resources: entries.sort((a, b) => byText(a.key, b.key)).map(({ entry }) => entry), untyped };
}

const untypedComment = (ids: readonly string[]): readonly string[] =>
  ids.length === 0
    ? []
    : [
        "  # Also tagged; the service does not return the type of these. To manage one, add it to resources (a monitor as `monitor`):",
        ...ids.map((id) => `  # - dataAsset: { id: ${inlineYaml(id)} }`),
      ];

// The interface has calls that list, read and change tags and attach them to resources. Requests beyond it create
// one and remove a relation (docs/writes.md).

const specOf = (manifest: Manifest): TagSpec => manifest.spec as TagSpec;
/** Fields that only the service sets. `taggedResources` is a list, so the table does not have it. */
const readOnly: Fields = { ...tagFields, taggedResources: { as: "optional", instead: "List what has the tag under spec.resources." } };

const hasResources = (spec: TagSpec): boolean => (spec.resources?.length ?? 0) > 0 || spec.exclusive === true;

export const tag: Kind<TagUnit, LiveTag> = {
  name: kindNames.tag,
  list: tags,
  imported,
  // A mistyped name must not become a tag.
  defaultCreate: "never",

  hints(manifest) {
    if (manifest.lifecycle.create === "never" || specOf(manifest).owner !== undefined) return [];
    const message = "With `lifecycle.create: ifMissing`, `owner` is required, because the request that creates a tag needs a user.";
    return [problemIn(manifest, "/spec", { code: "E_MISSING_KEY", message })];
  },

  references(manifest) {
    return (specOf(manifest).resources ?? []).flatMap((target, index): readonly Reference[] => {
      const pointer = `/spec/resources/${index}`;
      if ("integration" in target && typeof target.integration === "string")
        return [
          { kind: kindNames.integration, name: target.integration, pointer: `${pointer}/integration`, orLive: true, isOneOfMany: true },
        ];
      if ("asset" in target)
        return [{ kind: kindNames.asset, name: target.asset, pointer: `${pointer}/asset`, orLive: false, isOneOfMany: true }];
      return [];
    });
  },

  lists(manifest, defaults) {
    const spec = specOf(manifest);
    const targets = spec.resources ?? [];
    const needsTagger = targets.length > 0 && !defaults.isDrift;
    const byEmail = needsUsers(spec.owner) || (needsTagger && needsUsers(spec.taggedBy ?? defaults.taggedBy));
    const byName = targets.some(
      (target) => ("integration" in target && typeof target.integration === "string") || "integrations" in target,
    );
    // The list shows which of the resources are integrations.
    const removes = spec.exclusive === true && maySend(defaults.extended, "DELETE /v1/tags/{id}/relation");
    return [tags, ...(byEmail ? [users] : []), ...(byName || removes ? [integrations] : [])];
  },

  selection: {
    selectors: (manifest) => (specOf(manifest).resources ?? []).flatMap((target) => ("integrations" in target ? target.integrations : [])),
    covers: (manifest, id, account) => relatedIds(specOf(manifest), account).has(id),
    lost: () => Promise.resolve("the manifest no longer requires it to have the tag"),
  },

  related: (manifest, account) => (specOf(manifest).exclusive === true ? undefined : relatedIds(specOf(manifest), account)),

  isPlainKey: (path) => path.at(-1) === "labels",

  readOnlyField(parent, key) {
    return parent === "/spec" ? readOnlyMessage(readOnly, key) : undefined;
  },

  liveView: {
    columns: columnsOf(tagFields),
    more: ["taggedResources"],
    rows: (value) => {
      const tagged = "taggedResources" in value && Array.isArray(value.taggedResources) ? value.taggedResources : [];
      return [{ ...value, taggedResources: tagged.map(({ id }: { readonly id: string }) => id).join(", ") }];
    },
  },

  identify: (manifest, account) => boundIdentity(manifest, account) ?? lookUp(manifest as Manifest<TagSpec>, account),

  units: (manifests, account) => unitPerManifest(manifests, account),

  // Only GET of a single tag returns its resources. If the manifest has no resources, the list is
  // enough.
  async observe({ manifest, liveId }, reads) {
    if (liveId === undefined) return undefined;
    const listed = (await reads.list(tags)).items.find(({ id }) => id === liveId);
    const live = hasResources(manifest.spec) ? await reads.one(tags, liveId) : listed;
    if (live === undefined && listed !== undefined) throw unreadable(tags.name, liveId, "The list of tags");
    return live;
  },

  diff(unit, live, account) {
    const { address, manifest, liveId } = unit;
    const identity = account.identities.get(address);
    const goneId = identity?.state === "gone" ? identity.id : live === undefined ? liveId : undefined;
    if (goneId !== undefined) return goneObject(manifest, goneId);
    if (identity?.state === "absent") return createdTag(unit, account);
    if (live === undefined || liveId === undefined) return emptyDiff;
    const fields = fieldChanges(unit, live, account);
    const related = relations(unit, live, account);
    return {
      ...emptyDiff,
      steps: [...bindItem(manifest, live, account), ...fields.steps, ...related.steps],
      problems: [...fields.problems, ...related.problems],
      size: { address, count: fieldCount, unit: "fields" },
    };
  },

  async find({ name, tagId, resourceId }, reads) {
    if (name !== undefined) return (await reads.list(tags)).items.filter((live) => fold(live.name) === name).map(({ id }) => id);
    const live = tagId === undefined ? undefined : await reads.one(tags, tagId);
    if (live === undefined) return "gone";
    return (live.taggedResources ?? []).map(({ id }) => id).filter((id) => id === resourceId);
  },

  update: {
    reread: (item, reads) => (item.liveId === undefined ? Promise.resolve(undefined) : reads.one(tags, item.liveId)),

    document({ requests: [request] }, live) {
      if (live === undefined) return {};
      const description = live.description ?? (request?.body["description"] === "" ? "" : undefined);
      return writtenDocument(tagFields, { ...live, description });
    },

    answered: (before, answer, decode) => ({
      ...decode.put(tags, answer),
      ...(before?.taggedResources === undefined ? {} : { taggedResources: before.taggedResources }),
    }),

    unintended: (before, after, body) => unintendedIn(tagFields, { before, after }, body),
  },
};

function lookUp(manifest: Manifest<TagSpec>, account: Account): Identity {
  const name = JSON.stringify(manifest.spec.name);
  const live = account.list(tags);
  const found = live.byName.get(manifest.spec.name) ?? [];
  const ids = found.map(({ id }) => id).sort(byText);
  const [first, ...others] = ids;
  if (first === undefined) return missing(manifest, account);
  if (others.length === 0) return { state: "found", id: first, by: "look-up" };
  const owners = ids.map((id) => recordedFor(manifest, id, account)[0]);
  if (owners.includes(undefined))
    return blocked(
      "E_AMBIGUOUS",
      `${ids.length} live tags have the name ${name}: ${candidateTexts(found)}. Pin the right one with metadata.id.`,
    );
  const seen = ids.map((id, index) => `${id} (${owners[index]})`).join(", ");
  const message = `The ${ids.length} live tags with the name ${name} belong to other manifests: ${seen}. If one of them is meant, pin it with metadata.id and remove the other manifest.`;
  return blocked("E_TAG_MISSING", message);
}

/** No tag has exactly this name. It is created only if none has it in another form, either. */
function missing(manifest: Manifest<TagSpec>, account: Account): Identity {
  const { name } = manifest.spec;
  const { items, byName } = account.list(tags);
  const near = nearest(name, byName.keys());
  const similar = near === undefined ? "" : suggestion(name, near, ` (${byName.get(near)?.[0]?.id ?? ""})`);
  const none = `The account has no tag named ${JSON.stringify(name)}.${similar}`;
  const [alike] = items.filter((live) => fold(live.name) === fold(name));
  const isWanted = manifest.lifecycle.create === "ifMissing";
  const isOffered = maySend(account.extended, "POST /v1/tags");
  if (isWanted && alike !== undefined) {
    const message = `${none} No second tag is created whose name differs only in case, white space or Unicode form. Correct spec.name; or bind the tag, and the next plan renames it:`;
    return blocked("E_TAG_MISSING", message, bindCommand(manifest.address, alike.id));
  }
  if (isWanted && isOffered) return { state: "absent" };
  const why = isWanted ? `: ${whyNotSent(account.extended, "POST /v1/tags")}` : isOffered ? ", or set lifecycle.create: ifMissing." : ".";
  const instead = similar === "" ? "Create it" : "If not, create it";
  const message = `${none} ${instead} in the service${why} The next run finds it by name. Until then its relations are skipped.`;
  return blocked("E_TAG_MISSING", message);
}
