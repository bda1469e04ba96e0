import { idOf, listOf, memberOf, optionalTextOf, type ResponsePart, shownFlag, shownText, textOf } from "../base/model/decode.ts";
import { readNow } from "../base/model/errors.ts";
import { defined, isObject, type JsonValue } from "../base/model/json/json.ts";
import type { LiveIntegration, LiveReference, LiveUser } from "../base/model/live.ts";
import type { IntegrationCreate, IntegrationSettings } from "../base/model/manifest.ts";
import type { Risk } from "../base/model/plan.ts";
import type { List } from "../base/model/service.ts";
import { decodeFields, type Fields, type LiveOf } from "./fields.ts";

// The lists of the service. Decoders throw ServiceError E_MALFORMED_ANSWER.

/** One setting of an integration. */
interface Setting {
  /** Whether the list shows it. Of the others, GET of one integration shows some or none. */
  readonly isListed?: true;
  /** Its value if GET shows another one and not this one; absent: unknown. */
  readonly ifAbsent?: string | null;
  /** Its member of a create, if that has another name and form. */
  readonly inCreate?: { readonly name: keyof IntegrationCreate; readonly of: (value: JsonValue) => JsonValue };
  /** Default: neutral. */
  readonly risk?: (before: JsonValue, after: JsonValue) => Risk;
  /** What a change that exposes does. */
  readonly exposes?: string;
  /** Settings of one group change each other: a schedule. */
  readonly group?: "schedule";
  /** Whether a change moves the integration out of its protection, or its data to other readers: dimsync never sends it after the create. */
  readonly isByHand?: true;
  /** What to do in the service if no request changes it. `is`: the integration, as a sentence names it. */
  readonly byHand: (after: JsonValue, is: string) => string;
}

const change =
  (what: string): Setting["byHand"] =>
  (after, is) =>
    after === null ? `Clear the ${what} of ${is} in the service` : `Set the ${what} of ${is} to ${JSON.stringify(after)} in the service`;

/** All settings: what `spec.settings` can have and a create takes. PATCH writes those that are not by hand. */
export const settings: Readonly<Record<keyof IntegrationSettings, Setting>> = {
  name: { isListed: true, isByHand: true, byHand: (after, is) => `Rename ${is} to ${JSON.stringify(after)} in the service` },
  paused: {
    isListed: true,
    inCreate: { name: "enabled", of: (paused) => paused !== true },
    risk: (_, after) => (after === false ? "exposes" : "neutral"),
    exposes: "replication resumes",
    byHand: (after, is) => `${after === true ? "Pause" : "Resume"} ${is} in the service`,
  },
  replicationFrequency: { ifAbsent: "manual", group: "schedule", byHand: change("replication frequency") },
  cronExpression: { ifAbsent: null, group: "schedule", byHand: change("cron expression") },
  baseTime: { ifAbsent: null, group: "schedule", byHand: change("base time") },
  destinationSchema: { isByHand: true, byHand: change("schema at the destination") },
  onSchemaUpdate: {
    risk: riskOfNewColumns,
    exposes: "new columns can be replicated, unhashed, before a plan sees them",
    byHand: change("behaviour for schema changes"),
  },
  agentId: { ifAbsent: null, isByHand: true, byHand: change("agent") },
};

/** Values of `onSchemaUpdate` that replicate nothing new. */
export const replicatesNothingNew: readonly JsonValue[] = ["ignoreAll", "pauseConnection"];

/** A value that dimsync does not know may replicate new columns, unhashed. */
function riskOfNewColumns(before: JsonValue, after: JsonValue): Risk {
  const [was, is] = [before, after].map((value) => !replicatesNothingNew.includes(value));
  return is ? "exposes" : was ? "protects" : "neutral";
}

export const settingNames = Object.keys(settings) as readonly (keyof IntegrationSettings)[]; // the keys of the record

/** The settings that only GET of one integration shows, if any request does. */
export const details = settingNames.filter((name) => settings[name].isListed === undefined);

/** An integration of which no request has shown anything yet. */
export const unshownIntegration: LiveIntegration = {
  id: "",
  name: "",
  createdAt: undefined,
  paused: undefined,
  source: undefined,
  destination: undefined,
};

/** docs/service-interface.md#integrations */
export const integrations: List<LiveIntegration> = {
  name: "integrations",
  decode: decodeIntegration,
  // Descriptions of the service differ: the integration is in `data.integration`, or is `data` itself.
  one: (data) => {
    const inside = memberOf(data, "integration");
    return decodeIntegration(inside.value === undefined || inside.value === null ? data : inside);
  },
  inCreation: (id) => ({ ...unshownIntegration, id, isInCreation: true }),
  lacks: ({ source, destination }) => (!source?.id ? "source" : !destination?.id ? "destination" : undefined),
  isCreated: true,
  details,
};

