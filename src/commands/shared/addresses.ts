import type { ExitCode } from "../../model/exit.ts";
import type { Context } from "./context.ts";
import { loadAnyProjects } from "./project.ts";

/** The addresses of the project's manifests, a line each: what shell completion asks for. */
export async function runAddresses(context: Context): Promise<ExitCode> {
  const projects = await loadAnyProjects(context);
  const addresses = new Set(projects.flatMap(({ resources }) => resources.map(({ address }) => `${address}\n`)));
  context.io.stdout([...addresses].join(""));
  return 0;
}
