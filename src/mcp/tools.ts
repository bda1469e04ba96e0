import type { Context } from "../cli/context.ts";
import type { AuditFlags, DriftFlags, ExplainFlags, GetFlags, GlobalFlags, PlanFlags, RegisterFlags, RenderFlags } from "../cli/flags.ts";
import { liveKinds } from "../commands/inspect/get.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Arguments, Parameter, Parameters } from "./parameters.ts";

/** A command as a tool. To offer a further command, add it to `tools`; it must neither write to the account nor to files. */
export interface Tool {
  /** As the command. */
  readonly name: string;
  readonly description: string;
  /** Named as the flags and arguments of the command. */
  readonly parameters: Parameters;
  /** The default of the parameter `format`. */
  readonly format: string;
  readonly run: (call: ToolCall) => Promise<ExitCode>;
}

export interface ToolCall {
  /** With the flags of the server. */
  readonly context: Context;
  readonly args: Arguments;
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
const address = (description: string): Parameter => ({ type: "string", description });

export const tools: readonly Tool[] = [
  {
    name: "validate",
    description: "Check the manifests without reading the account. Reports all problems with file, line and how to fix them.",
    parameters: { target, format: reportFormat },
    format: "markdown",
    run: async (call) => (await import("../commands/core/validate.ts")).runValidate(call.context, []),
  },
  {
    name: "plan",
    description:
      "Show what apply would change in the account, with the rule that causes each change, guards and policy findings. Sends only GET requests.",
    parameters: {
      ...{ target, only, exclude, base, listUnmanaged, format: reportFormat },
      protectOnly: { type: "boolean", description: "Plan only changes that hash or disable columns; report the others as held" },
    },
    format: "markdown",
    run: async (call) => (await import("../commands/core/plan.ts")).runPlan(withFlags<PlanFlags>(call, planFlags), []),
  },
  {
    name: "drift",
    description:
      "Report how the account differs from the manifests, and who changed it, from the audit log. Sends only GET requests and notifies nobody.",
    parameters: {
      ...{ target, only, exclude, base, listUnmanaged, format: reportFormat },
      since: { type: "string", description: "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)" },
    },
    format: "markdown",
    run: async (call) =>
      (await import("../commands/core/drift.ts")).runDrift(withFlags<DriftFlags>(call, { ...planFlags, notify: false }), []),
  },
  {
    name: "explain",
    description: "Explain which rule decides a schema, table or column: every rule that matches, the live value and the last changes.",
    parameters: {
      target,
      address: { ...address("Schemas of an integration, such as Schemas/orders, or a SchemaConfig"), required: true },
      path: { type: "string", description: "SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN" },
      pointer: { type: "string", description: "Instead of path, for names that contain dots: /SCHEMA/TABLE/COLUMN" },
    },
    format: "json",
    run: async (call) =>
      (await import("../commands/inspect/explain.ts")).runExplain(
        withFlags<ExplainFlags>(call),
        text(call, "address") ?? "",
        text(call, "path"),
      ),
  },
  {
    name: "render",
    description: "Print manifests with variables filled in, as YAML. Secrets stay references.",
    parameters: {
      target,
      address: address("Address of a manifest; default: all"),
      expand: { type: "boolean", description: "Replace rules by the settings that result for the account's tables and columns" },
    },
    format: "human",
    run: async (call) => (await import("../commands/inspect/render.ts")).runRender(withFlags<RenderFlags>(call), text(call, "address")),
  },
  {
    name: "get",
    description: "Print live integrations, tags, users or the schemas of an integration. Sends only GET requests.",
    parameters: {
      target,
      kind: { type: "string", description: "What to read", values: liveKinds, required: true },
      id: { type: "string", description: "Live id, or the address of a bound manifest; needed for SchemaConfig: the id of an integration" },
    },
    format: "json",
    run: async (call) =>
      (await import("../commands/inspect/get.ts")).runGet(withFlags<GetFlags>(call), text(call, "kind") ?? "", text(call, "id")),
  },
  {
    name: "register",
    description:
      "List every column with a label of a Classification: where it comes from, whether it is replicated and hashed, and which rule decides. Sends only GET requests.",
    parameters: {
      target,
      label: { type: "strings", description: "Only columns with these labels" },
      integration: { type: "strings", description: "Only integrations that match; globs such as shop-*" },
      at: { type: "string", description: "The register as it was remembered then: a date, or an age such as 7d" },
      format: {
        type: "string",
        description: "markdown (default): totals, then tables. csv: a line for each column. json: every member",
        values: ["markdown", "csv", "json"],
      },
    },
    format: "markdown",
    run: async (call) => {
      const { runRegister } = await import("../commands/inspect/register.ts");
      const lists = { label: strings(call, "label"), integration: strings(call, "integration") };
      return runRegister(withFlags<RegisterFlags>(call, { ...lists, history: false }));
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
    format: "json",
    run: async (call) => (await import("../commands/inspect/audit.ts")).runAudit(withFlags<AuditFlags>(call)),
  },
];

const planFlags = { failOn: [], allow: [], ignore: [] };

/** The arguments are flags of the command: `parameters` has the names and types of flags, and the arguments were checked against it. */
function withFlags<Flags extends GlobalFlags>({ context, args }: ToolCall, always: Partial<Flags> = {}): Context<Flags> {
  return { ...context, flags: { ...context.flags, ...args, ...always, target: context.flags.target } as Flags };
}

function text({ args }: ToolCall, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" ? value : undefined;
}

function strings({ args }: ToolCall, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value : [];
}
