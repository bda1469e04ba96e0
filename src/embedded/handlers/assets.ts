import type { AccountState, AssetRecord } from "../data/account.ts";
import { isObject, type JsonObject, own } from "../data/own.ts";
import { type Call, type CallResult, invalid, notFound, optionalString, param, success } from "../http/call.ts";
import { nextSequence, record } from "./audit.ts";

/** POST /v1/assets: every member is optional as documented, so an empty body makes a nameless asset (docs/service-interface.md#assets). */
export function createAsset({ account, options, body, by, now }: Call): CallResult {
  const connectionType = optionalString(body, "connectionType") ?? "";
  if (connectionType !== "source" && connectionType !== "destination" && connectionType !== "") {
    throw invalid("connectionType must be source or destination.");
  }
  const members = {
    name: optionalString(body, "name") ?? "",
    type: optionalString(body, "type") ?? "",
    description: optionalString(body, "description") ?? "",
    connection: { ...connectionOf(body) },
  };
  const prefix = { source: "s", destination: "d", "": "a" }[connectionType];
  const asset: AssetRecord = { id: `${prefix}-${nextSequence(account)}`, connectionType, ...members };
  account.assets.push(asset);
  record(account, by, now, `Asset ${asset.id} "${asset.name}" created`);
  return success({ id: asset.id, name: asset.name, type: asset.type }, undefined, options.createdStatus);
}

/** PATCH /v1/assets/{id}: missing members are kept, `connection` is replaced whole (docs/service-interface.md#assets). */
export function patchAsset(call: Call): CallResult {
  const { account, body, by, now } = call;
  const asset = assetOf(call);
  const name = optionalString(body, "name") ?? asset.name;
  const description = optionalString(body, "description") ?? asset.description;
  const connection = connectionOf(body);
  Object.assign(asset, { name, description, connection: connection === undefined ? asset.connection : { ...connection } });
  renameReferences(account, asset);
  record(account, by, now, `Asset ${asset.id} "${asset.name}" updated`);
  return success({ id: asset.id });
}

/** The asset that the path names; throws a 404. */
export function assetOf(call: Call): AssetRecord {
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

function connectionOf(body: JsonObject): JsonObject | undefined {
  const connection = own(body, "connection");
  if (connection !== undefined && !isObject(connection)) throw invalid("connection must be an object.");
  return connection;
}
