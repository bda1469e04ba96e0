import { byText } from "../../model/address.ts";
import type { JsonValue } from "../../model/json/json.ts";
import { inlineYaml } from "../../yaml/print.ts";
import type { ImportContext, ImportedObjects } from "../kind.ts";
import { integrations, type LiveTag, users } from "../lists.ts";
import { kindNames } from "../manifests.ts";
import { userRefFor } from "../users.ts";

export const imported: ImportedObjects<LiveTag> = {
  skips: ({ name }) => (name === "" ? "has no name" : undefined),
  manifest(live, context) {
    const { account } = context;
    const { resources, untyped } = resourcesOf(live, context);
    const owner = userRefFor(live.owner, account.list(users).items);
    return {
      body: {
        spec: {
          name: live.name,
          ...(live.description === undefined ? {} : { description: live.description }),
          ...(owner === undefined ? {} : { owner: owner as JsonValue }), // a string or a map of strings
          resources,
        },
      },
      after: untypedComment(untyped),
      ...(resources.length > 0 && account.taggedBy === undefined ? { notice: noTagger } : {}),
    };
  },
};

/** Import cannot know the user; without one, the next resource that the user adds to a tag is an error. */
const noTagger =
  "Creating a tag relation needs the user who tags. Before you add resources to a tag, set defaults.taggedBy in dimsync.yaml to the e-mail address of a user.";

/** The entries for the resources of a tag: integrations and assets by name. `untyped`: ids whose type the service does not return. */
function resourcesOf(
  tag: LiveTag,
  { account, nameOf }: ImportContext,
): { readonly resources: readonly JsonValue[]; readonly untyped: readonly string[] } {
  const ids = [...new Set((tag.taggedResources ?? []).map(({ id }) => id))].sort(byText);
  const entries: { readonly key: string; readonly entry: JsonValue }[] = [];
  const untyped: string[] = [];
  for (const id of ids) {
    const integration = nameOf(kindNames.integration, id);
    const asset = nameOf(kindNames.asset, id);
    if (integration !== undefined) entries.push({ key: `1 ${integration}`, entry: { integration } });
    else if (account.list(integrations).byId.has(id)) entries.push({ key: `2 ${id}`, entry: { integration: { id } } });
    else if (asset !== undefined) entries.push({ key: `3 ${asset}`, entry: { asset } });
    else untyped.push(id);
  }
  return { resources: entries.sort((a, b) => byText(a.key, b.key)).map(({ entry }) => entry), untyped };
}

const untypedComment = (ids: readonly string[]): readonly string[] =>
  ids.length === 0
    ? []
    : [
        "  # Also tagged; the service does not return the type of these. To manage one, add it to resources (a monitor as `monitor`):",
        ...ids.map((id) => `  # - dataAsset: { id: ${inlineYaml(id)} }`),
      ];
