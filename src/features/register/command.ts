import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import type { Register, RegisterDiff } from "../../core/model/register.ts";
import { jsonDocument, printableJson } from "../../core/text/control-characters.ts";
import type { RegisterFlags } from "./index.ts";
import { makeRegister } from "./register.ts";
import { registerCsv, registerDiffCsv } from "./render/csv.ts";
import { registerDiffText, registerText } from "./render/human.ts";
import { registerDiffMarkdown, registerMarkdown } from "./render/markdown.ts";

/** `dimsync register`: what happens to every labelled column. Sends GET only; exit 3 if one breaks a policy of severity error, 2 if `--diff` finds changes. */
export async function runRegister(context: Context<RegisterFlags>): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context, ["human", "csv", "json", "html", "markdown"]);
  const project = await loadValidProject(context, { account: true, interruptible: true });
  const options = {
    base: flags.diff === undefined ? undefined : resolve(cwd, flags.diff),
    labels: flags.label,
    integrations: flags.integration,
  };
  const { register, diff } = await withRun(context, (run) => makeRegister(project, options, run));
  if (diff === undefined)
    await deliverForms(context, {
      human: (how) => registerText(register, how),
      csv: () => registerCsv(register),
      json: () => registerJson(register),
      html: async () => (await import("./render/html.ts")).registerHtml(register),
      markdown: (how) => registerMarkdown(register, how),
    });
  else
    await deliverForms(context, {
      human: (how) => registerDiffText(diff, how),
      csv: () => registerDiffCsv(diff),
      json: () => registerDiffJson(diff),
      html: async () => (await import("./render/html.ts")).registerDiffHtml(diff),
      markdown: (how) => registerDiffMarkdown(diff, how),
    });
  return (diff ?? register).exit.code;
}

/** One row on each line, so that a register of any size can be written. */
function* registerJson({ rows, target, at, account, summary, exit }: Register): Iterable<string> {
  const head = jsonDocument({
    formatVersion: "1.0",
    kind: "Register",
    target,
    account,
    at,
    exit,
    summary,
  });
  yield `${head.slice(0, -3)},\n  "rows": [`;
  let between = "\n";
  for (const row of rows) {
    yield `${between}    ${printableJson(JSON.stringify(row))}`;
    between = ",\n";
  }
  yield `${between === "\n" ? "" : "\n  "}]\n}\n`;
}

const registerDiffJson = (diff: RegisterDiff): string => jsonDocument({ formatVersion: "1.0", kind: "RegisterDiff", ...diff });
