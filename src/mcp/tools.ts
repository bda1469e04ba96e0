import type { Context } from "../cli/context.ts";
import { auditWindow, momentFlag } from "../cli/moments.ts";
import { nodePath } from "../cli/node-path.ts";
import { filePrefix } from "../cli/output.ts";
import { planOptions } from "../cli/plan-options.ts";
import { withRun } from "../cli/progress.ts";
import { loadOneProject, loadOptions, loadProjects, loadValidProject, type ProjectNeeds } from "../cli/project.ts";
import type { PlanOptions } from "../engine/session.ts";
import type { Project } from "../manifests/project.ts";
import { combineExits, type ExitCode } from "../model/exit.ts";
import { loadReviewBase } from "../operations/core/base.ts";
import { driftAccount } from "../operations/core/drift.ts";
import { planAccount } from "../operations/core/plan.ts";
import { validateProject } from "../operations/core/validate.ts";
import { auditEntries } from "../operations/inspect/audit.ts";
import { explainSchemaNode } from "../operations/inspect/explain.ts";
import { liveKinds, liveQuery, readLive } from "../operations/inspect/get.ts";
import { makeRegister } from "../operations/inspect/register.ts";
import { renderManifests } from "../operations/inspect/render.ts";
import type { RunEnvironment } from "../operations/session.ts";
import type { Document } from "../render/document.ts";
import { formats, type Text } from "../render/formats.ts";
import { registerCsv } from "../render/register/csv.ts";
import { registerJson } from "../render/register/json.ts";
import { registerMarkdown } from "../render/register/markdown.ts";
import { jsonDocument } from "../text/control-characters.ts";
import { yamlDocuments } from "../yaml/print.ts";
import type { Arguments, Parameter, Parameters } from "./parameters.ts";

/** An operation as a tool. To offer a further one, add it to `tools`; it must neither write to the account nor to files. */
export interface Tool {
  /** As the command. */
  readonly name: string;
  readonly description: string;
  /** Named as the flags and arguments of the command. */
  readonly parameters: Parameters;
  readonly run: (call: ToolCall) => Promise<Answer>;
}

export interface ToolCall {
  /** Of the server, whose flags choose the project. */
  readonly context: Context;
  /** They match the parameters of the tool. */
  readonly args: Arguments;
}

/** The result of a tool. */
export interface Answer {
  readonly text: Text;
  readonly exit: ExitCode;
  /** What the text lacks. */
  readonly note?: string | undefined;
}

const target: Parameter = { type: "string", description: "Target in dimsync.yaml; needed if it has several" };
const only: Parameter = { type: "strings", description: "Only these addresses; globs such as Schemas/shop-*" };
const exclude: Parameter = { type: "strings", description: "Not these addresses; globs" };
const listUnmanaged: Parameter = { type: "boolean", description: "Also list the live columns that no rule and no literal entry covers" };
const base: Parameter = { type: "string", description: "Git ref to compare the manifests with, to tell config changes from drift" };
const reportFormat: Parameter = {
  type: "string",
  description: "markdown (default): grouped, at most 60,000 characters, always with the totals. json: every member",
  values: ["markdown", "json"],
};

/** Of the tools that compare the manifests with the account. */
const comparison: Parameters = { target, only, exclude, base, listUnmanaged, format: reportFormat };

