import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { expandConfigs } from "../../core/engine/explain.ts";
import { isSchemaConfig, kindNames } from "../../core/kinds/manifests.ts";
import { nameMatcher } from "../../core/kinds/patterns/names.ts";
import { type Project, unknownManifest, withLocations } from "../../core/manifests/project.ts";
import { type Address, mayMatchKind, schemasKind } from "../../core/model/address.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { defined, type JsonValue } from "../../core/model/json/json.ts";
import type { Resource } from "../../core/model/resource.ts";
import { withReadSession } from "../../core/operations/plan.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { yamlDocuments } from "../../core/yaml/print.ts";
import type { RenderFlags } from "./index.ts";

/** `dimsync render [ADDRESS]`: prints manifests with variables filled in; secrets stay references. Sends no request; --expand sends GETs. */
export async function runRender(context: Context<RenderFlags>, address: string | undefined): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const isExpanded = flags.expand === true;
  const project = await loadValidProject(context, { account: isExpanded && flags.snapshot === undefined, interruptible: true });
  const snapshotFile = flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot);
  const { documents, unexpanded } = await withRun(context, (run) =>
    renderManifests(project, { address, isExpanded }, { ...run, snapshotFile }),
  );
  if (unexpanded.length > 0 && flags.quiet !== true)
    say(io, `not expanded, because their integrations are not in the account yet: ${unexpanded.join(", ")}.`);
  await deliverForms(context, {
    human: () => yamlDocuments(documents),
    json: () => jsonDocument(address !== undefined && documents.length === 1 ? documents[0] : documents),
  });
  return 0;
}

/** Manifests with variables filled in; secrets are references. */
interface RenderedManifests {
  readonly documents: readonly JsonValue[];
  /** The SchemaConfigs that stay as they are, because their integrations are not in the account yet. */
  readonly unexpanded: readonly Address[];
}

interface RenderManifestsOptions {
  /** An address or a glob; undefined: all. */
  readonly address: string | undefined;
  /** In place of SchemaConfigs, one document without rules for each integration. */
  readonly isExpanded: boolean;
}

/** Sends GETs only if it expands, and else no request. Throws E_UNKNOWN_ADDRESS if no manifest matches. */
async function renderManifests(
  project: Project,
  { address, isExpanded }: RenderManifestsOptions,
  run: RunEnvironment,
): Promise<RenderedManifests> {
  const { resources } = project;
  const matches = address === undefined ? () => true : nameMatcher([address]);
  const found = resources.filter((resource) => matches(resource.address));
  const rendered = isExpanded
    ? await expand(project, { wanted: address ?? "*", found }, run)
    : { documents: found.map(documentOf), unexpanded: [] };
  if (rendered.documents.length === 0 && address !== undefined) throw unknownManifest(address, resources);
  return rendered as RenderedManifests; // documents are JSON values, as manifests are
}

/** Without an empty reason, which is the default. */
function lifecycleOf({ acceptExposureWindow, ...lifecycle }: Resource["lifecycle"]) {
  return { ...lifecycle, ...(acceptExposureWindow ? { acceptExposureWindow } : {}) };
}

function documentOf({ kind, name, id, labels, targets, lifecycle, spec }: Resource) {
  return {
    apiVersion: "dimsync/v1",
    kind,
    metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...defined({ targets, id }) },
    ...(kind === kindNames.asset || kind === kindNames.integration ? { lifecycle: lifecycleOf(lifecycle) } : {}),
    spec,
  };
}

async function expand(
  project: Project,
  { wanted, found }: { readonly wanted: string; readonly found: readonly Resource[] },
  run: RunEnvironment,
) {
  const matches = nameMatcher([wanted]);
  const trees =
    found.some(isSchemaConfig) || mayMatchKind(schemasKind)(wanted)
      ? await withReadSession(project, run, (session) => withLocations(project, expandConfigs(session, matches)))
      : [];
  const done = new Set(trees.flatMap(({ configs }) => configs.map(({ address }) => address)));
  const unexpanded = found.filter((resource) => isSchemaConfig(resource) && !done.has(resource.address));
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
  const rest = found.filter((resource) => !isSchemaConfig(resource) || unexpanded.includes(resource));
  return { documents: [...rest.map(documentOf), ...expanded], unexpanded: unexpanded.map(({ address }) => address) };
}
