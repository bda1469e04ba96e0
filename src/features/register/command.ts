import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import type { RegisterFlags } from "./index.ts";
import { makeRegister } from "./register.ts";
import { registerCsv, registerText } from "./render.ts";

/** `dimsync register`: what happens to every labelled column. Sends GET only; exit 3 if one breaks a policy of severity error. */
export async function runRegister(context: Context<RegisterFlags>): Promise<ExitCode> {
  const { flags } = context;
  checkOutputs(context, ["human", "csv", "json"]);
  const project = await loadValidProject(context, { account: true, interruptible: true });
  const options = { labels: flags.label, integrations: flags.integration };
  const register = await withRun(context, (run) => makeRegister(project, options, run));
  await deliverForms(context, {
    human: (how) => registerText(register, how),
    csv: () => registerCsv(register),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "Register", ...register }),
  });
  return register.exit.code;
}
