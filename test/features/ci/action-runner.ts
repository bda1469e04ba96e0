import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { parse } from "yaml";
import { program } from "../../support/programs.mjs";

// Runs actions and workflows as the runner of GitHub Actions does: conditions and expressions are
// evaluated, scripts run in bash with -e and pipefail, and outputs and summaries go through files.
// After a failure, only steps with always() or failure() run. Artifacts are kept, and other actions are only
// recorded.

type Texts = Readonly<Record<string, string>>;
interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Texts;
  readonly with?: Texts;
  readonly "working-directory"?: string;
}
type Inputs = Readonly<Record<string, { readonly default?: string }>>;
interface Action {
  readonly inputs: Inputs;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}
interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly target: readonly string[] } };
  readonly outputs?: Texts;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly defaults?: { readonly run: { readonly "working-directory": string } };
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The machine that a job runs on. */
export interface Machine {
  readonly workspace: string;
  readonly temp: string;
  readonly github: Texts;
  readonly env: Texts;
}

/** The result of an action or a workflow. */
export interface ActionRun {
  /** Of the action or the last job; those of the step `run` if the job has none. */
  readonly outputs: Texts;
  readonly summary: string;
  readonly log: string;
  /** The first exit code of a script that was not 0. */
  readonly code: number;
  /** Other actions that would have run, with their inputs and the texts of the files that they upload. */
  readonly used: readonly { readonly uses: string; readonly with: Texts; readonly files: readonly string[] }[];
}

export interface WorkflowRun {
  readonly secrets?: Texts;
  /** A new machine for each job, after the approval. */
  readonly startMachine: (job: string) => Machine;
  /**
   * Called with the files of all artifacts before a job that has an environment. The job does not
   * run if it returns false.
   */
  readonly approve?: (artifacts: readonly string[]) => boolean;
}

type Steps = Omit<ActionRun, "outputs">;
type Artifacts = Map<string, { readonly name: string; readonly file: string }>;
const nothing: Steps = { summary: "", log: "", code: 0, used: [] };

/** Runs the steps of a composite action. */
export async function runAction(text: string, given: Texts, machine: Machine): Promise<ActionRun> {
  const action = parse(text) as Action;
  const values = valuesOf(action.inputs, given, machine);
  const run = await runSteps(action.runs.steps, values, { machine, artifacts: new Map() });
  return { ...run, outputs: Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, values)])) };
}

/** Runs the jobs of a workflow in order, each for the first target of its matrix. */
export async function runWorkflow(text: string, { secrets = {}, startMachine, approve }: WorkflowRun): Promise<ActionRun> {
  const { jobs, defaults } = parse(text) as Workflow;
  const artifacts: Artifacts = new Map();
  const needs = new Map<string, string>();
  let [all, outputs]: [Steps, Texts] = [nothing, {}];
  for (const [name, job] of Object.entries(jobs)) {
    const before = new Map([...needs, ["matrix.target", job.strategy?.matrix.target[0] ?? ""]]);
    const environment = filled(job.environment ?? "", before);
    if (job.needs !== undefined && (all.code !== 0 || !isWanted(job.if ?? "success()", before, 0))) continue;
    const files = [...artifacts.values()].map(({ file }) => file);
    if (environment !== "" && approve?.(files) === false) continue;
    const machine = startMachine(name);
    const values = valuesOf({}, {}, machine);
    for (const [key, value] of before) values.set(key, value);
    for (const [secret, value] of Object.entries(secrets)) values.set(`secrets.${secret}`, value);
    const run = isWanted(job.if ?? "success()", values, 0)
      ? await runSteps(
          job.steps.map((step) => ({ ...defaults?.run, ...step })),
          values,
          { machine, artifacts },
        )
      : nothing;
    outputs = outputsOf(job, values);
    for (const [key, value] of Object.entries(outputs)) needs.set(`needs.${name}.outputs.${key}`, value);
    all = joined(all, run);
  }
  return { ...all, outputs };
}

function outputsOf({ outputs }: Job, values: ReadonlyMap<string, string>): Texts {
  if (outputs !== undefined) return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, filled(value, values)]));
  const prefix = "steps.run.outputs.";
  return Object.fromEntries([...values].flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])));
}

const joined = (one: Steps, other: Steps): Steps => ({
  summary: one.summary + other.summary,
  log: one.log + other.log,
  code: one.code === 0 ? other.code : one.code,
  used: [...one.used, ...other.used],
});

function valuesOf(inputs: Inputs, given: Texts, machine: Machine): Map<string, string> {
  const values = new Map<string, string>(Object.entries(machine.github).map(([name, value]) => [`github.${name}`, value]));
  values.set("runner.temp", machine.temp);
  for (const [name, input] of Object.entries(inputs)) values.set(`inputs.${name}`, given[name] ?? filled(input.default ?? "", values));
  return values;
}

interface Place {
  readonly machine: Machine;
  readonly artifacts: Artifacts;
}

