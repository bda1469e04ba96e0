import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { runInNewContext } from "node:vm";
import picomatch from "picomatch";
import { parse } from "yaml";
import { git } from "../../support/git/remote.ts";
import { program } from "../../support/programs.mjs";

// Runs actions and workflows as the runner of GitHub Actions does: conditions and expressions are
// evaluated, scripts run in bash with -e and pipefail, and outputs and summaries go through files.
// After a failure, only steps with always() or failure() run. Files that are uploaded are read, and other actions are
// only recorded.

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
  readonly defaults: { readonly run: { readonly "working-directory": string } };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly env: Texts;
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
  /** Of the action, or of the step `run` of the last job. */
  readonly outputs: Texts;
  readonly summary: string;
  readonly log: string;
  /** The first exit code of a script that was not 0. */
  readonly code: number;
  /** Other actions that would have run, with their inputs and the texts of the files that they upload, or the diff of a pull request. */
  readonly used: readonly { readonly uses: string; readonly with: Texts; readonly files: readonly string[] }[];
}

export interface WorkflowRun {
  /** By job: those of the repository, and of the environment of the job. */
  readonly secrets: (job: string) => Texts;
  /** Of a run by hand. */
  readonly inputs?: Texts;
  /** A new machine for each job. */
  readonly startMachine: (job: string) => Machine;
}

type Steps = Omit<ActionRun, "outputs">;
const nothing: Steps = { summary: "", log: "", code: 0, used: [] };

/** Runs the steps of a composite action. */
export async function runAction(text: string, given: Texts, machine: Machine): Promise<ActionRun> {
  const action = parse(text) as Action;
  const values = valuesOf(action.inputs, given, machine);
  const run = await runSteps(action.runs.steps, values, machine);
  return { ...run, outputs: Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, values)])) };
}

/** Runs the jobs of a workflow in order. Returns those that ran, by name. */
export async function runWorkflow(
  text: string,
  { secrets, inputs = {}, startMachine }: WorkflowRun,
): Promise<Readonly<Record<string, ActionRun>>> {
  const { jobs, env } = parse(text) as Workflow;
  const results = new Map<string, string>();
  const runs: Record<string, ActionRun> = {};
  for (const [name, job] of Object.entries(jobs)) {
    const machine = startMachine(name);
    const values = valuesOf({}, {}, machine);
    for (const [key, value] of results) values.set(key, value);
    for (const [input, value] of Object.entries(inputs)) values.set(`inputs.${input}`, value);
    for (const [secret, value] of Object.entries(secrets(name))) values.set(`secrets.${secret}`, value);
    const isReady = job.needs === undefined || results.get(`needs.${job.needs}.result`) === "success";
    if (!isWanted(job.if ?? "success()", values, isReady ? 0 : 1)) {
      results.set(`needs.${name}.result`, "skipped");
      continue;
    }
    const ofWorkflow = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value, values)]));
    const run = await runSteps(
      job.steps.map((step) => ({ ...job.defaults.run, ...step })),
      values,
      { ...machine, env: { ...machine.env, ...ofWorkflow } },
    );
    results.set(`needs.${name}.result`, run.code === 0 ? "success" : "failure");
    runs[name] = { ...run, outputs: outputsOf(values) };
  }
  return runs;
}

function outputsOf(values: ReadonlyMap<string, string>): Texts {
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

/** Adds the outputs of the steps to the values. */
async function runSteps(steps: readonly Step[], values: Map<string, string>, machine: Machine): Promise<Steps> {
  let all = nothing;
  for (const step of steps) {
    if (!isWanted(step.if ?? "success()", values, all.code)) continue;
    const allFilled = (texts: Texts = {}): Texts =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, filled(String(text), values)]));
    if (step.uses === undefined) all = joined(all, await runScript(step, allFilled(step.env), { values, machine }));
    else {
      const inputs = allFilled(step.with);
      const files = uploadedFiles(step, inputs, machine);
      all = joined(all, { ...nothing, used: [{ uses: step.uses, with: inputs, files }] });
    }
  }
  return all;
}

interface Running {
  readonly values: Map<string, string>;
  readonly machine: Machine;
}

/** The texts of the files that the step uploads, or what a pull request would change. */
function uploadedFiles({ uses = "" }: Step, { path = "", ...inputs }: Texts, { workspace }: Machine): readonly string[] {
  if (uses.startsWith("peter-evans/create-pull-request@")) return [git(workspace, "diff")];
  if (!uses.startsWith("actions/upload-artifact@")) return [];
  const found = filesOf(resolve(workspace, path));
  if (found.length === 0 && inputs["if-no-files-found"] !== "ignore") throw new Error(`There is no file ${path}.`);
  return found.map((one) => readFileSync(one, "utf8"));
}

/** The files that a path names, in which `*` is any part of a name. */
function filesOf(pattern: string): readonly string[] {
  if (!pattern.includes("*")) return [pattern];
  const folder = dirname(pattern.slice(0, pattern.indexOf("*")).concat("x"));
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  const matches = picomatch(relative(folder, pattern));
  return names.filter((name) => matches(name)).map((name) => join(folder, name));
}

async function runScript(step: Step, env: Texts, { values, machine }: Running): Promise<Steps> {
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

/** Evaluates a condition: names, texts, functions, `==`, `!=`, `&&`, `||`, `!` and parentheses. */
function isWanted(condition: string, values: ReadonlyMap<string, string>, code: number): boolean {
  const functions: Readonly<Record<string, boolean>> = {
    "always()": true,
    "cancelled()": false,
    "failure()": code !== 0,
    "success()": code === 0,
  };
  // Without a function, a step or job needs the success of those before.
  if (code !== 0 && !Object.keys(functions).some((name) => condition.includes(name))) return false;
  const expression = condition.replaceAll(/'(?:[^']|'')*'|[a-z][\w.-]*(?:\(\))?/gu, (word) => {
    if (word.startsWith("'")) return JSON.stringify(word.slice(1, -1).replaceAll("''", "'"));
    return JSON.stringify(functions[word] ?? values.get(word) ?? "");
  });
  if (!/^(?:"(?:[^"\\]|\\.)*"|true|false|[=!&|() ])*$/u.test(expression))
    throw new Error(`This runner cannot evaluate the condition ${condition}.`);
  return runInNewContext(expression) === true;
}
