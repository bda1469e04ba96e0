import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliver } from "../../cli/output.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { validateProjects } from "../../core/operations/index.ts";

/** `dimsync validate [PATH…]`: everything that can be checked without the account, for all targets if none is selected. Sends no request. */
export async function runValidate(context: Context, paths: readonly string[]): Promise<ExitCode> {
  checkOutputs(context);
  const validation = await validateProjects(await loadAnyProjects(context, { paths, interruptible: true }));
  await deliver(context, [validation]);
  return validation.exit.code;
}
