import type { PlanOptions } from "../core/engine/session.ts";
import { leftAt } from "../core/git/base.ts";
import type { Project } from "../core/manifests/project.ts";
import { combineExits, type ExitCode } from "../core/model/exit.ts";
import type { RunEnvironment } from "../core/operations/session.ts";
import type { Document } from "../core/render/document.ts";
import { formats, type Text } from "../core/render/formats.ts";
import type { Context } from "./context.ts";
import { filePrefix } from "./output.ts";
import { planOptions } from "./plan-options.ts";
import { withRun } from "./progress.ts";
import { loadOptions, loadProjects, type ProjectNeeds } from "./project.ts";

// What the tools of features share. `dimsync mcp` serves the tools that `tools.ts` lists.

/** An operation as a tool, beside its command. It must neither write to the account nor to files. */
export interface Tool {
  /** As the command. */
  readonly name: string;
  readonly description: string;
  /** Named as the flags and arguments of the command. */
  readonly parameters: Parameters;
  readonly run: (call: ToolCall) => Promise<Answer>;
}

interface ToolCall {
  /** Of the server, whose flags choose the project. */
  readonly context: Context;
  /** They match the parameters of the tool. */
  readonly args: Arguments;
}

/** The result of a tool. */
interface Answer {
  readonly text: Text;
  readonly exit: ExitCode;
  /** What the text lacks. */
  readonly note?: string | undefined;
}

/** A parameter of a tool. Tools have few and simple ones, so that a table describes them. */
export interface Parameter {
  readonly type: "string" | "boolean" | "strings";
  readonly description: string;
  readonly required?: true;
  /** The only values of a string. */
  readonly values?: readonly string[];
}

export type Parameters = Readonly<Record<string, Parameter>>;
export type Arguments = Readonly<Record<string, string | boolean | readonly string[]>>;

export const target: Parameter = { type: "string", description: "Target in dimsync.yaml; needed if it has several" };
const only: Parameter = { type: "strings", description: "Only these addresses; globs such as Schemas/shop-*" };
const exclude: Parameter = { type: "strings", description: "Not these addresses; globs" };
const listUnmanaged: Parameter = { type: "boolean", description: "Also list the live columns that no rule and no literal entry covers" };
const base: Parameter = { type: "string", description: "Git ref to compare the manifests with, to tell config changes from drift" };
export const reportFormat: Parameter = {
  type: "string",
  description: "markdown (default): grouped, at most 60,000 characters, always with the totals. json: every member",
  values: ["markdown", "json"],
};

/** Of the tools that compare the manifests with the account. */
export const comparison: Parameters = { target, only, exclude, base, listUnmanaged, format: reportFormat };

/** How a tool shows text: without a terminal. */
export const plain = { color: false, width: 120, verbose: false } as const;

/** The target of the arguments, else those of the server. */
export function targetOf(call: ToolCall): ProjectNeeds {
  const name = text(call, "target");
  return { interruptible: true, ...(name === undefined ? {} : { targets: [name] }) };
}

/** Compares each project with its account, and reports what `make` returns. */
export async function compare(
  call: ToolCall,
  make: (project: Project, options: PlanOptions, run: RunEnvironment) => Promise<Document>,
): Promise<Answer> {
  const { context, args } = call;
  const selection = { only: strings(call, "only"), exclude: strings(call, "exclude") };
  const flags = {
    ...selection,
    allow: [],
    ignore: [],
    listUnmanaged: args["listUnmanaged"] === true,
    protectOnly: args["protectOnly"] === true,
  };
  const options = planOptions(flags);
  const ref = text(call, "base");
  const made: Document[] = [];
  for (const project of await loadProjects(context, { ...targetOf(call), selection, account: true })) {
    const commit = ref === undefined ? undefined : await leftAt(project.settings.folder, ref, context.io.env);
    const load = async (at: string) => (await import("../core/operations/base.ts")).loadReviewBase(project, at, loadOptions(context, []));
    const at = commit === undefined ? {} : { base: await load(commit) };
    made.push(await withRun(context, (run) => make(project, { ...options, ...at }, run)));
  }
  return await report(call, made);
}

export async function report(call: ToolCall, documents: readonly Document[]): Promise<Answer> {
  const render = await (text(call, "format") === "json" ? formats.json : formats.markdown)();
  return {
    text: render(documents, { ...plain, filePrefix: filePrefix(call.context) }),
    exit: combineExits(documents.map(({ exit }) => exit)).code,
  };
}

export function text({ args }: ToolCall, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" ? value : undefined;
}

export function strings({ args }: ToolCall, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value : [];
}
