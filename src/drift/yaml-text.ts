import type { JsonScalar } from "../model/json.ts";

/** Values to be written into YAML: scalars at the leaves, maps above. A Map, since any text is an ordinary key. */
export type Tree = ReadonlyMap<string, Tree | { readonly value: JsonScalar }>;

const isLeaf = (node: Tree | { readonly value: JsonScalar }): node is { readonly value: JsonScalar } => !(node instanceof Map);

// Texts that YAML 1.1 and 1.2 read as themselves without quotes, in block and flow style alike.
const plain = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[\p{L}_](?:[\p{L}\p{N} _./@+-]*[\p{L}\p{N}_./@+-])?$/iu;

export const keyText = (key: string): string => (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) && plain.test(key) ? key : JSON.stringify(key));

/** A scalar in the quotes that the one before had, where it can be. `${` is escaped, so that no text becomes a substitution (product §2.2). */
export function scalarText(value: JsonScalar, before = ""): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  if (before.startsWith("'") && /^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(text)) return `'${text.replaceAll("'", "''")}'`;
  return plain.test(text) && !before.startsWith('"') ? text : JSON.stringify(text);
}

/** `{ email: { hashed: false } }` */
function flowText(tree: Tree): string {
  return `{ ${flowMembers(tree)} }`;
}

/** The same without braces. */
export function flowMembers(tree: Tree): string {
  return [...tree].map(([key, node]) => `${keyText(key)}: ${isLeaf(node) ? scalarText(node.value) : flowText(node)}`).join(", ");
}

/** Block style, one key a line; a map of nothing but scalars stays on its line, as manifests are written. */
export function blockLines(tree: Tree, indent: number, step: number): readonly string[] {
  return [...tree].flatMap(([key, node]) => {
    const head = `${" ".repeat(indent)}${keyText(key)}:`;
    if (isLeaf(node)) return [`${head} ${scalarText(node.value)}`];
    if ([...node.values()].every(isLeaf)) return [`${head} ${flowText(node)}`];
    return [head, ...blockLines(node, indent + step, step)];
  });
}
