import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { isSecretName } from "../model/secret.ts";
import { isSecretMember } from "./secret-scope.ts";

/** A part of a text: offsets, the end exclusive. */
export type Range = readonly [start: number, end: number];

const sourceMembers = new Set(["env", "file", "exec", "pointer", "type"]);

/** Where secrets are written out in a document: text and numbers under names that are secret, and `$secret` that holds a value. */
export function secretRanges(document: Document.Parsed): readonly Range[] {
  const ranges: Range[] = [];
  const kindNode = document.get("kind", true);
  const kind = isScalar(kindNode) && typeof kindNode.value === "string" ? kindNode.value : undefined;

  const mask = (node: Node | null): void => {
    const meant = isAlias(node) ? (node.resolve(document) ?? null) : node;
    if (isScalar(meant)) {
      if ((typeof meant.value === "string" || typeof meant.value === "number") && meant.range)
        ranges.push([meant.range[0], meant.range[1]]);
    } else if (isSeq<Node>(meant)) meant.items.forEach(mask);
    else if (isMap<Node, Node | null>(meant)) {
      if (meant.has("$secret")) visit(meant, []);
      else for (const { value } of meant.items) mask(value);
    }
  };
  const visit = (node: Node | null, path: readonly (string | number)[]): void => {
    if (isSeq<Node>(node)) for (const [index, item] of node.items.entries()) visit(item, [...path, index]);
    if (!isMap<Node, Node | null>(node)) return;
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (name === "$secret") {
        if (!isMap<Node, Node | null>(value)) mask(value);
        else
          for (const member of value.items) if (!(isScalar(member.key) && sourceMembers.has(String(member.key.value)))) mask(member.value);
      } else if (isSecretMember(kind, path, name)) mask(value);
      else visit(value, [...path, name]);
    }
  };
  try {
    visit(document.contents, []);
  } catch {
    // Aliases in a circle overflow the stack: the lines are then masked by sight.
  }
  return ranges;
}

const keyInLine = /(["']?)([^\s"'{}[\],:#][^"'{}[\],:]*)\1\s*:(?=\s|$)/gu;

/**
 * What to mask in a line of a text that is not well-formed, where values can't be told for certain: everything after the first key with a
 * secret name; and a line without a key, if the last key above has a secret name. Columns from 0, the end exclusive.
 */
export function maskBySight(lines: readonly string[], index: number): Range | undefined {
  const line = lines[index] ?? "";
  const keys = [...line.matchAll(keyInLine)];
  const secret = keys.find(([, , name = ""]) => isSecretName(name.replace(/^-\s+/u, "").trim()));
  if (secret !== undefined) return [secret.index + secret[0].length, line.length];
  if (keys.length > 0) return undefined;
  for (let above = index - 1; above >= 0; above -= 1) {
    const last = [...(lines[above] ?? "").matchAll(keyInLine)].at(-1);
    if (last !== undefined) return isSecretName((last[2] ?? "").trim()) ? [line.length - line.trimStart().length, line.length] : undefined;
  }
  return undefined;
}