/** Adds the outputs of the steps to the values. */
async function runSteps(steps: readonly Step[], values: Map<string, string>, place: Place): Promise<Steps> {
  let all = nothing;
  for (const step of steps) {
    if (!isWanted(step.if ?? "success()", values, all.code)) continue;
    const allFilled = (texts: Texts = {}): Texts =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, filled(String(text), values)]));
    if (step.uses === undefined) all = joined(all, await runScript(step, allFilled(step.env), { values, place }));
    else {
      const inputs = allFilled(step.with);
      const files = runArtifactAction(step, inputs, { values, place });
      all = joined(all, { ...nothing, used: [{ uses: step.uses, with: inputs, files }] });
    }
  }
  return all;
}

interface Running {
  readonly values: Map<string, string>;
  readonly place: Place;
}

/** Returns the texts of the uploaded files. Throws if the name of an artifact is used twice, as GitHub does. */
function runArtifactAction(
  { id = "", uses = "" }: Step,
  inputs: Texts,
  { values, place: { machine, artifacts } }: Running,
): readonly string[] {
  const { name = "", path = "" } = inputs;
  if (uses.startsWith("actions/upload-artifact@")) {
    const found = filesOf(resolve(machine.workspace, path));
    if (found.length === 0 && inputs["if-no-files-found"] === "ignore") return [];
    if ([...artifacts.values()].some((artifact) => artifact.name === name))
      throw new Error(`Conflict: the artifact ${name} already exists.`);
    const folder = mkdtempSync(join(machine.temp, "artifact-"));
    const [first = path] = found;
    const file = join(folder, basename(first));
    cpSync(first, file);
    const artifactId = String(100 + artifacts.size);
    artifacts.set(artifactId, { name, file });
    values.set(`steps.${id}.outputs.artifact-id`, artifactId);
    return found.map((one) => readFileSync(one, "utf8"));
  }
  if (uses.startsWith("actions/download-artifact@")) {
    const artifact = artifacts.get(inputs["artifact-ids"] ?? "");
    if (artifact === undefined) throw new Error("There is no artifact with this id.");
    mkdirSync(path, { recursive: true });
    cpSync(artifact.file, join(path, basename(artifact.file)));
  }
  return [];
}

/** The files that a path names, in which `*` is any part of a name. */
function filesOf(pattern: string): readonly string[] {
  if (!pattern.includes("*")) return [pattern];
  const folder = dirname(pattern.slice(0, pattern.indexOf("*")).concat("x"));
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  const matches = picomatch(relative(folder, pattern));
  return names.filter((name) => matches(name)).map((name) => join(folder, name));
}

async function runScript(step: Step, env: Texts, { values, place: { machine } }: Running): Promise<Steps> {
  const folder = mkdtempSync(join(machine.temp, "step-"));
  const [outputFile, summaryFile, script] = [join(folder, "output"), join(folder, "summary"), join(folder, "script.sh")];
  for (const path of [outputFile, summaryFile]) writeFileSync(path, "");
  writeFileSync(script, step.run ?? "");
  const { log, code } = await bash(script, resolve(machine.workspace, filled(step["working-directory"] ?? ".", values)), {
    ...machine.env,
    ...env,
    GITHUB_OUTPUT: outputFile,
    GITHUB_STEP_SUMMARY: summaryFile,
    GITHUB_WORKSPACE: machine.workspace,
    RUNNER_TEMP: machine.temp,
  });
  for (const [name, value] of outputsIn(readFileSync(outputFile, "utf8"))) values.set(`steps.${step.id ?? ""}.outputs.${name}`, value);
  // The runner does not print these lines.
  return { log: log.replaceAll(/^::add-mask::.*\n/gmu, ""), code, summary: readFileSync(summaryFile, "utf8"), used: [] };
}

function bash(script: string, cwd: string, env: Texts): Promise<{ readonly log: string; readonly code: number }> {
  return new Promise((done) => {
    execFile(
      program("bash"),
      ["--noprofile", "--norc", "-e", "-o", "pipefail", script],
      { cwd, env, maxBuffer: 256 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        done({ log: stdout + stderr, code });
      },
    );
  });
}

/**
 * Reads `name=value` and `name<<word` … `word` as the runner reads $GITHUB_OUTPUT. Throws for
 * anything else.
 */
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

/** Evaluates expressions that are names, or names joined by `||`. */
const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{\{ ([\w.-]+(?: \|\| [\w.-]+)*) \}\}/gu, (_, names: string) =>
    names
      .split(" || ")
      .map((name) => values.get(name) ?? "")
      .reduce((found, value) => found || value, ""),
  );

/** Evaluates `A == 'x'`, `A != ''`, `always()` and `failure()`, joined by `&&`. Throws for other conditions. */
function isWanted(condition: string, values: ReadonlyMap<string, string>, code: number): boolean {
  const parts = condition.split("&&").map((part) => part.trim());
  if (code !== 0 && !parts.includes("always()") && !parts.includes("failure()")) return false;
  if (code === 0 && parts.includes("failure()")) return false;
  return parts.every((part) => {
    if (["always()", "failure()", "success()"].includes(part)) return true;
    const [, name = "", operator, text = ""] = /^([\w.-]+) (==|!=) '([^']*)'$/u.exec(part) ?? [];
    if (operator === undefined) throw new Error(`This runner cannot evaluate the condition ${condition}.`);
    return ((values.get(name) ?? "") === text) === (operator === "==");
  });
}
