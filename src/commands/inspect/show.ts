import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliver } from "../../cli/output.ts";
import { drift, plan, result } from "../../manifests/validators.generated.js";
import type { ExitCode } from "../../model/exit.ts";
import { isObject } from "../../model/json/json.ts";
import { readDocuments } from "../../records/plan-file.ts";

/** `dimsync show FILE`: prints saved plans, drift reports or results in any format. Sends no request. */
export async function runShow(context: Context, file: string): Promise<ExitCode> {
  checkOutputs(context);
  const { io, cwd } = context;
  const validate = (value: unknown): boolean => {
    const kind = isObject(value) ? value["kind"] : undefined;
    return kind === "Result" ? result(value) : kind === "DriftReport" ? drift(value) : plan(value);
  };
  await deliver(context, await readDocuments(resolve(cwd, file), { digestKey: io.env["DIMSYNC_DIGEST_KEY"], validate }));
  return 0;
}
