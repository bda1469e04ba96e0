import type { Binding, NaturalKey } from "../../base/model/address.ts";
import { defined, type JsonObject, type JsonValue } from "../../base/model/json/json.ts";
import type { AssetSpec } from "../../base/model/manifest.ts";
import { writtenIn } from "../fields.ts";
import { leafDigests } from "../leaves.ts";
import { assetFields } from "../lists.ts";

/** What a binding records of an asset that was sent: digests, never values. */
export const recordOfSpec = (spec: AssetSpec): Omit<Binding, "id"> => ({
  sent: leafDigests(writable(spec)),
  ...(spec.secretVersion === undefined ? {} : { secretVersion: spec.secretVersion }),
});

/** The declared members that PATCH can change. */
export function writable(spec: AssetSpec): JsonObject {
  const members = Object.fromEntries(writtenIn(assetFields).map((name) => [name, spec[name]]));
  // What a manifest declares is JSON.
  return defined({
    ...members,
    configuration: spec.configuration && trimmed(spec.configuration),
    connection: spec.secretVersion === 0 ? undefined : spec.connection,
  }) as JsonObject;
}

/** Lists of texts as the service keeps them: without outer blanks and doubles. */
const trimmed = (configuration: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(configuration).map(([name, value]) => [
      name,
      Array.isArray(value) ? [...new Set(value.map((one: JsonValue) => (typeof one === "string" ? one.trim() : one)))] : value,
    ]),
  );

export const naturalKeyOf = ({ name, type }: AssetSpec): NaturalKey => ({ name, type: type ?? "" });

/** Whether the binding recorded this name. */
export const recordedName = (name: string, { sent }: Binding): boolean =>
  sent !== undefined && sent["/name"] === leafDigests({ name })["/name"];
