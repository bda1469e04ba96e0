import { readFile } from "node:fs/promises";
import { nodePath } from "../../cli/argument-values.ts";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { planOptions } from "../../cli/plan-options.ts";
import { withRun } from "../../cli/progress.ts";
import { loadProjects } from "../../cli/project.ts";
import { DimsyncError, interruptedError, refuseErrors } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import type { NodePath } from "../../core/base/model/nodes.ts";
import { diagnosticsIn, isError } from "../../core/base/model/problem.ts";
import { jsonDocument, visible } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import { acceptColumns, newReview } from "../../core/columns/catalog/index.ts";
import { nameMatcher } from "../../core/kinds/index.ts";
import type { Project, ProjectCatalog } from "../../core/manifests/index.ts";
import { type RunEnvironment, withReadRun } from "../../core/operations/index.ts";
import { type PlanOptions, plan } from "../../core/plan/index.ts";
import { writeAtomic } from "../../core/records/index.ts";
import type { CatalogFlags } from "./index.ts";

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
  const node = path === undefined ? undefined : nodePath("catalog accept", path);
  const { scope } = planOptions({ ...flags, allow: [] });
  const options = { address, node, scope, dropsMissing: flags.all === true && flags.only.length + flags.exclude.length === 0 };
  const done: Acceptance[] = [];
  for (const project of await loadProjects(context, { account: true }))
    done.push(await withRun(context, (run) => acceptLiveColumns(project, options, run)));
  await deliverForms(context, {
    human: () => done.map(acceptanceText).join(""),
    json: () => jsonDocument(done.length === 1 ? done[0] : done),
  });
  return 0;
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

interface AcceptOptions {
  readonly scope: PlanOptions["scope"];
  /** Which schemas: "Schemas/orders", or a glob; all if absent. */
  readonly address: string | undefined;
  /** Which columns: those below the node; all if absent. */
  readonly node: NodePath | undefined;
  /** Whether integrations that the account no longer has are removed. */
  readonly dropsMissing: boolean;
}

/** What was accepted for one target. */
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

/**
 * Writes columns of the account to the catalog file. Sends only GET. Throws ProblemsError for manifests with errors, whose columns are not
 * read, and E_NO_CATALOG, E_READ_FAILED, E_UNKNOWN_ADDRESS and E_FILE_CHANGED; then nothing is written.
 */
async function acceptLiveColumns(loaded: Project, options: AcceptOptions, run: RunEnvironment): Promise<Acceptance> {
  const project = withCatalog(loaded);
  const { catalog, settings } = project;
  const { address, node } = options;
  const { text, added, ...counts } = await acceptedCatalog(project, options, run);
  if (run.signal.aborted) throw interruptedError();
  if (address !== undefined && added.length + counts.accepted + counts.removed + counts.renamed === 0) throw nothingAccepted(address, node);
  if (text !== catalog.text) {
    const now = await readFile(settings.catalogFile, "utf8").catch(() => "");
    if (now.replace(/^\ufeff/u, "") !== catalog.text)
      throw new DimsyncError(
        "E_FILE_CHANGED",
        `${catalog.file} has changed since it was read, so nothing was written. Run the command again.`,
      );
    await writeAtomic(settings.catalogFile, text);
  }
  return { target: settings.target, file: catalog.file, ...counts, addedIntegrations: added };
}

type CatalogProject = Project & { readonly catalog: ProjectCatalog; readonly settings: { readonly catalogFile: string } };

function withCatalog(project: Project): CatalogProject {
  const { catalog, settings, problems, locate } = project;
  refuseErrors(problems, locate);
  const { catalogFile } = settings;
  if (catalog === undefined || catalogFile === undefined)
    throw new DimsyncError(
      "E_NO_CATALOG",
      `The target ${visible(settings.target)} has no catalog. Add this line to the target in dimsync.yaml, and run the command again:`,
      { command: `catalog: dimsync.catalog.${visible(settings.target)}.yaml` },
    );
  return { ...project, catalog, settings: { ...settings, catalogFile } };
}

async function acceptedCatalog(
  project: CatalogProject,
  { scope, address, node, dropsMissing }: AcceptOptions,
  environment: RunEnvironment,
): Promise<ReturnType<typeof acceptColumns>> {
  const { file, columns } = project.catalog;
  const review = newReview({ catalog: columns, file });
  const made = await withReadRun(project, { ...environment, options: scope === undefined ? {} : { scope } }, (run) =>
    plan({ ...run, review }),
  );
  if (!made.complete) {
    const why = diagnosticsIn(made).find(isError)?.message ?? "";
    throw new DimsyncError("E_READ_FAILED", `The account was not read completely, so nothing was accepted. ${why}`);
  }
  const account = review.account();
  const live = review.compared();
  const names = new Map(account?.map(({ id, name }) => [id, name]));
  const matches = address === undefined ? () => true : nameMatcher([address]);
  // A live name can contain characters of globs.
  const selects = (schemas: string): boolean => schemas === address || matches(schemas);
  return acceptColumns(review.reviewed, {
    live,
    selects: (id) => selects(live.get(id)?.address ?? ""),
    includes: (path) => node === undefined || path.slice(0, node.length).every((name, index) => name === node[index]),
    keeps: (id) => !dropsMissing || account === undefined || names.has(id),
    names,
  });
}

function nothingAccepted(address: string, node: NodePath | undefined): DimsyncError {
  const where = node === undefined ? address : `${address} ${node.join(".")}`;
  return new DimsyncError("E_UNKNOWN_ADDRESS", `No column of ${where} is new or gone. Check the address. A plan lists the columns.`, {
    command: "dimsync plan",
  });
}