/** docs/service-interface.md#users */
export const users: List<LiveUser> = {
  name: "users",
  decode: (part) => ({
    id: idOf(memberOf(part, "id")),
    email: textOf(memberOf(part, "email")),
    name: shownText(memberOf(part, "name")),
    createdAt: shownText(memberOf(part, "createdAt")),
  }),
};

function decodeIntegration(part: ResponsePart): LiveIntegration {
  return {
    id: idOf(memberOf(part, "id")),
    name: optionalTextOf(memberOf(part, "name")) ?? "",
    createdAt: shownText(memberOf(part, "createdAt")),
    paused: shownFlag(memberOf(part, "paused")),
    source: decodeReference(memberOf(part, "source")),
    destination: decodeReference(memberOf(part, "destination")),
    ...decodeDetails(part),
    ...(shownFlag(memberOf(part, "isDraft")) === true ? { isDraft: true } : {}),
  };
}

function decodeDetails(part: ResponsePart): Partial<LiveIntegration> {
  if (details.every((name) => memberOf(part, name).value === undefined)) return {};
  const shown = (name: (typeof details)[number]): string | null | undefined => {
    const member = memberOf(part, name);
    return shownText(member) ?? (isAbsent(member) ? settings[name].ifAbsent : undefined);
  };
  return defined(Object.fromEntries(details.map((name) => [name, shown(name)])));
}

const isAbsent = ({ value }: ResponsePart): boolean => value === undefined || value === null;

/** A draft shows only a part of it. */
function decodeReference(part: ResponsePart): LiveReference | undefined {
  if (!isObject(part.value)) return undefined;
  const textIn = (name: string): string => shownText(memberOf(part, name)) ?? "";
  const id = readNow(
    () => idOf(memberOf(part, "id")),
    () => "",
  );
  return { id, name: textIn("name"), type: textIn("type") };
}

/** docs/service-interface.md#tags */
export const tagFields = {
  id: { as: "id", instead: "Pin the live id as metadata.id.", isColumn: true },
  name: { as: "text", isWritten: true, isColumn: true },
  description: { as: "optional", isWritten: true, isColumn: true },
  owner: { as: "user", isWritten: true, isColumn: true },
  origin: { as: "optional", instead: "Remove it." },
  createdAt: { as: "optional", instead: "Remove it." },
  lastUpdatedAt: { as: "optional", instead: "Remove it.", isColumn: true },
} as const satisfies Fields;

/** `taggedResources` is returned by GET of one tag only. */
export type LiveTag = LiveOf<typeof tagFields> & { readonly taggedResources?: readonly { readonly id: string }[] };

export const tags: List<LiveTag> = {
  name: "tags",
  decode: decodeTag,
  one: decodeTag,
  brief: ({ taggedResources: _, ...tag }) => tag,
  isCreated: true,
};

/** `taggedResources` is absent if the response has none. */
function decodeTag(part: ResponsePart): LiveTag {
  const resources = memberOf(part, "taggedResources");
  return {
    ...decodeFields(tagFields, part),
    ...(resources.value === undefined || resources.value === null
      ? {}
      : { taggedResources: listOf(resources).map((resource) => ({ id: idIn(resource) })) }),
  };
}

/** The id of an object, or the id itself. */
function idIn(part: ResponsePart): string {
  const { value } = part;
  const name = isObject(value) ? (["id", "_id", "resourceId"].find((one) => Object.hasOwn(value, one)) ?? "id") : undefined;
  return idOf(name === undefined ? part : memberOf(part, name));
}

/** What GET of one asset shows, where the service has it. Absent values are unknown. */
export const assetFields = {
  name: { as: "filled", isWritten: true },
  type: { as: "filled" },
  connectionType: { as: "filled" },
  authMethod: { as: "filled", isWritten: true },
  /** An empty one is not shown. */
  description: { as: "textOrEmpty", isWritten: true },
  owners: { as: "users", isWritten: true },
  configuration: { as: "open", isWritten: true },
  /** Without what has the name or the form of a secret, as far as a service shows it. */
  connection: { as: "open", isWritten: true },
} as const satisfies Fields;

export type LiveAsset = { readonly id: string } & LiveOf<typeof assetFields>;

/** Assets are in no list of the service, so only `one` is used. */
export const assets: List<LiveAsset> = { name: "assets", decode: decodeAsset, one: decodeAsset, extended: "GET /v1/assets/{id}" };

function decodeAsset(part: ResponsePart): LiveAsset {
  return { id: idIn(part), ...decodeFields(assetFields, part) };
}
