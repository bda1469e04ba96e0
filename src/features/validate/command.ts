import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliver } from "../../cli/output.ts";
import { loadProjects } from "../../cli/project.ts";
import { combineExits, type ExitCode } from "../../core/model/exit.ts";
import { validateProject } from "../../core/operations/validate.ts";

/** `dimsync validate [PATH…]`: everything that can be checked without the account. Sends no request. */
export async function runValidate(context: Context, paths: readonly string[]): Promise<ExitCode> {
  checkOutputs(context);
  const validations = await Promise.all((await loadProjects(context, { paths, interruptible: true })).map(validateProject));
  await deliver(context, validations);
  return combineExits(validations.map(({ exit }) => exit)).code;
}
