import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { isSecretName } from "../../model/secret.ts";
import type { Range } from "../../yaml/fast/positions.ts";

/**
 * Whether the member `key` of the map at `path` holds a secret by its name (product §2.2). Where keys are names of something else (tables,
 * labels, targets), they say nothing about the value. `kind` is the document's; undefined for a file of variables.
 */
export function isSecretMember(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  // The scope comes first: a literal schema tree may have a hundred thousand keys.
  return key !== "$secret" && !holdsNames(kind, path, key) && (isSecretName(key) || isWebhook(kind, path, key));
}

/** The URL of a webhook lets whoever has it in, as a password does. */
const isWebhook = (kind: string | undefined, path: readonly (string | number)[], key: string): boolean =>
  key === "url" && kind === "Config" && path.at(-1) === "notify";

/** Whether all keys at and below the path are names of something else, however deep: the literal tree of a SchemaConfig. */
export function isTreeOfNames(kind: string | undefined, path: readonly (string | number)[]): boolean {
  return kind === "SchemaConfig" && path.length >= 2 && path[0] === "spec" && path[1] === "schemas";
}

function holdsNames(kind: string | undefined, path: readonly (string | number)[], key: string): boolean {
  const [first] = path;
  if (first === "metadata") return true;
  switch (kind) {
    case "SchemaConfig":
      return isTreeOfNames(kind, path) || path.at(-1) === "labels";
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

const sourceMembers = new Set(["env", "file", "exec", "pointer", "type"]);

/** What to do with literals at a place, going down from the root: look for secret names, mask all, mask what is no source of a secret, or show all. */
export type SecretScope =
  | { readonly to: "look"; readonly path: readonly (string | number)[] }
  | { readonly to: "mask" }
  | { readonly to: "maskButSources" }
  | { readonly to: "show" };

export const wholeDocument: SecretScope = { to: "look", path: [] };

export function enterItem(scope: SecretScope, index: number): SecretScope {
  return scope.to === "look" ? { to: "look", path: [...scope.path, index] } : scope;
}

/** The scope of a map's members, before any is entered. */
export function enterMap(scope: SecretScope, holdsReference: () => boolean): SecretScope {
  return scope.to === "mask" && holdsReference() ? wholeDocument : scope;
}

export function enterMember(scope: SecretScope, kind: string | undefined, name: string, isMap: boolean): SecretScope {
  if (scope.to === "maskButSources") return { to: sourceMembers.has(name) ? "show" : "mask" };
  if (scope.to !== "look") return scope;
  if (name === "$secret") return { to: isMap ? "maskButSources" : "mask" };
  return isSecretMember(kind, scope.path, name) ? { to: "mask" } : { to: "look", path: [...scope.path, name] };
}

/** Where secrets are written out in a document: text and numbers under names that are secret, and `$secret` that holds a value. */
export function secretRanges(document: Document.Parsed): readonly Range[] {
  const ranges: Range[] = [];
  const kindNode = document.get("kind", true);
  const kind = isScalar(kindNode) && typeof kindNode.value === "string" ? kindNode.value : undefined;

  const visit = (node: Node | null, scope: SecretScope): void => {
    if (scope.to === "show") return;
    // Behind an alias that stands elsewhere, the value is looked at where it is written.
    const meant = scope.to === "mask" && isAlias(node) ? (node.resolve(document) ?? null) : node;
    if (isScalar(meant)) {
      const isLiteral = typeof meant.value === "string" || typeof meant.value === "number";
      if (scope.to === "mask" && isLiteral && meant.range) ranges.push([meant.range[0], meant.range[1]]);
    } else if (isSeq<Node>(meant)) for (const [index, item] of meant.items.entries()) visit(item, enterItem(scope, index));
    else if (isMap<Node, Node | null>(meant)) {
      const inside = enterMap(scope, () => meant.has("$secret"));
      for (const { key, value } of meant.items)
        visit(value, enterMember(inside, kind, isScalar(key) ? String(key.value) : "", isMap(value)));
    }
  };
  try {
    visit(document.contents, wholeDocument);
  } catch {
    // Aliases in a circle overflow the stack: the lines are then masked by sight.
  }
  return ranges;
}

const keyInLine = /(["']?)([^\s"'{}[\],:#][^"'{}[\],:]*)\1\s*:(?=\s|$)/gu;

/** Where it can't be told what a key belongs to, `url` may be that of a webhook. */
const maybeSecret = (name: string): boolean => isSecretName(name) || name === "url";

/**
 * What to mask in a line of a text that is not well-formed, where values can't be told for certain: everything after the first key with a
 * secret name; and a line without a key, if the last key above has a secret name. Columns from 0, the end exclusive.
 */
export function maskBySight(lines: readonly string[], index: number): Range | undefined {
  const line = lines[index] ?? "";
  const keys = [...line.matchAll(keyInLine)];
  const secret = keys.find(([, , name = ""]) => maybeSecret(name.replace(/^-\s+/u, "").trim()));
  if (secret !== undefined) return [secret.index + secret[0].length, line.length];
  if (keys.length > 0) return undefined;
  for (let above = index - 1; above >= 0; above -= 1) {
    const last = [...(lines[above] ?? "").matchAll(keyInLine)].at(-1);
    if (last !== undefined) return maybeSecret((last[2] ?? "").trim()) ? [line.length - line.trimStart().length, line.length] : undefined;
  }
  return undefined;
}
