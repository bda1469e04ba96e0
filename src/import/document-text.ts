import type { JsonObject, JsonValue } from "../model/json.ts";
import type { LiveIntegration, LiveReference, LiveTag } from "../model/live.ts";
import type { SchemaConfigSpec, UserRef } from "../model/resource.ts";
import { escapeReferences, indented, inlineYaml, yamlLines } from "../yaml/print.ts";

// The manifests that import writes, as text: what is in them is what the account showed, so that the plan after them is empty.

/** One document, without the line of dashes before it. */
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
  const head = yamlLines({ apiVersion: "dimsync/v1", kind, metadata: { name }, ...rest });
  const lines = [...(comments.before ?? []), ...head, "spec:", ...indented(yamlLines(spec)), ...(comments.after ?? [])];
  return { address: `${kind}/${name}`, text: `${lines.join("\n")}\n` };
}

/** Without `create`: it exists. `destination` is the name of its Asset manifest. */
export function integrationText(name: string, live: LiveIntegration, destination: string | undefined): DocumentText {
  const { source } = live;
  return documentText("Integration", name, {
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

/** The interface shows an asset's name and type only (interface §2.2), so the connection is a stub in comments, and never sent. */
export function assetText(name: string, live: LiveReference, connectionType: "source" | "destination" | undefined): DocumentText {
  const variable = `${name.replaceAll(/[^a-z0-9]+/gu, "_").toUpperCase()}_PASSWORD`;
  return documentText(
    "Asset",
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
        "  # The service never shows a connection, and with secretVersion 0 none is sent. To manage it, write it out and raise secretVersion:",
        "  # connection:",
        `  #   password: { $secret: { env: ${variable} } }`,
      ],
    },
  );
}

/** `resources` are the entries that have a type; `untyped` ids of which the service doesn't say what they are (interface §2.4). */
export function tagText(
  name: string,
  live: LiveTag,
  owner: UserRef | undefined,
  resources: readonly JsonValue[],
  untyped: readonly string[],
): DocumentText {
  return documentText(
    "Tag",
    name,
    {
      spec: {
        name: live.name,
        ...(live.description === undefined ? {} : { description: live.description }),
        ...(owner === undefined ? {} : { owner: owner as JsonValue }), // a person is a text or a map of texts
        resources,
      },
    },
    { after: untypedComment(untyped) },
  );
}

/** How ids that can't be typed stand in a tag's document; nothing where there are none. */
export function untypedComment(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  return [
    "  # Tagged too, but the service doesn't say what these are. To manage one, add it to resources (a monitor as `monitor`):",
    ...ids.map((id) => `  # - dataAsset: { id: ${inlineYaml(id)} }`),
  ];
}

export function schemaConfigText(name: string, spec: SchemaConfigSpec): DocumentText {
  const before =
    spec.rules === undefined
      ? []
      : [
          "# Rules named live-… list what was live; `dimsync import` keeps them up to date. What no rule names is left alone.",
          "# Rules of your own go below them: later ones win.",
        ];
  // A spec is JSON; its types only don't say so.
  return documentText("SchemaConfig", name, { spec: spec as unknown as JsonObject }, { before });
}
