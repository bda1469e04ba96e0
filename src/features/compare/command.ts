import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { renderHtml } from "../../core/render/html/index.ts";
import { documentPieces } from "../../core/render/machine/json.ts";
import { renderMarkdown } from "../../core/render/markdown/index.ts";
import { renderHuman } from "../../core/render/terminal/index.ts";
import { type ComparedSide, compareSides } from "./compare.ts";
import type { CompareFlags } from "./index.ts";

/** `dimsync compare --from A --to B`: compares two targets or snapshots. Sends GET only; exit 2 if they differ. */
export async function runCompare(context: Context<CompareFlags>): Promise<ExitCode> {
  checkOutputs(context, ["human", "json", "markdown", "html"]);
  const { from, to } = context.flags;
  if (from === undefined || to === undefined)
    throw new DimsyncError("E_USAGE", "compare needs two targets or snapshot files.", {
      command: "dimsync compare --from staging --to prod",
    });
  const [before, after] = [await sideOf(context, from), await sideOf(context, to)];
  const comparison = await withRun(context, (run) => compareSides(before, after, run));
  await deliverForms(context, {
    human: (options) => renderHuman(comparison, options),
    json: () => documentPieces(comparison),
    markdown: (options) => renderMarkdown(comparison, options),
    html: (options) => renderHtml(comparison, options),
  });
  return comparison.exit.code;
}

/** An existing file, or a name that looks like one, is a snapshot; anything else is the name of a target. */
async function sideOf(context: Context<CompareFlags>, name: string): Promise<ComparedSide> {
  const { cwd } = context;
  const snapshotFile = resolve(cwd, name);
  const isFile = statSync(snapshotFile, { throwIfNoEntry: false })?.isFile() === true;
  // A snapshot needs no project.
  if (isFile || /[/\\]|\.(?:json|gz)$/u.test(name)) return { name, source: { snapshotFile } };
  const project = await loadOneProject(context, { targets: [name], interruptible: true });
  return { name, source: project };
}
