import { isSecretName } from "../../base/model/settings/secret.ts";
import type { ManifestKind } from "../../kinds/index.ts";
import { manifestKindNamed } from "../../kinds/index.ts";

/**
 * Whether the member `key` of the map at `path` holds a secret, according to its name
 * (docs/manifests.md#secrets). Keys that are names of something else (tables, labels, targets) do
 * not count. `kind` is the document's; undefined for a variable file.
 */
export function isSecretMember(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  // The scope comes first: a literal schema tree may have a hundred thousand keys.
  return key !== "$secret" && !holdsNames(kind, path, key) && (isSecretName(key) || isWebhook(kind, path, key));
}

/** The URL of a webhook grants access, as a password does. */
const isWebhook = (kind: string | undefined, path: readonly (string | number)[], key: string): boolean =>
  kind === "Config" && key === "url" && path.at(-1) === "notify";

/**
 * Whether all keys at and below the path are names of something else, at any depth: the literal
 * tree of a SchemaConfig.
 */
export function isTreeOfNames(kind: string | undefined, path: readonly (string | number)[]): boolean {
  const names = kindOf(kind)?.namesBelow;
  return names !== undefined && path.length >= names.length && names.every((name, index) => path[index] === name);
}

const kindOf = (kind: string | undefined): ManifestKind | undefined => (kind === undefined ? undefined : manifestKindNamed(kind));

function holdsNames(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  const [first] = path;
  if (first === "metadata") return true;
  if (kind === "Config") return first === "targets" && path.length === 1;
  return isTreeOfNames(kind, path) || kindOf(kind)?.isPlainKey?.(path, key) === true;
}
