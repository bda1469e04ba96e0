import { isSecretReference } from "../settings/secret.ts";
import { isObject, type JsonValue } from "./json.ts";
import type { Pointer } from "./pointer.ts";

interface Leaf {
  readonly path: Pointer;
  readonly value: JsonValue;
}

/**
 * The leaves of a JSON value, in its own order. A list, an empty map below the root and a `$secret`
 * reference are one leaf each. Members that are undefined are left out, as in JSON. `base` precedes each path.
 */
export function leavesOf(value: unknown, base: Pointer = ""): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: unknown, path: Pointer): void => {
    if (node === undefined) return;
    const keys = isObject(node) && !isSecretReference(node) ? Object.keys(node) : [];
    // Only maps and scalars of JSON come here.
    if (!isObject(node) || (keys.length === 0 && path !== "")) leaves.push({ path, value: node as JsonValue });
    else for (const key of keys) visit(node[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  };
  visit(value, base);
  return leaves;
}