export const tools: readonly Tool[] = [
  {
    name: "validate",
    description: "Check the manifests without reading the account. Reports all problems with file, line and how to fix them.",
    parameters: { target, format: reportFormat },
    run: async (call) => {
      const projects = await loadProjects(call.context, targetOf(call));
      return await report(call, await Promise.all(projects.map(validateProject)));
    },
  },
  {
    name: "plan",
    description:
      "Show what apply would change in the account, with the rule that causes each change, guards and policy findings. Sends only GET requests.",
    parameters: {
      ...comparison,
      protectOnly: { type: "boolean", description: "Plan only changes that hash or disable columns; report the others as held" },
    },
    run: (call) => compare(call, planAccount),
  },
  {
    name: "drift",
    description:
      "Report how the account differs from the manifests, and who changed it, from the audit log. Sends only GET requests and notifies nobody.",
    parameters: {
      ...comparison,
      since: { type: "string", description: "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)" },
    },
    run: async (call) => {
      const given = text(call, "since");
      const since = given === undefined ? {} : { since: momentFlag("--since", given, Date.now()) };
      return await compare(call, async (project, options, run) => (await driftAccount(project, { ...options, ...since }, run)).report);
    },
  },
  {
    name: "explain",
    description: "Explain which rule decides a schema, table or column: every rule that matches, the live value and the last changes.",
    parameters: {
      target,
      address: { type: "string", description: "Schemas of an integration, such as Schemas/orders, or a SchemaConfig", required: true },
      path: { type: "string", description: "SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN" },
      pointer: { type: "string", description: "Instead of path, for names that contain dots: /SCHEMA/TABLE/COLUMN" },
    },
    run: async (call) => {
      const node = nodePath("explain", text(call, "path"), text(call, "pointer"));
      const project = await loadValidProject(call.context, { ...targetOf(call), account: true });
      const address = text(call, "address") ?? "";
      const explained = await withRun(call.context, (run) => explainSchemaNode(project, { address, node }, run));
      return { text: jsonDocument(explained), exit: 0 };
    },
  },
  {
    name: "render",
    description: "Print manifests with variables filled in, as YAML. Secrets stay references.",
    parameters: {
      target,
      address: { type: "string", description: "Address of a manifest; default: all" },
      expand: { type: "boolean", description: "Replace rules by the settings that result for the account's tables and columns" },
    },
    run: async (call) => {
      const isExpanded = call.args["expand"] === true;
      const project = await loadValidProject(call.context, { ...targetOf(call), account: isExpanded });
      const options = { address: text(call, "address"), isExpanded };
      const { documents } = await withRun(call.context, (run) => renderManifests(project, options, run));
      return { text: yamlDocuments(documents), exit: 0 };
    },
  },
  {
    name: "get",
    description: "Print live integrations, tags, users or the schemas of an integration. Sends only GET requests.",
    parameters: {
      target,
      kind: { type: "string", description: "What to read", values: liveKinds, required: true },
      id: { type: "string", description: "Live id, or the address of a bound manifest; needed for SchemaConfig: the id of an integration" },
    },
    run: async (call) => {
      const query = liveQuery(text(call, "kind") ?? "", text(call, "id"));
      const project = await loadOneProject(call.context, { ...targetOf(call), account: true });
      const { value } = await withRun(call.context, (run) => readLive(project, query, run));
      return { text: jsonDocument(value), exit: 0 };
    },
  },
  {
    name: "register",
    description:
      "List every column with a label of a Classification: where it comes from, whether it is replicated and hashed, and which rule decides. Sends only GET requests.",
    parameters: {
      target,
      label: { type: "strings", description: "Only columns with these labels" },
      integration: { type: "strings", description: "Only integrations that match; globs such as shop-*" },
      format: {
        type: "string",
        description: "markdown (default): totals, then tables. csv: a line for each column. json: every member",
        values: ["markdown", "csv", "json"],
      },
    },
    run: async (call) => {
      const project = await loadValidProject(call.context, { ...targetOf(call), account: true });
      const options = { labels: strings(call, "label"), integrations: strings(call, "integration") };
      const format = text(call, "format");
      const { register } = await withRun(call.context, (run) => makeRegister(project, options, run));
      const made =
        format === "csv" ? registerCsv(register) : format === "json" ? registerJson(register) : registerMarkdown(register, plain);
      return { text: [...made].join(""), exit: register.exit.code };
    },
  },
  {
    name: "audit",
    description: "Print the audit log of the account, newest entries first. Sends only GET requests.",
    parameters: {
      target,
      since: { type: "string", description: "A date, a date and time, or an age such as 24h or 7d" },
      until: { type: "string", description: "Same formats (default: now)" },
      actor: { type: "string", description: "Only entries of the user with this e-mail address" },
    },
    run: async (call) => {
      const window = auditWindow({ since: text(call, "since"), until: text(call, "until") }, Date.now());
      const project = await loadOneProject(call.context, { ...targetOf(call), account: true });
      const { missing, ...entries } = await withRun(call.context, (run) =>
        auditEntries(project, { window, actor: text(call, "actor") }, run),
      );
      return { text: jsonDocument(entries), exit: 0, note: missing };
    },
  },
];

/** How a tool shows text: without a terminal. */
export const plain = { color: false, width: 120, verbose: false } as const;

/** The target of the arguments, else those of the server. */
function targetOf(call: ToolCall): ProjectNeeds {
  const name = text(call, "target");
  return { interruptible: true, ...(name === undefined ? {} : { targets: [name] }) };
}

/** Compares each project with its account, and reports what `make` returns. */
async function compare(
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
    const at = ref === undefined ? {} : { base: await loadReviewBase(project, ref, loadOptions(context, [])) };
    made.push(await withRun(context, (run) => make(project, { ...options, ...at }, run)));
  }
  return await report(call, made);
}

async function report(call: ToolCall, documents: readonly Document[]): Promise<Answer> {
  const render = await (text(call, "format") === "json" ? formats.json : formats.markdown)();
  return {
    text: render(documents, { ...plain, filePrefix: filePrefix(call.context) }),
    exit: combineExits(documents.map(({ exit }) => exit)).code,
  };
}

function text({ args }: ToolCall, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" ? value : undefined;
}

function strings({ args }: ToolCall, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value : [];
}
