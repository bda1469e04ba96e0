import { kindNamed } from "../../core/kinds/index.ts";
import type { AccountView, Identity } from "../../core/kinds/kind.ts";
import { isSchemaConfig } from "../../core/kinds/manifests.ts";
import { type Address, toAddress } from "../../core/model/address.ts";
import type { Resource } from "../../core/model/resource.ts";
import type { Code } from "../../core/model/titles.ts";
import { loadedBy, type OtherTarget } from "./other-targets.ts";

// An account rarely has all objects of another one. Manifests whose objects only other targets have get metadata.targets, and a pinned id
// becomes a map: no file has to be moved, and nothing is blocked.

/** What a manifest gets in its metadata. */
export interface LimitedManifest {
  readonly resource: Resource;
  /** metadata.targets */
  readonly targets: readonly string[];
}

interface LimitInput {
  /** With the objects of the import. */
  readonly account: AccountView;
  readonly target: string;
  readonly others: readonly OtherTarget[];
  readonly isSelected: (address: Address) => boolean;
}

const missingCodes: ReadonlySet<Code> = new Set([
  "E_INTEGRATION_MISSING",
  "E_TAG_MISSING",
  "E_UNBOUND",
  "E_SHARED_IDENTITY",
  "E_DEPENDENCY",
]);

/** Whether the account does not have the object of a manifest. */
const isMissing = (identity: Identity | undefined): boolean =>
  identity?.state === "gone" || (identity?.state === "blocked" && missingCodes.has(identity.code));

/** The manifests whose objects other targets have, and this one does not. */
export function limitedManifests({ account, target, others, isSelected }: LimitInput): readonly LimitedManifest[] {
  const { resources, identities } = account;
  const isKnownElsewhere = (resource: Resource): boolean =>
    loadedBy(resource, others).some(({ bindings }) => bindings.has(resource.address) || resource.id !== undefined);
  const missing = new Set(
    resources.filter((one) => isMissing(identities.get(one.address)) && isKnownElsewhere(one)).map(({ address }) => address),
  );
  const refersTo = (resource: Resource): readonly Address[] =>
    (kindNamed(resource.kind)?.references(resource) ?? []).flatMap(({ kind, name, isOneOfMany }) =>
      isOneOfMany ? [] : [toAddress(kind, name)],
    );
  const isOfMissing = (resource: Resource): boolean =>
    isSchemaConfig(resource) && refersTo(resource).some((address) => missing.has(address));
  // What stays needs what it refers to.
  for (const resource of resources)
    if (!missing.has(resource.address) && !isOfMissing(resource)) for (const address of refersTo(resource)) missing.delete(address);
  return resources.flatMap((resource) => {
    if (!isSelected(resource.address) || !(missing.has(resource.address) || isOfMissing(resource))) return [];
    const targets = (resource.targets ?? loadedBy(resource, others).map(({ name }) => name)).filter((name) => name !== target);
    return targets.length === 0 ? [] : [{ resource, targets }];
  });
}
