import type { Binding, NaturalKey } from "../../model/address.ts";
import { defined, type JsonObject } from "../../model/json/json.ts";
import type { AssetSpec } from "../../model/resource.ts";
import { leafDigests } from "../leaves.ts";

/** What a binding records of an asset that was sent: digests, never values. */
export const recordOfSpec = (spec: AssetSpec): Omit<Binding, "id"> => ({
  sent: leafDigests(writable(spec)),
  ...(spec.secretVersion === undefined ? {} : { secretVersion: spec.secretVersion }),
});

/** The members that PATCH can change. */
export const writable = ({ name, description, authMethod, owners, configuration, connection, secretVersion }: AssetSpec): JsonObject =>
  // What a manifest declares is JSON.
  ({
    name,
    ...defined({ description, authMethod, owners, configuration, connection: secretVersion === 0 ? undefined : connection }),
  }) as JsonObject;

/** The members of which any change sends all of them. */
export const sentWhole = ["/owners", "/configuration", "/connection"] as const;

export const naturalKeyOf = ({ name, type }: AssetSpec): NaturalKey => ({ name, type: type ?? "" });

/** Whether the binding recorded this name. */
export const recordedName = (name: string, { sent }: Binding): boolean =>
  sent !== undefined && sent["/name"] === leafDigests({ name })["/name"];
