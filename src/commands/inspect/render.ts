import { resolve } from "node:path";
import { expandConfigs } from "../../engine/explain.ts";
import { isSchemaConfig, kindNames, schemaConfigAddress } from "../../kinds/manifests.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import type { Project } from "../../manifests/project.ts";
import type { Address } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { JsonValue } from "../../model/json/json.ts";
import type { Resource } from "../../model/resource.ts";
import { withReadSession } from "../../operations/core/plan.ts";
import { withLocations } from "../../operations/inspect/explain.ts";
import { jsonDocument } from "../../text/control-characters.ts";
import { andMore } from "../../text/lists.ts";
import { blockLines } from "../../yaml/print.ts";
import type { Context } from "../shared/context.ts";
import type { RenderFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadValidProject, unknownManifest } from "../shared/project.ts";
import { say } from "../shared/say.ts";

/** `dimsync render [ADDRESS]`: prints manifests with variables filled in; secrets stay references. Sends no request; --expand sends GETs. */
export async function runRender(context: Context<RenderFlags>, address: string | undefined): Promise<ExitCode> {
  const { flags } = context;
  checkOutputs(context, ["human", "json"]);
  const isExpanded = flags.expand === true;
  const project = await loadValidProject(context, { account: isExpanded && flags.snapshot === undefined, offline: !isExpanded });
  if (project === undefined) return 1;
  // Plans name each integration of a SchemaConfig: SchemaConfig/shops@orders.
  const matches = address === undefined ? () => true : nameMatcher([address.replace(/^(SchemaConfig\/[^@]*)@.*$/su, "$1")]);
  const found = project.resources.filter((resource) => matches(resource.address));
  if (found.length === 0 && address !== undefined) throw unknownManifest(address, project.resources);
  const documents = isExpanded ? await expand(context, project, { found, address }) : found.map(documentOf);
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

interface RenderSelection {
  readonly found: readonly Resource[];
  /** As given on the command line. */
  readonly address: string | undefined;
}

const addressOf = (config: string, label: string): Address => `${schemaConfigAddress(config)}@${label}`;

/**
 * The documents, with each SchemaConfig replaced by one document without rules for each of its integrations. A SchemaConfig whose integrations are not in
 * the account yet stays as it is.
 */
async function expand({ io, flags, cwd }: Context<RenderFlags>, project: Project, { found, address }: RenderSelection) {
  const configs = found.filter(isSchemaConfig);
  const addresses = configs.map(({ address }) => address);
  const all =
    addresses.length === 0
      ? []
      : await withReadSession(
          project,
          { env: io.env, signal: io.interrupted, snapshotFile: flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot) },
          (session) => withLocations(project, expandConfigs(session, addresses)),
        );
  const isOne = address?.includes("@") === true;
  const trees = isOne ? all.filter(({ config, label }) => nameMatcher([address])(addressOf(config, label))) : all;
  if (isOne && trees.length === 0 && all.length > 0)
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No integration has the address ${JSON.stringify(address)}. Addresses: ${andMore(all.map(({ config, label }) => addressOf(config, label)))}.`,
    );
  const done = new Set(all.flatMap((tree) => tree.configs));
  const unexpanded = configs.filter(({ address }) => !done.has(address));
  if (unexpanded.length > 0 && flags.quiet !== true)
    say(io, `not expanded, because their integrations are not in the account yet: ${unexpanded.map(({ address }) => address).join(", ")}.`);
  const names = new Set<string>();
  const isUnclear = (label: string, liveId: string): boolean => label === liveId || trees.filter((tree) => tree.label === label).length > 1;
  const expanded = trees.map(({ config, label, liveId, schemas }) => {
    const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9._-]+/gu, "-");
    const plain = trees.length === 1 ? config : `${config}.${slug(label)}`;
    const name = names.has(plain) ? `${plain}.${slug(liveId)}` : plain;
    names.add(name);
    return {
      apiVersion: "dimsync/v1",
      kind: kindNames.schemaConfig,
      metadata: { name },
      spec: { integration: isUnclear(label, liveId) ? { id: liveId } : label, schemas },
    };
  });
  return [...found.filter((resource) => !isSchemaConfig(resource) || unexpanded.includes(resource)).map(documentOf), ...expanded];
}
