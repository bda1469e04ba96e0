import type { Binding, NaturalKey } from "../../model/address.ts";
import { defined, type JsonObject } from "../../model/json/json.ts";
import type { AssetSpec } from "../../model/manifest.ts";
import { writtenIn } from "../fields.ts";
import { leafDigests } from "../leaves.ts";
import { assetFields } from "../lists.ts";

/** What a binding records of an asset that was sent: digests, never values. */
export const recordOfSpec = (spec: AssetSpec): Omit<Binding, "id"> => ({
  sent: leafDigests(writable(spec)),
  ...(spec.secretVersion === undefined ? {} : { secretVersion: spec.secretVersion }),
});

/** The members that PATCH can change. */
export function writable(spec: AssetSpec): JsonObject {
  const shown = Object.fromEntries(writtenIn(assetFields).map((name) => [name, spec[name]]));
  const { configuration, connection, secretVersion } = spec;
  // What a manifest declares is JSON.
  return defined({ ...shown, configuration, connection: secretVersion === 0 ? undefined : connection }) as JsonObject;
}

export const naturalKeyOf = ({ name, type }: AssetSpec): NaturalKey => ({ name, type: type ?? "" });

/** Whether the binding recorded this name. */
export const recordedName = (name: string, { sent }: Binding): boolean =>
  sent !== undefined && sent["/name"] === leafDigests({ name })["/name"];
