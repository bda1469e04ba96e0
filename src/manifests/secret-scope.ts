import { isSecretName } from "../model/secret.ts";

/**
 * Whether the member `key` of the map at `path` holds a secret by its name (product §2.2). Where keys are names of something else (tables,
 * labels, targets), they say nothing about the value. `kind` is the document's; undefined for a file of variables.
 */
export function isSecretMember(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  // The scope comes first: a literal schema tree may have a hundred thousand keys.
  return key !== "$secret" && !holdsNames(kind, path, key) && isSecretName(key);
}

function holdsNames(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  const [first, second] = path;
  if (first === "metadata") return true;
  switch (kind) {
    case "SchemaConfig":
      return (first === "spec" && second === "schemas") || path.at(-1) === "labels";
    case "Tag":
      return path.at(-1) === "labels";
    case "Asset":
      return path.length === 1 && first === "spec" && key === "secretVersion";
    case "Config":
      return first === "connectors" || (first === "targets" && path.length === 1);
    default:
      return false;
  }
}
