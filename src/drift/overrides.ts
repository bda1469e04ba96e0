import { type Address, parseAddress, toAddress } from "../model/address.ts";
import type { JsonScalar } from "../model/json.ts";
import type { SchemaConfigSpec } from "../model/resource.ts";
import { composeDocuments } from "../yaml/parse.ts";
import type { Acceptance } from "./plan-edits.ts";
import { blockLines, keyText, scalarText, type Tree } from "./yaml-text.ts";

export type Override = Extract<Acceptance, { readonly how: "override" }>;

/**
 * The text with a configuration of higher priority at its end, for one integration of the many that the manifest acts on; undefined where the text
 * can't take another document. `names` are the addresses that are taken; the new one is added.
 */
export function withOverride(text: string, at: readonly Override[], names: Set<Address>): string | undefined {
  const [first] = at;
  if (first === undefined) return undefined;
  const { resource, item } = first;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const label = parseAddress(item.address)?.on ?? item.liveId ?? "";
  const integration = names.has(toAddress("Integration", label)) ? scalarText(label) : `{ id: ${scalarText(item.liveId ?? label, '"')} }`;
  const tree = treeOf(at);
  const lines = [
    "---",
    `# Accepted from the account: where ${resource.address} decides otherwise for its other integrations.`,
    "apiVersion: dimsync/v1",
    "kind: SchemaConfig",
    `metadata: { name: ${keyText(freeName(`${resource.name}-${label}`, names))} }`,
    "spec:",
    `  integration: ${integration}`,
    `  priority: ${((resource.spec as SchemaConfigSpec).priority ?? 0) + 1}`,
    ...blockLines(tree, 2, 2),
    "",
  ];
  const joined = `${text}${text === "" || text.endsWith("\n") ? "" : eol}${lines.join(eol)}`;
  return composeDocuments(joined).length === composeDocuments(text).length + 1 ? joined : undefined;
}

function freeName(wanted: string, names: Set<string>): string {
  const slug = wanted.toLowerCase().replaceAll(/[^a-z0-9._-]+/gu, "-");
  let name = slug;
  for (let count = 2; names.has(toAddress("SchemaConfig", name)); count++) name = `${slug}-${count}`;
  names.add(toAddress("SchemaConfig", name));
  return name;
}

type Growing = Map<string, Growing | { readonly value: JsonScalar }>;

/** Below `spec`: every path begins with it. */
function treeOf(values: readonly { readonly path: readonly string[]; readonly value: JsonScalar }[]): Tree {
  const root: Growing = new Map();
  for (const { path, value } of values) {
    let branch = root;
    for (const key of path.slice(1, -1)) {
      const known = branch.get(key);
      const next: Growing = known instanceof Map ? known : new Map();
      branch.set(key, next);
      branch = next;
    }
    branch.set(path.at(-1) ?? "", { value });
  }
  return root;
}
