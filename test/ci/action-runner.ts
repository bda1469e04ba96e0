import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}
interface Inputs {
  readonly [name: string]: { readonly default?: string };
}
interface Action {
  readonly inputs: Inputs;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}
interface Workflow {
  readonly on: { readonly workflow_call?: { readonly inputs?: Inputs } };
  readonly jobs: Readonly<
    Record<string, { readonly if?: string; readonly outputs?: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}
/** The machine that a job runs on. */
interface World {
  readonly workspace: string;
  readonly temp: string;
  readonly github: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** What one run of the action left behind. */
export interface ActionRun {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly log: string;
  /** The first exit code of a script that was not 0. */
  readonly code: number;
  /** Other actions that would have been used, with their inputs. */
  readonly used: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
}

/**
 * Runs the steps of a composite action in order, as the runner of GitHub Actions does: conditions and expressions evaluated, scripts in bash with
 * -e and pipefail, outputs and summary through files. Steps that use other actions are recorded. After a failure only steps with always() run.
 */
export async function runAction(text: string, given: Readonly<Record<string, string>>, world: World): Promise<ActionRun> {
  const action = parse(text) as Action;
  const values = valuesOf(action.inputs, given, world);
  const run = await runSteps(action.runs.steps, values, world);
  return { ...run, outputs: Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, values)])) };
}

/** The same for the one job of a workflow. Its outputs are the job's, or those of the step `run` where the job has none. */
export async function runWorkflow(
  text: string,
  given: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
  world: World,
): Promise<ActionRun> {
  const { on, jobs } = parse(text) as Workflow;
  const [job, second] = Object.values(jobs);
  if (job === undefined || second !== undefined) throw new Error("The workflow has not one job.");
  const values = valuesOf(on.workflow_call?.inputs ?? {}, given, world);
  for (const [name, secret] of Object.entries(secrets)) values.set(`secrets.${name}`, secret);
  const none = { summary: "", log: "", code: 0, used: [] };
  const run = isWanted(job.if ?? "success()", values, 0) ? await runSteps(job.steps, values, world) : none;
  const own = [...values].flatMap(([name, value]) => (name.startsWith("steps.run.outputs.") ? [[name.split(".")[3], value]] : []));
  const outputs =
    job.outputs === undefined
      ? Object.fromEntries(own)
      : Object.fromEntries(Object.entries(job.outputs).map(([name, value]) => [name, filled(value, values)]));
  return { ...run, outputs };
}

function valuesOf(inputs: Inputs, given: Readonly<Record<string, string>>, world: World): Map<string, string> {
  const values = new Map<string, string>(Object.entries(world.github).map(([name, value]) => [`github.${name}`, value]));
  for (const [name, input] of Object.entries(inputs)) values.set(`inputs.${name}`, given[name] ?? filled(input.default ?? "", values));
  return values;
}

/** Adds the outputs of the steps to the values. */
async function runSteps(steps: readonly Step[], values: Map<string, string>, world: World): Promise<Omit<ActionRun, "outputs">> {
  const used: { uses: string; with: Readonly<Record<string, string>> }[] = [];
  let [summary, log, code] = ["", "", 0];
  for (const step of steps) {
    if (!isWanted(step.if ?? "success()", values, code)) continue;
    const all = (texts: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, filled(String(text), values)]));
    if (step.uses !== undefined) {
      used.push({ uses: step.uses, with: all(step.with) });
      continue;
    }
    const folder = mkdtempSync(join(world.temp, "step-"));
    const [outputFile, summaryFile, script] = ["output", "summary", "script.sh"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [outputFile, summaryFile]) writeFileSync(path, "");
    writeFileSync(script, step.run ?? "");
    const ran = await bash(script, resolve(world.workspace, filled(step["working-directory"] ?? ".", values)), {
      ...world.env,
      ...all(step.env),
      GITHUB_OUTPUT: outputFile,
      GITHUB_STEP_SUMMARY: summaryFile,
      GITHUB_WORKSPACE: world.workspace,
      RUNNER_TEMP: world.temp,
    });
    log += ran.log;
    if (code === 0) code = ran.code;
    summary += readFileSync(summaryFile, "utf8");
    for (const [name, value] of outputsIn(readFileSync(outputFile, "utf8"))) values.set(`steps.${step.id ?? ""}.outputs.${name}`, value);
  }
  return { summary, log, code, used };
}

function bash(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly log: string; readonly code: number }> {
  return new Promise((done) => {
    execFile(
      "bash",
      ["--noprofile", "--norc", "-e", "-o", "pipefail", script],
      { cwd, env, maxBuffer: 256 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        done({ log: stdout + stderr, code });
      },
    );
  });
}

/** `name=value` and `name<<word` … `word`, as the runner reads $GITHUB_OUTPUT. Throws for anything else. */
export function outputsIn(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line === "") continue;
    const [, name, word] = /^([\w-]+)<<(.+)$/u.exec(line) ?? [];
    if (name === undefined || word === undefined) {
      const equals = line.indexOf("=");
      if (equals < 1) throw new Error(`Invalid format '${line}'`);
      found.set(line.slice(0, equals), line.slice(equals + 1));
      continue;
    }
    const end = lines.indexOf(word, at + 1);
    if (end < 0) throw new Error(`Matching delimiter not found '${word}'`);
    found.set(name, lines.slice(at + 1, end).join("\n"));
    at = end;
  }
  return found;
}

const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/gu, (_, name: string) => values.get(name) ?? "");

/** `A == 'x'`, `A != ''`, `always()`, joined by `&&`: what the action's conditions are made of. Throws for more. */
function isWanted(condition: string, values: ReadonlyMap<string, string>, code: number): boolean {
  const parts = condition.split("&&").map((part) => part.trim());
  const isAlways = parts.includes("always()");
  if (code !== 0 && !isAlways) return false;
  return parts.every((part) => {
    if (part === "always()" || part === "success()") return true;
    const [, name = "", operator, text = ""] = /^([\w.-]+) (==|!=) '([^']*)'$/u.exec(part) ?? [];
    if (operator === undefined) throw new Error(`The condition ${condition} is more than this runner reads.`);
    return ((values.get(name) ?? "") === text) === (operator === "==");
  });
}
