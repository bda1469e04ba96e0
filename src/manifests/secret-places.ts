import type { Address } from "../model/address.ts";
import { canonicalJson, isObject } from "../model/json.ts";
import { toPointer } from "../model/pointer.ts";
import type { Place } from "../model/problem.ts";
import { placeIn, type Resource } from "../model/resource.ts";
import { isSecretReference, type SecretReference } from "../model/secret.ts";

/** Where a manifest names a secret. */
export interface SecretPlace {
  readonly address: Address;
  readonly place: Place;
}

/** Where these manifests name the secret, in their order. Meant for a secret that is missing: it looks through all of their values. */
export function secretPlaces(reference: SecretReference, resources: readonly Resource[]): readonly SecretPlace[] {
  const wanted = canonicalJson(reference);
  const pointersIn = (value: unknown, path: readonly string[]): readonly string[] => {
    if (isSecretReference(value)) return canonicalJson(value) === wanted ? [toPointer(path)] : [];
    if (!Array.isArray(value) && !isObject(value)) return [];
    return Object.entries(value).flatMap(([key, member]) => pointersIn(member, [...path, key]));
  };
  return resources.flatMap((resource) =>
    pointersIn(resource.spec, ["spec"]).map((pointer) => ({ address: resource.address, place: placeIn(resource, pointer) })),
  );
}
