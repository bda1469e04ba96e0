import { kindNames, schemaConfigAddress } from "../kinds/manifests.ts";
import { type Address, kindOf, parseAddress } from "../model/address.ts";
import { emptyRecord, type JsonObject, type JsonScalar, type JsonValue } from "../model/json/json.ts";
import { freeName } from "../text/free-name.ts";
import { documentRanges } from "../yaml/document-ranges.ts";
import { eolOf } from "../yaml/nodes.ts";
import { blockLines } from "../yaml/print.ts";
import { escapeReferences } from "../yaml/references.ts";
import type { PlannedEdit } from "./plan-edits.ts";

export type Override = Extract<PlannedEdit, { readonly how: "override" }>;

/**
 * The text with one more SchemaConfig at its end, of higher priority, for one of the many
 * integrations that the manifest covers; undefined if the text cannot take another document.
 * `names` are the addresses in use; the new one is added.
 */
export function withOverride(text: string, overrides: readonly Override[], names: Set<Address>): string | undefined {
  const [first] = overrides;
  if (first === undefined) return undefined;
  const { covering, top, item } = first;
  const eol = eolOf(text);
  const manifest = item.manifests?.find((address) => kindOf(address) === kindNames.integration);
  const integration = parseAddress(manifest ?? item.address)?.name ?? "";
  const slug = `${covering.name}-${integration}`.toLowerCase().replaceAll(/[^a-z0-9._-]+/gu, "-");
  const name = freeName(slug, (one) => names.has(schemaConfigAddress(one)));
  names.add(schemaConfigAddress(name));
  const document = {
    apiVersion: "dimsync/v1",
    kind: kindNames.schemaConfig,
    metadata: { name },
    spec: {
      integration: manifest === undefined ? { id: item.liveId ?? integration } : integration,
      priority: (top.spec.priority ?? 0) + 1,
      ...treeOf(overrides),
    },
  };
  const lines = [
    "---",
    `# Accepted from the account: differs from ${covering.address}, which covers other integrations, too.`,
    ...blockLines(escapeReferences(document)),
    "",
  ];
  const joined = `${text}${text === "" || text.endsWith("\n") ? "" : eol}${lines.join(eol)}`;
  return documentRanges(joined).length === documentRanges(text).length + 1 ? joined : undefined;
}

/** The values below `spec`, with which every path begins. */
function treeOf(values: readonly { readonly path: readonly string[]; readonly value: JsonScalar }[]): JsonObject {
  const root = emptyRecord<JsonValue>();
  for (const { path, value } of values) {
    let branch = root;
    for (const key of path.slice(1, -1)) {
      // All inner values of the tree are records that this function made.
      const known = (branch[key] as Record<string, JsonValue> | undefined) ?? emptyRecord<JsonValue>();
      branch[key] = known;
      branch = known;
    }
    branch[path.at(-1) ?? ""] = value;
  }
  return root;
}
