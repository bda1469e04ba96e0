import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { RenderFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadValidProject, unknownManifest } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { expandConfigs } from "../../engine/explain.ts";
import { isSchemaConfig, kindNames } from "../../kinds/manifests.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import type { Project } from "../../manifests/project.ts";
import { mayMatchKind, schemasKind } from "../../model/address.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { JsonValue } from "../../model/json/json.ts";
import type { Resource } from "../../model/resource.ts";
import { withReadSession } from "../../operations/core/plan.ts";
import { withLocations } from "../../operations/inspect/explain.ts";
import { jsonDocument } from "../../text/control-characters.ts";
import { blockLines } from "../../yaml/print.ts";

/** `dimsync render [ADDRESS]`: prints manifests with variables filled in; secrets stay references. Sends no request; --expand sends GETs. */
export async function runRender(context: Context<RenderFlags>, address: string | undefined): Promise<ExitCode> {
  const { flags } = context;
  checkOutputs(context, ["human", "json"]);
  const isExpanded = flags.expand === true;
  const project = await loadValidProject(context, { account: isExpanded && flags.snapshot === undefined, offline: !isExpanded });
  if (project === undefined) return 1;
  const matches = address === undefined ? () => true : nameMatcher([address]);
  const found = project.resources.filter((resource) => matches(resource.address));
  const documents = isExpanded ? await expand(context, project, address) : found.map(documentOf);
  if (documents.length === 0 && address !== undefined) throw unknownManifest(address, project.resources);
  await deliverForms(context, {
    human: () => documents.map((document) => `${blockLines(document as JsonValue).join("\n")}\n`).join("---\n"),
    json: () => jsonDocument(address !== undefined && documents.length === 1 ? documents[0] : documents),
  });
  return 0;
}

/** Without an empty reason, which is the default. */
function lifecycleOf({ acceptExposureWindow, ...lifecycle }: Resource["lifecycle"]) {
  return { ...lifecycle, ...(acceptExposureWindow ? { acceptExposureWindow } : {}) };
}

function documentOf({ kind, name, id, labels, lifecycle, spec }: Resource) {
  return {
    apiVersion: "dimsync/v1",
    kind,
    metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(id === undefined ? {} : { id }) },
    ...(kind === kindNames.asset || kind === kindNames.integration ? { lifecycle: lifecycleOf(lifecycle) } : {}),
    spec,
  };
}

/**
 * The manifests that match, with one document without rules for each integration in place of SchemaConfigs. A SchemaConfig whose
 * integrations are not in the account yet stays as it is.
 */
async function expand({ io, flags, cwd }: Context<RenderFlags>, project: Project, wanted = "*") {
  const matches = nameMatcher([wanted]);
  const found = project.resources.filter(({ address }) => matches(address));
  const run = {
    env: io.env,
    signal: io.interrupted,
    snapshotFile: flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot),
  };
  const trees =
    found.some(isSchemaConfig) || mayMatchKind(schemasKind)(wanted)
      ? await withReadSession(project, run, (session) => withLocations(project, expandConfigs(session, matches)))
      : [];
  const done = new Set(trees.flatMap(({ configs }) => configs.map(({ address }) => address)));
  const unexpanded = found.filter((resource) => isSchemaConfig(resource) && !done.has(resource.address));
  if (unexpanded.length > 0 && flags.quiet !== true)
    say(io, `not expanded, because their integrations are not in the account yet: ${unexpanded.map(({ address }) => address).join(", ")}.`);
  const names = new Set<string>();
  const expanded = trees.map(({ configs, name: integration, ref, liveId, schemas }) => {
    const config = configs.at(-1)?.name ?? "";
    const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9._-]+/gu, "-");
    const plain = trees.length === 1 ? config : `${config}.${slug(integration)}`;
    const name = names.has(plain) ? `${plain}.${slug(liveId)}` : plain;
    names.add(name);
    return {
      apiVersion: "dimsync/v1",
      kind: kindNames.schemaConfig,
      metadata: { name },
      spec: { integration: ref, schemas },
    };
  });
  return [...found.filter((resource) => !isSchemaConfig(resource) || unexpanded.includes(resource)).map(documentOf), ...expanded];
}
