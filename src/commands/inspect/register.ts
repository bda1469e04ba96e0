import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { RegisterFlags } from "../../cli/flags.ts";
import { momentOf } from "../../cli/moments.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { makeRegister, type RegisterBase } from "../../operations/inspect/register.ts";
import { registerCsv, registerDiffCsv } from "../../render/register/csv.ts";
import { registerDiffText, registerText } from "../../render/register/human.ts";
import { registerDiffJson, registerJson } from "../../render/register/json.ts";
import { registerDiffMarkdown, registerMarkdown } from "../../render/register/markdown.ts";

/** `dimsync register`: what happens to every labelled column. Sends GET only; exit 3 if one breaks a policy of severity error, 2 if `--diff` finds changes. */
export async function runRegister(context: Context<RegisterFlags>): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context, ["human", "csv", "json", "html", "markdown"]);
  const nowMs = Date.now();
  const base = flags.diff === undefined ? undefined : baseOf(flags.diff, cwd, nowMs);
  const project = await loadValidProject(context, { account: flags.snapshot === undefined, interruptible: true });
  const options = {
    base,
    labels: flags.label,
    integrations: flags.integration,
    historyFolder: typeof flags.history === "string" ? resolve(cwd, flags.history) : undefined,
    remember: flags.history !== false,
  };
  const snapshotFile = flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot);
  const { register, diff, close } = await withRun(context, (run) => makeRegister(project, options, { ...run, snapshotFile }));
  try {
    if (diff === undefined)
      await deliverForms(context, {
        human: (how) => registerText(register, how),
        csv: () => registerCsv(register, flags.csv),
        json: () => registerJson(register),
        html: async () => (await import("../../render/register/html.ts")).registerHtml(register),
        markdown: (how) => registerMarkdown(register, how),
      });
    else
      await deliverForms(context, {
        human: (how) => registerDiffText(diff, how),
        csv: () => registerDiffCsv(diff, flags.csv),
        json: () => registerDiffJson(diff),
        html: async () => (await import("../../render/register/html.ts")).registerDiffHtml(diff),
        markdown: (how) => registerDiffMarkdown(diff, how),
      });
    return (diff ?? register).exit.code;
  } finally {
    close();
  }
}

/** An existing file, or a time. Throws E_USAGE. */
function baseOf(text: string, cwd: string, nowMs: number): RegisterBase {
  const file = resolve(cwd, text);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return { file };
  const time = momentOf(text, nowMs);
  if (time !== undefined) return { time };
  throw new DimsyncError(
    "E_USAGE",
    `Invalid --diff ${JSON.stringify(text)}: there is no such file, and it is not a time. Use a register in JSON or CSV, a date such as 2026-03-01, or an age such as 7d.`,
  );
}
