import type { Steps } from "../model/runtime/event-loop.ts";
import { formatLargeYaml } from "../yaml/format-large.ts";
import { propertiesOf, type Schema, schemaParts } from "./schema/lookup.ts";

/**
 * A file of manifests, or the config file, in canonical form (`formatYaml`), in steps: members in the order
 * of the schema that `schemaOf` returns for a kind. Maps that accept any member keep the author's
 * order. Undefined: the text is too large.
 */
export function formatManifests(text: string, schemaOf: (kind: string) => Schema | undefined): Steps<string | undefined> {
  return formatLargeYaml(text, (kind, pointer) => {
    const schema = schemaOf(kind);
    const parts = schema === undefined ? [] : schemaParts(schema, pointer);
    const isOpen = parts.some((part) => part["additionalProperties"] !== undefined && part["additionalProperties"] !== false);
    return isOpen ? [] : parts.flatMap((part) => Object.keys(propertiesOf(part)));
  });
}
