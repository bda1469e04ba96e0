import { Document } from "yaml";
import { expandConfigs } from "../engine/explain.ts";
import { nameMatcher } from "../kinds/names.ts";
import type { Project } from "../manifests/project.ts";
import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import { toDiagnostic } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { didYouMean } from "../model/suggest.ts";
import type { Context } from "./context.ts";
import type { GlobalFlags } from "./flags.ts";
import { withReadSession } from "./operations.ts";
import { checkOutputs, deliverForms } from "./output.ts";
import { loadOneProject } from "./project.ts";

export interface RenderFlags extends GlobalFlags {
  readonly expand?: boolean;
}

/** `dimsync render [ADDRESS]`: manifests as dimsync sees them, variables filled in, secrets as references. Makes no call but with --expand, which reads. */
export async function runRender(context: Context<RenderFlags>, address: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  await checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context);
  const { diagnosticText } = await import("./report.ts");
  const errors = project.problems.filter(({ severity }) => severity === "error");
  for (const problem of errors) io.stderr(diagnosticText(context, toDiagnostic(problem, project.locate)));
  if (errors.length > 0) return 1;
  const matches = address === undefined ? () => true : nameMatcher([address]);
  const found = project.resources.filter((resource) => matches(resource.address));
  if (found.length === 0 && address !== undefined)
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No manifest has the address ${JSON.stringify(address)}.${didYouMean(
        address,
        project.resources.map((resource) => resource.address),
      )}`,
    );
  const expanded = flags.expand === true ? await expand(context, project, found) : [];
  const documents = [...found.filter(({ kind }) => flags.expand !== true || kind !== "SchemaConfig").map(documentOf), ...expanded];
  await deliverForms(context, {
    human: () => documents.map((document) => new Document(document).toString({ lineWidth: 120 })).join("---\n"),
    json: () => `${JSON.stringify(address !== undefined && documents.length === 1 ? documents[0] : documents, undefined, 2)}\n`,
  });
  return 0;
}

/** An empty reason is no reason, and assets take none. */
function lifecycleOf({ acceptExposureWindow, ...lifecycle }: Resource["lifecycle"]) {
  return { ...lifecycle, ...(acceptExposureWindow ? { acceptExposureWindow } : {}) };
}

function documentOf({ kind, name, id, labels, lifecycle, spec }: Resource) {
  return {
    apiVersion: "dimsync/v1",
    kind,
    metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(id === undefined ? {} : { id }) },
    ...(kind === "Asset" || kind === "Integration" ? { lifecycle: lifecycleOf(lifecycle) } : {}),
    spec,
  };
}

/** One document for each integration that the schema configurations act on, without rules. */
async function expand({ io }: Context, project: Project, found: readonly Resource[]) {
  const addresses = found.filter(({ kind }) => kind === "SchemaConfig").map(({ address }) => address);
  if (addresses.length === 0) return [];
  const trees = await withReadSession(project, { env: io.env, signal: io.interrupted }, (session) => expandConfigs(session, addresses));
  return trees.map(({ config, label, schemas }) => ({
    apiVersion: "dimsync/v1",
    kind: "SchemaConfig",
    metadata: { name: trees.length === 1 ? config : `${config}.${label.toLowerCase().replaceAll(/[^a-z0-9._-]+/gu, "-")}` },
    spec: { integration: label, schemas },
  }));
}
