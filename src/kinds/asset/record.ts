import type { Binding, NaturalKey } from "../../model/address.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { AssetSpec } from "../../model/resource.ts";
import { leafDigests } from "../leaves.ts";

/** What a binding records of an asset that was sent: digests, never values. */
export const recordOfSpec = (spec: AssetSpec): Omit<Binding, "id"> => ({
  sent: leafDigests(writable(spec)),
  ...(spec.secretVersion === undefined ? {} : { secretVersion: spec.secretVersion }),
});

/** The members that PATCH can change. */
export function writable({ name, description, connection, secretVersion }: AssetSpec): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(connection === undefined || secretVersion === 0 ? {} : { connection }),
  };
}

export const naturalKeyOf = ({ name, type }: AssetSpec): NaturalKey => ({ name, type: type ?? "" });

/** Whether the binding recorded this name. */
export const recordedName = (name: string, { sent }: Binding): boolean =>
  sent !== undefined && sent["/name"] === leafDigests({ name })["/name"];
