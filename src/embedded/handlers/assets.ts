import type { AccountState, AssetRecord } from "../data/account.ts";
import { isObject, own, type UncheckedObject } from "../data/own.ts";
import { type CallResult, invalid, notFound, okay, optionalObject, optionalString, param, type ServedCall, success } from "../http/call.ts";
import { newId, record } from "./audit.ts";

/** POST /v1/assets: every member is optional as documented, so an empty body makes a nameless asset (docs/service-interface.md#assets). */
export function createAsset(call: ServedCall): CallResult {
  const { account, options, body, by, now } = call;
  const connectionType = optionalString(body, "connectionType") ?? "";
  if (connectionType !== "source" && connectionType !== "destination" && connectionType !== "") {
    throw invalid("connectionType must be source or destination.");
  }
  const type = optionalString(body, "type") ?? "";
  const isMultiPurpose = options.multiPurpose && type === "snowflake";
  const members = {
    name: optionalString(body, "name") ?? "",
    type,
    description: optionalString(body, "description") ?? "",
    connection: isMultiPurpose ? perPurpose(body) : { ...connectionOf(body) },
    ...(options.creates === "sparse" ? moreMembers(body) : {}),
  };
  const prefix = { source: "s", destination: "d", "": "a" }[connectionType];
  const asset: AssetRecord = { id: newId(call, prefix), connectionType: isMultiPurpose ? "multi_purpose" : connectionType, ...members };
  account.assets.push(asset);
  record(account, by, now, `Asset ${asset.id} "${asset.name}" created`);
  return success({ id: asset.id, name: asset.name, type: asset.type }, undefined, options.createdStatus);
}

/** PATCH /v1/assets/{id}: missing members are kept, `connection` is replaced whole (docs/service-interface.md#assets). */
export function patchAsset(call: ServedCall): CallResult {
  const { account, body, by, now, options } = call;
  const asset = assetOf(call);
  const name = optionalString(body, "name") ?? asset.name;
  const description = optionalString(body, "description") ?? asset.description;
  const sent = connectionOf(body);
  const isMultiPurpose = asset.connectionType === "multi_purpose";
  // The flat form is accepted, and nothing of the request is written.
  if (isMultiPurpose && sent !== undefined && !Object.keys(sent).every(isPurpose)) return okay(options, { id: asset.id });
  // A purpose that is there already cannot be removed.
  const connection = sent === undefined ? asset.connection : isMultiPurpose ? { ...asset.connection, ...sent } : { ...sent };
  Object.assign(asset, { name, description, connection }, options.creates === "sparse" ? moreMembers(body, asset) : {});
  renameReferences(account, asset);
  record(account, by, now, `Asset ${asset.id} "${asset.name}" updated`);
  return okay(options, { id: asset.id });
}

const purposes = ["etl", "reverseEtl", "catalog", "etlSource"];
const isPurpose = (name: string): boolean => purposes.includes(name);

/** One flat connection serves all purposes, except where `connectionOverrides` has another one. */
function perPurpose(body: UncheckedObject): Record<string, unknown> {
  const sent = { ...connectionOf(body) };
  const blocks = Object.keys(sent).some(isPurpose) ? sent : Object.fromEntries(purposes.map((purpose) => [purpose, sent]));
  return { ...blocks, ...optionalObject(body, "connectionOverrides") };
}

/** Members that only the public descriptions show. Members of the configuration that the body lacks are kept. */
function moreMembers(body: UncheckedObject, before: Partial<AssetRecord> = {}): Partial<AssetRecord> {
  const authMethod = optionalString(body, "authMethod");
  const owners = own(body, "owners");
  const configuration = optionalObject(body, "configuration");
  return {
    ...(authMethod === undefined ? {} : { authMethod }),
    ...(Array.isArray(owners) ? { owners } : {}),
    ...(configuration === undefined ? {} : { configuration: { ...before.configuration, ...configuration } }),
  };
}

/** The asset that the path names; throws a 404. */
export function assetOf(call: ServedCall): AssetRecord {
  const id = param(call, "id");
  const found = call.account.assets.find((asset) => asset.id === id);
  if (found === undefined) throw notFound("asset", id);
  return found;
}

/** Integrations show the name of their assets, so it changes there too. */
function renameReferences(account: AccountState, { id, name }: AssetRecord): void {
  for (const { source, destination } of account.integrations) {
    if (source.id === id) source.name = name;
    if (destination.id === id) destination.name = name;
  }
}

function connectionOf(body: UncheckedObject): UncheckedObject | undefined {
  const connection = own(body, "connection");
  if (connection !== undefined && !isObject(connection)) throw invalid("connection must be an object.");
  return connection;
}
