import { kindNames } from "../kinds/manifests.ts";
import { toAddress } from "../model/address.ts";
import type { JsonObject, JsonValue } from "../model/json/json.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { SchemaConfigSpec, UserRef } from "../model/resource.ts";
import { blockLines, inlineYaml } from "../yaml/print.ts";
import { escapeReferences } from "../yaml/references.ts";

// The manifests that import writes, as text. They declare the live values, so that the plan after them is empty.

/** One document, without the `---` line before it. */
export interface DocumentText {
  readonly address: string;
  readonly text: string;
}

function documentText(
  kind: string,
  name: string,
  body: JsonObject,
  comments: { readonly before?: readonly string[]; readonly after?: readonly string[] } = {},
): DocumentText {
  const { spec = {}, ...rest } = escapeReferences(body) as JsonObject; // a map stays a map
  const head = blockLines({ apiVersion: "dimsync/v1", kind, metadata: { name }, ...rest });
  const lines = [...(comments.before ?? []), ...head, "spec:", ...blockLines(spec, { column: 2, step: 2 }), ...(comments.after ?? [])];
  return { address: toAddress(kind, name), text: `${lines.join("\n")}\n` };
}

/** Without `create`, since it exists. `destination`: name of its Asset manifest. */
export function integrationText(name: string, live: LiveIntegration, destination: string | undefined): DocumentText {
  const { source } = live;
  return documentText(kindNames.integration, name, {
    spec: {
      destination: destination === undefined ? { id: live.destination.id } : { asset: destination },
      expect: {
        name: live.name,
        ...(live.paused === undefined ? {} : { paused: live.paused }),
        source: { name: source.name, type: source.type },
      },
    },
  });
}

/** The service returns only the name and type of an asset, so the connection is a commented stub that is never sent. */
export function assetText(name: string, live: LiveReference, connectionType: "source" | "destination" | undefined): DocumentText {
  const variable = `${name.replaceAll(/[^a-z0-9]+/gu, "_").toUpperCase()}_PASSWORD`;
  return documentText(
    kindNames.asset,
    name,
    {
      lifecycle: { create: "never" },
      spec: {
        name: live.name,
        ...(live.type === "" ? {} : { type: live.type }),
        ...(connectionType === undefined ? {} : { connectionType }),
        secretVersion: 0,
      },
    },
    {
      after: [
        "  # The service never returns a connection, and none is sent while secretVersion is 0. To manage it, write it here and raise secretVersion:",
        "  # connection:",
        `  #   password: { $secret: { env: ${variable} } }`,
      ],
    },
  );
}

export interface TagReferences {
  readonly owner: UserRef | undefined;
  readonly resources: readonly JsonValue[];
  /** Ids that the tag is attached to and whose type the service does not return. */
  readonly untyped: readonly string[];
}

export function tagText(name: string, live: LiveTag, { owner, resources, untyped }: TagReferences): DocumentText {
  return documentText(
    kindNames.tag,
    name,
    {
      spec: {
        name: live.name,
        ...(live.description === undefined ? {} : { description: live.description }),
        ...(owner === undefined ? {} : { owner: owner as JsonValue }), // a string or a map of strings
        resources,
      },
    },
    { after: untypedComment(untyped) },
  );
}

/** The comment in a tag's document that lists ids of unknown type. */
export function untypedComment(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  return [
    "  # Also tagged; the service does not return the type of these. To manage one, add it to resources (a monitor as `monitor`):",
    ...ids.map((id) => `  # - dataAsset: { id: ${inlineYaml(id)} }`),
  ];
}

export function schemaConfigText(name: string, spec: SchemaConfigSpec): DocumentText {
  const before =
    spec.rules === undefined
      ? []
      : [
          "# The rules live-… record the live state; `dimsync import` updates them. Names that no rule lists are not managed.",
          "# Add your own rules below: later rules win.",
        ];
  // A spec is JSON, which its type does not state.
  return documentText(kindNames.schemaConfig, name, { spec: spec as unknown as JsonObject }, { before });
}
