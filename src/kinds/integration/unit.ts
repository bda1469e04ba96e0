import type { IntegrationSpec, Resource } from "../../model/resource.ts";
import type { AccountView, Unit } from "../kind.ts";
import { assetAddress } from "../manifests.ts";
import { fromIdentity, type Selected } from "../select.ts";

export interface IntegrationUnit extends Unit {
  readonly resource: Resource<IntegrationSpec>;
  readonly destination: Destination;
}

/** The destination of the manifest; "none" if it has none. */
export type Destination = Selected | { readonly state: "none" };

export function destinationOf(resource: Resource<IntegrationSpec>, account: AccountView): Destination {
  const { destination } = resource.spec;
  if (destination === undefined) return { state: "none" };
  if ("id" in destination) return { state: "found", id: destination.id, name: destination.id };
  const address = assetAddress(destination.asset);
  return fromIdentity(address, address, account.identities.get(address));
}
