import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CiEnvironment } from "../../ci/environment.ts";
import { DimsyncError } from "../../model/errors.ts";
import { combineExits, type ExitCode } from "../../model/exit.ts";
import type { Plan, Result } from "../../model/plan.ts";
import { githubPieces } from "../../render/machine/github.ts";
import type { Context } from "../shared/context.ts";
import type { CiFlags } from "../shared/flags.ts";
import { setGithubOutputs, writeGithubFiles } from "../shared/github-outputs.ts";
import { checkOutputs, deliver } from "../shared/output.ts";
import { loadProjects } from "../shared/project.ts";
import { plansIn, resultsIn } from "./documents.ts";
import { keepBindings } from "./push-bindings.ts";

// What a log can show target by target; a document of any other format is one for all of them.
const flowing = new Set(["human", "github", "ndjson"]);

/**
 * Plans, saves, and applies exactly what was saved, target by target, which also serves protected ones; sees to the bindings file after each. Files are
 * written at the end, for all targets together: one in the checkout would make the tree of the next target's plan unclean.
 */
export async function ciApply(context: Context<CiFlags>, run: CiEnvironment, folder: string): Promise<ExitCode> {
  const { flags, io, cwd } = context;
  if (flags.allTargets === true) throw new DimsyncError("E_USAGE", "dimsync ci apply takes each target by name. Name them with -t.");
  checkOutputs(context);
  // A target that isn't there is found before the first one is written to.
  await loadProjects(context);
  const targets: readonly (readonly string[])[] = flags.target.length === 0 ? [[]] : [...new Set(flags.target)].map((target) => [target]);
  const inFlow = flags.output.filter((text) => flowing.has(text));
  const atEnd = flags.output.filter((text) => !inFlow.includes(text) && !text.startsWith("ndjson="));
  const streams = flags.output.flatMap((text) => (text.startsWith("ndjson=") ? [resolve(cwd, text.slice("ndjson=".length))] : []));
  const isSilent = inFlow.length === 0 && atEnd.some((text) => !text.includes("="));
  const documents: (Plan | Result)[] = [];
  const exits: ExitCode[] = [];
  const eventsFile = (index: number): string => join(folder, `events-${index}.ndjson`);
  const finish = async (): Promise<void> => {
    const events = targets.map((_, index) => eventsFile(index)).filter((file) => existsSync(file));
    for (const stream of streams) for (const file of events) appendFileSync(stream, readFileSync(file));
    const stdout = isSilent ? io.stdout : () => {};
    if (documents.length > 0) await deliver({ ...context, io: { ...io, stdout }, flags: { ...flags, output: atEnd } }, documents);
  };
  try {
    for (const [index, target] of targets.entries()) {
      const { metrics: _, ...rest } = flags;
      const output = [...inFlow, ...(streams.length === 0 ? [] : [`ndjson=${eventsFile(index)}`])];
      const ofTarget: Context<CiFlags> = {
        ...context,
        io: isSilent ? { ...io, stdout: io.stderr } : io,
        flags: { ...rest, target, output },
      };
      exits.push(await applyTarget(ofTarget, join(folder, `plan-${index}.json`), documents));
      exits.push(await keepBindings(ofTarget, run));
      if (io.interrupted.aborted) break;
    }
  } catch (error) {
    // What failed first is what matters.
    await finish().catch(() => undefined);
    throw error;
  }
  await finish();
  const code = io.interrupted.aborted ? 130 : combineExits(exits.map((exit) => ({ code: exit, reasons: [] }))).code;
  if (flags.output.some((text) => text.split("=")[0] === "github"))
    setGithubOutputs(io.env["GITHUB_OUTPUT"] ?? "", { ...githubPieces(documents).outputs, exit_code: String(code) });
  return code;
}

/** `documents`: what is to be told of the target is added. */
async function applyTarget(context: Context<CiFlags>, planFile: string, documents: (Plan | Result)[]): Promise<ExitCode> {
  const { flags, io } = context;
  const [plansFile, resultsFile] = [`${planFile}.plans`, `${planFile}.results`];
  const { runPlan } = await import("../core/plan.ts");
  const code = await runPlan(
    {
      ...context,
      io: { ...io, stdout: () => {} },
      flags: { ...flags, output: [`json=${plansFile}`], out: planFile, detailedExitcode: false },
    },
    [],
  );
  const plans = await plansIn(plansFile);
  if (code !== 0 || plans.every(({ items, deferred }) => items.length === 0 && deferred.length === 0)) {
    documents.push(...plans);
    await deliver(context, plans);
    return code;
  }
  await deliver(
    { ...context, io: flags.output.includes("ndjson") ? { ...io, stdout: io.stderr } : io, flags: { ...flags, output: [] } },
    plans,
  );
  if (flags.output.includes("github")) writeGithubFiles(io.env, plans, "");
  const { runApply } = await import("../core/apply.ts");
  try {
    return await runApply({ ...context, flags: { ...flags, output: [...flags.output, `json=${resultsFile}`] } }, planFile);
  } finally {
    documents.push(...(await resultsIn(resultsFile)));
  }
}
