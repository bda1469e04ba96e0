import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { isSecretName } from "../model/settings/secret.ts";

/**
 * Whether the member `key` of the map at `path` holds a secret. `kind` is the `kind` at the top of
 * the document, if it is a string. Passed in, because only manifests know which keys are names of
 * something else.
 */
export type SecretTest = (kind: string | undefined, path: readonly (string | number)[], key: string) => boolean;

/** For callers that pass no test: hides more than necessary rather than less. */
export const secretByName: SecretTest = (_kind, _path, key) => isSecretName(key);

/** A part of a text: offsets, the end exclusive. */
export type Range = readonly [start: number, end: number];

/**
 * How to treat literals at a place, carried from the root down: look for secret names, mask
 * everything, mask everything but the members that say where a secret comes from, or show
 * everything.
 */
export type SecretScope =
  | { readonly to: "look"; readonly path: readonly (string | number)[] }
  | { readonly to: "mask" }
  | { readonly to: "maskButSources" }
  | { readonly to: "show" };

export const wholeDocument: SecretScope = { to: "look", path: [] };

const sourceMembers = new Set(["env", "file", "exec", "pointer", "type"]);

export function enterItem(scope: SecretScope, index: number): SecretScope {
  return scope.to === "look" ? { to: "look", path: [...scope.path, index] } : scope;
}

/** The scope of a map's members, before any is entered. */
export function enterMap(scope: SecretScope, holdsReference: () => boolean): SecretScope {
  return scope.to === "mask" && holdsReference() ? wholeDocument : scope;
}

/** The scope of a member's value. `isSecret` gets the path of the map and the member's name. */
export function enterMember(
  scope: SecretScope,
  name: string,
  { isMap, isSecret }: { readonly isMap: boolean; readonly isSecret: (path: readonly (string | number)[], key: string) => boolean },
): SecretScope {
  if (scope.to === "maskButSources") return { to: sourceMembers.has(name) ? "show" : "mask" };
  if (scope.to !== "look") return scope;
  if (name === "$secret") return { to: isMap ? "maskButSources" : "mask" };
  return isSecret(scope.path, name) ? { to: "mask" } : { to: "look", path: [...scope.path, name] };
}

/**
 * Where a document contains literal secrets: strings and numbers under secret names, and `$secret`
 * with a value instead of a source.
 */
export function secretRanges(document: Document.Parsed, test: SecretTest): readonly Range[] {
  const ranges: Range[] = [];
  const kindNode = document.get("kind", true);
  const kind = isScalar(kindNode) && typeof kindNode.value === "string" ? kindNode.value : undefined;
  const isSecret = test.bind(undefined, kind);

  const visit = (node: Node | null, scope: SecretScope): void => {
    if (scope.to === "show") return;
    // The value behind an alias is masked where it is written.
    const target = scope.to === "mask" && isAlias(node) ? (node.resolve(document) ?? null) : node;
    if (isScalar(target)) {
      const isLiteral = typeof target.value === "string" || typeof target.value === "number";
      if (scope.to === "mask" && isLiteral && target.range) ranges.push([target.range[0], target.range[1]]);
    } else if (isSeq<Node>(target)) for (const [index, item] of target.items.entries()) visit(item, enterItem(scope, index));
    else if (isMap<Node, Node | null>(target)) {
      const inside = enterMap(scope, () => target.has("$secret"));
      for (const { key, value } of target.items)
        visit(value, enterMember(inside, isScalar(key) ? String(key.value) : "", { isMap: isMap(value), isSecret }));
    }
  };
  try {
    visit(document.contents, wholeDocument);
  } catch {
    // Circular aliases overflow the stack. maskBySight then masks the lines.
  }
  return ranges;
}

const keyInLine = /(["']?)([^\s"'{}[\],:#][^"'{}[\],:]*)\1\s*:(?=\s|$)/gu;

/** If it is unclear which map a key belongs to, `url` may be the URL of a webhook. */
const maybeSecret = (name: string): boolean => isSecretName(name) || name === "url";

/**
 * What to mask in a line of a text that is not valid YAML, so that its values are not certain:
 * everything after the first key with a secret name; and a line without a key if the last key above
 * has a secret name. Columns from 0, the end exclusive.
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
