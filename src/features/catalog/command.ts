import type { Context } from "../../cli/context.ts";
import type { CatalogFlags } from "../../cli/flags.ts";
import { nodePath } from "../../cli/node-path.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { planOptions } from "../../cli/plan-options.ts";
import { withRun } from "../../cli/progress.ts";
import { loadProjects } from "../../cli/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { counted } from "../../core/text/counts.ts";
import { type Acceptance, acceptLiveColumns } from "./catalog.ts";

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
  const { scope } = planOptions({ ...flags, allow: [], ignore: [] });
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
