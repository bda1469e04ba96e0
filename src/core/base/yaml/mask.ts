import { isSecretName, isSecretValue } from "../model/settings/secret.ts";
import type { PlainNode } from "./nodes.ts";

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
 * How to treat literals at a place, carried from the root down: look for secret names below the path, mask
 * everything, mask everything but the members that say where a secret comes from, or show
 * everything.
 */
type Scope = readonly (string | number)[] | "mask" | "maskButSources" | "show";

const sourceMembers = new Set(["env", "file", "exec", "pointer", "type"]);

/**
 * The literal secrets of a document, strings and numbers under secret names and `$secret` with a value instead of a source,
 * and those behind an alias at such a place. They can span several lines.
 */
export function secretRanges(root: PlainNode, test: SecretTest): readonly Range[] {
  const ranges: Range[] = [];
  const masked = new Set<PlainNode>();
  const kind = root.nodes?.[root.names?.indexOf("kind") ?? -1]?.literal;
  const isSecret = test.bind(undefined, typeof kind === "string" ? kind : undefined);

  const scopeOf = (scope: Scope, name: string, child: PlainNode): Scope => {
    if (scope === "maskButSources") return sourceMembers.has(name) ? "show" : "mask";
    if (typeof scope === "string") return scope;
    if (name === "$secret") return child.names === undefined ? "mask" : "maskButSources";
    return isSecret(scope, name) ? "mask" : [...scope, name];
  };
  const visit = (node: PlainNode, scope: Scope): void => {
    if (scope === "show") return;
    // The value behind an alias is masked where it is written.
    const written = scope === "mask" ? (node.target?.() ?? node) : node;
    if (scope === "mask" && masked.has(written)) return;
    if (scope === "mask") masked.add(written);
    const { start: from, end: to, literal, nodes, names } = written;
    if (nodes === undefined) {
      const isSecretLiteral = scope === "mask" ? literal !== undefined : typeof literal === "string" && isSecretValue(literal);
      if (isSecretLiteral && from !== undefined) ranges.push([from, to]);
      return;
    }
    const inside = scope === "mask" && names?.includes("$secret") === true ? [] : scope;
    for (const [index, child] of nodes.entries()) {
      const name = names?.[index];
      if (name !== undefined) visit(child, scopeOf(inside, name, child));
      else visit(child, typeof inside === "string" ? inside : [...inside, index]);
    }
  };
  visit(root, []);
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
  if (isSecretValue(line)) return [line.length - line.trimStart().length, line.length];
  if (keys.length > 0) return undefined;
  for (let above = index - 1; above >= 0; above -= 1) {
    const last = [...(lines[above] ?? "").matchAll(keyInLine)].at(-1);
    if (last !== undefined) return maybeSecret((last[2] ?? "").trim()) ? [line.length - line.trimStart().length, line.length] : undefined;
  }
  return undefined;
}
