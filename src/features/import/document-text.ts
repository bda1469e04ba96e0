import { toAddress } from "../../core/base/model/address.ts";
import { defined, type JsonObject } from "../../core/base/model/json/json.ts";
import type { SchemaConfigSpec } from "../../core/base/model/manifest.ts";
import { blockLines, escapeReferences } from "../../core/base/yaml/print.ts";
import { kindNames } from "../../core/kinds/index.ts";

/** A manifest that import writes, without the `---` line before it. */
export interface DocumentText {
  readonly address: string;
  readonly text: string;
}

interface DocumentOptions {
  /** The only targets that have it; absent: all that load its file. */
  readonly targets: readonly string[] | undefined;
  /** Lines of comments. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** `body` is the manifest without its head. */
export function documentText(
  kind: string,
  name: string,
  body: JsonObject,
  { targets, before = [], after = [] }: DocumentOptions,
): DocumentText {
  const { spec = {}, ...rest } = escapeReferences(body) as JsonObject; // a map stays a map
  const head = blockLines({ apiVersion: "dimsync/v1", kind, metadata: { name, ...defined({ targets }) }, ...rest });
  const lines = [...before, ...head, "spec:", ...blockLines(spec, { column: 2, step: 2 }), ...after];
  return { address: toAddress(kind, name), text: `${lines.join("\n")}\n` };
}

export function schemaConfigText(name: string, spec: SchemaConfigSpec, { targets }: Pick<DocumentOptions, "targets">): DocumentText {
  const before =
    spec.rules === undefined
      ? []
      : [
          "# The rules live-… record the state at the import. Names that no rule lists are not managed.",
          "# Add your own rules below: later rules win.",
        ];
  // A spec is JSON, which its type does not state.
  return documentText(kindNames.schemaConfig, name, { spec: spec as unknown as JsonObject }, { targets, before });
}
