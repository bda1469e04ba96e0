import type { ExitCode } from "../model/exit.ts";
import type { Context } from "./context.ts";
import { loadOneProject } from "./project.ts";

/** The addresses of the project's manifests, a line each: what shell completion asks for. */
export async function runAddresses(context: Context): Promise<ExitCode> {
  const { resources } = await loadOneProject(context);
  context.io.stdout(resources.map(({ address }) => `${address}\n`).join(""));
  return 0;
}
