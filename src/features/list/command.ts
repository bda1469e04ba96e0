import type { Context } from "../../cli/context.ts";
import { listingFormats, listingForms } from "../../cli/listing-forms.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import type { Project } from "../../core/manifests/project.ts";
import { byText } from "../../core/model/address.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { placeText } from "../../core/model/problem.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { readRecords } from "../../core/operations/open-records.ts";

/** One line of `dimsync list`. */
interface ListedManifest {
  readonly target: string;
  readonly address: string;
  /** The pinned or recorded live id; absent if there is none. */
  readonly id?: string;
  readonly file: string;
  readonly line?: number;
}

/** `dimsync list [PATH…]`: prints the addresses of the manifests with their live ids and files. Sends no request to the account. */
export async function runList(context: Context, paths: readonly string[]): Promise<ExitCode> {
  checkOutputs(context, listingFormats);
  const projects = await loadAnyProjects(context, { paths, interruptible: true });
  const listed = (await Promise.all(projects.map((project) => manifestsOf(project, context.io.env)))).flat();
  const rows = listed.map(({ file, line, ...row }) => ({ ...row, file: placeText({ file, line }) }));
  const columns = [...(projects.length > 1 ? ["target"] : []), "address", "id", "file"];
  await deliverForms(context, listingForms({ value: listed, rows, columns, isTty: context.io.stdoutIsTty }));
  return projects.some(({ problems }) => problems.some(({ severity }) => severity === "error")) ? 1 : 0;
}

async function manifestsOf({ settings, resources, locate }: Project, env: Environment): Promise<readonly ListedManifest[]> {
  const { bindings } = await readRecords(settings, { env });
  const sorted = [...resources].sort((a, b) => byText(a.address, b.address));
  return sorted.map(({ address, id: pinned, place }) => {
    const id = pinned ?? bindings.get(address)?.id;
    const { file, line } = locate(place);
    return { target: settings.target, address, ...(id === undefined ? {} : { id }), file, ...(line === undefined ? {} : { line }) };
  });
}
