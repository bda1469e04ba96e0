import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliver } from "../../cli/output.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { readSavedDocuments } from "../../core/operations/index.ts";

/** `dimsync show FILE`: prints saved plans, drift reports or results in any format. Sends no request. */
export async function runShow(context: Context, file: string): Promise<ExitCode> {
  checkOutputs(context);
  await deliver(context, await readSavedDocuments(resolve(context.cwd, file), context.io.env));
  return 0;
}
