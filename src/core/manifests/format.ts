import { formatYaml } from "../yaml/format.ts";
import { propertiesOf, type Schema, schemaParts } from "./schema/lookup.ts";

/**
 * A file of manifests, or the config file, in canonical form (`formatYaml`): members in the order of the
 * schema that `schemaOf` returns for a kind. Maps that accept any member keep the author's order.
 */
export function formatManifests(text: string, schemaOf: (kind: string) => Schema | undefined): string {
  return formatYaml(text, (kind, pointer) => {
    const schema = schemaOf(kind);
    const parts = schema === undefined ? [] : schemaParts(schema, pointer);
    const isOpen = parts.some((part) => part["additionalProperties"] !== undefined && part["additionalProperties"] !== false);
    return isOpen ? [] : parts.flatMap((part) => Object.keys(propertiesOf(part)));
  });
}
