import { type Address, type Bindings, toAddress } from "../../core/base/model/address.ts";
import type { Manifest, SchemaConfigSpec } from "../../core/base/model/manifest.ts";
import type { Code } from "../../core/base/model/titles.ts";
import type { Account, Identity } from "../../core/kinds/index.ts";
import { integrationAddress, isSchemaConfig, manifestKindNamed } from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";

// Targets share manifests, and import sees only one account. It must not write a manifest that changes what another target plans:
// a SchemaConfig that unhashes a column in dev would unhash it in prod too. What another target plans is evaluated offline, from its
// manifests and bindings. New manifests get metadata.targets, or go to a folder that only this target loads.

/** What is known about another target of the project without reading its account. */
export interface OtherTarget {
  readonly name: string;
  /** The manifests that it loads, with its variables. */
  readonly manifests: readonly Manifest[];
  readonly bindings: Bindings;
}

/** Something that could not be imported, and why. */
export interface ImportFailure {
  readonly address: Address;
  readonly message: string;
}

/** Whether another target is already planned: a new manifest would be part of its plan. */
export const isInUse = (others: readonly OtherTarget[]): boolean =>
  others.some((target) => target.bindings.size > 0 || target.manifests.some((one) => appliesByName(one, target)));

const appliesByName = (manifest: Manifest, target: OtherTarget): boolean =>
  isSchemaConfig(manifest) && selectsLiveNames(manifest.spec, target);

/** Whether it selects integrations by their live names, so that bindings do not show where it applies. */
function selectsLiveNames({ integrations, integration }: SchemaConfigSpec, { manifests }: OtherTarget): boolean {
  if (integrations !== undefined) return true;
  if (typeof integration !== "string") return false;
  return manifests.every(({ address }) => address !== integrationAddress(integration));
}

/** The other targets that load the manifest. */
export const loadedBy = ({ place }: Manifest, others: readonly OtherTarget[]): readonly OtherTarget[] =>
  others.filter(({ manifests }) => manifests.some(({ place: { file, document } }) => file === place.file && document === place.document));

// An account rarely has all objects of another one. Manifests whose objects only other targets have get metadata.targets, and a pinned id
// becomes a map: no file has to be moved, and nothing is blocked. Once the account has such an object, its manifest gets this target, too.

/** What a manifest gets in its metadata. */
export interface LimitedManifest {
  readonly manifest: Manifest;
  /** metadata.targets */
  readonly targets: readonly string[];
}

interface LimitInput {
  /** With the objects of the import. */
  readonly account: Account;
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
  const { manifests, identities } = account;
  const isKnownElsewhere = (manifest: Manifest): boolean =>
    loadedBy(manifest, others).some(({ bindings }) => bindings.has(manifest.address) || manifest.id !== undefined);
  const missing = new Set(
    manifests.filter((one) => isMissing(identities.get(one.address)) && isKnownElsewhere(one)).map(({ address }) => address),
  );
  const isOfMissing = (manifest: Manifest): boolean =>
    isSchemaConfig(manifest) && referencesOf(manifest).some((address) => missing.has(address));
  // What stays needs what it refers to.
  for (const manifest of manifests)
    if (!missing.has(manifest.address) && !isOfMissing(manifest)) for (const address of referencesOf(manifest)) missing.delete(address);
  return manifests.flatMap((manifest) => {
    if (!isSelected(manifest.address) || !(missing.has(manifest.address) || isOfMissing(manifest))) return [];
    const targets = (manifest.targets ?? loadedBy(manifest, others).map(({ name }) => name)).filter((name) => name !== target);
    return targets.length === 0 ? [] : [{ manifest, targets }];
  });
}

/** The manifests of other targets only, as those load them. */
export const manifestsElsewhere = ({ elsewhere }: Pick<Project, "elsewhere">, others: readonly OtherTarget[]): readonly Manifest[] =>
  elsewhere.flatMap(
    ({ place }) =>
      others.flatMap(({ manifests }) =>
        manifests.filter((one) => one.place.file === place.file && one.place.document === place.document),
      )[0] ?? [],
  );

/** Those of them whose objects the account has, with what they refer to, and the SchemaConfigs of these integrations. `found`: addresses. */
export function sharedManifests(elsewhere: readonly Manifest[], found: ReadonlySet<Address>, target: string): readonly LimitedManifest[] {
  const byAddress = new Map(elsewhere.map((one) => [one.address, one]));
  const shared = new Set<Manifest>();
  const share = (manifest: Manifest): void => {
    if (shared.has(manifest)) return;
    shared.add(manifest);
    for (const address of referencesOf(manifest)) {
      const referred = byAddress.get(address);
      if (referred !== undefined) share(referred);
    }
  };
  for (const manifest of elsewhere) {
    const isOfFound = isSchemaConfig(manifest) && referencesOf(manifest).some((address) => found.has(address) && byAddress.has(address));
    if (found.has(manifest.address) || isOfFound) share(manifest);
  }
  return [...shared].map((manifest) => ({ manifest, targets: [...(manifest.targets ?? []), target] }));
}

/** The manifests that it names. */
const referencesOf = (manifest: Manifest): readonly Address[] =>
  (manifestKindNamed(manifest.kind)?.references(manifest) ?? []).flatMap(({ kind, name, isOneOfMany }) =>
    isOneOfMany ? [] : [toAddress(kind, name)],
  );
