import { readFile } from "node:fs/promises";
import type { Context } from "../../cli/context.ts";
import type { CatalogFlags } from "../../cli/flags.ts";
import { nodePath } from "../../cli/node-path.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { planOptions } from "../../cli/plan-options.ts";
import { showProgress } from "../../cli/progress.ts";
import { loadProjects } from "../../cli/project.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import type { Project, ProjectCatalog } from "../../manifests/project.ts";
import { DimsyncError, interruptedError, ProblemsError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { NodePath } from "../../model/nodes.ts";
import { acceptLiveColumns } from "../../operations/adopt/catalog.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { jsonDocument, visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";

/** What `catalog accept` did for one target. */
interface Acceptance {
  readonly target: string;
  readonly file: string;
  readonly accepted: number;
  readonly removed: number;
  /** Integrations whose name in the file changed. */
  readonly renamed: number;
  /** Ids of the integrations that the file did not have; all of their columns are accepted. */
  readonly addedIntegrations: readonly string[];
}

/** `dimsync catalog accept`: writes the columns that someone has reviewed to the catalog file. Sends only GET. */
export async function runCatalog(
  context: Context<CatalogFlags>,
  task: string,
  [address, path, ...more]: readonly string[],
): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const { flags } = context;
  if (task !== "accept") throw new DimsyncError("E_USAGE", `${JSON.stringify(task)} is not a task of catalog: accept.`);
  if ((flags.all === true) === (address !== undefined) || more.length > 0)
    throw new DimsyncError("E_USAGE", "catalog accept takes an address as plan prints it, such as Schemas/orders, or --all.");
  const node = path === undefined && flags.pointer === undefined ? undefined : nodePath("catalog accept", path, flags.pointer);
  const done: Acceptance[] = [];
  for (const project of await loadProjects(context, { account: true })) done.push(await accept(context, project, { address, node }));
  await deliverForms(context, {
    human: () => done.map(acceptanceText).join(""),
    json: () => jsonDocument(done.length === 1 ? done[0] : done),
  });
  return 0;
}

interface Wanted {
  readonly address: string | undefined;
  readonly node: NodePath | undefined;
}

async function accept(context: Context<CatalogFlags>, loaded: Project, { address, node }: Wanted): Promise<Acceptance> {
  const { flags, io } = context;
  const project = withCatalog(loaded);
  const { target, catalogFile } = project.settings;
  const matches = address === undefined ? () => true : nameMatcher([address]);
  // A live name can contain characters of globs.
  const isWanted = (schemas: string): boolean => schemas === address || matches(schemas);
  const isScoped = flags.only.length + flags.exclude.length > 0;
  const progress = showProgress(context);
  const options = planOptions({ ...flags, allow: [], ignore: [] });
  const made = await acceptLiveColumns(
    project,
    {
      ...(options.scope === undefined ? {} : { scope: options.scope }),
      dropsMissing: flags.all === true && !isScoped,
      selects: isWanted,
      includes: (path) => node === undefined || path.slice(0, node.length).every((name, index) => name === node[index]),
    },
    { env: io.env, signal: io.interrupted, onProgress: progress.onProgress },
  ).finally(progress.end);
  if (io.interrupted.aborted) throw interruptedError();
  const { catalog } = project;
  const { text, added, ...counts } = made;
  if (address !== undefined && added.length + counts.accepted + counts.removed + counts.renamed === 0) throw nothingAccepted(address, node);
  if (text !== catalog.text) {
    const now = await readFile(catalogFile, "utf8").catch(() => "");
    if (now.replace(/^\ufeff/u, "") !== catalog.text)
      throw new DimsyncError(
        "E_FILE_CHANGED",
        `${catalog.file} has changed since it was read, so nothing was written. Run the command again.`,
      );
    await writeAtomic(catalogFile, text);
  }
  return { target, file: catalog.file, ...counts, addedIntegrations: added };
}

type CatalogProject = Project & { readonly catalog: ProjectCatalog; readonly settings: { readonly catalogFile: string } };

/** Throws if the target has no catalog, or if there are errors, because columns of manifests with errors are not read. */
function withCatalog(project: Project): CatalogProject {
  const { catalog, settings, problems, locate } = project;
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors, locate);
  const { catalogFile } = settings;
  if (catalog === undefined || catalogFile === undefined)
    throw new DimsyncError(
      "E_NO_CATALOG",
      `The target ${visible(settings.target)} has no catalog. Add this line to the target in dimsync.yaml, and run the command again:`,
      {
        command: `catalog: dimsync.catalog.${visible(settings.target)}.yaml`,
      },
    );
  return { ...project, catalog, settings: { ...settings, catalogFile } };
}

function nothingAccepted(address: string, node: NodePath | undefined): DimsyncError {
  const where = node === undefined ? address : `${address} ${node.join(".")}`;
  return new DimsyncError("E_NOTHING_TO_ACCEPT", `No column of ${where} is new or gone. To see which columns are, run plan.`, {
    command: "dimsync plan",
  });
}

function acceptanceText({ target, file, accepted, removed, renamed, addedIntegrations: { length: added } }: Acceptance): string {
  const first = added === 0 ? "" : ` (${counted(added, "integration")} for the first time)`;
  const parts = [
    ...(accepted + added === 0 ? [] : [`accepted ${counted(accepted, "column")}${first}`]),
    ...(removed === 0 ? [] : [`removed ${counted(removed, "column")} that ${removed === 1 ? "is" : "are"} gone`]),
    ...(renamed === 0 ? [] : [`updated ${counted(renamed, "name")}`]),
  ];
  if (parts.length === 0) return `${target}: nothing to accept. ${file} has all columns.\n`;
  return `${target}: ${parts.join(", ")} in ${file}. Commit it.\n`;
}
