import type { NodePath } from "../../kinds/schema-config/tree.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { fromPointer } from "../../model/json/pointer.ts";
import { explainSchemaNode } from "../../operations/explain.ts";
import { explainText } from "../../render/terminal/explain.ts";
import type { Context } from "../shared/context.ts";
import type { ExplainFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadValidProject } from "../shared/project.ts";

/** `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`. Only sends GET. */
export async function runExplain(context: Context<ExplainFlags>, address: string, path: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context, ["human", "json"]);
  const node = nodePath(path, flags.pointer);
  const project = await loadValidProject(context, { account: true });
  if (project === undefined) return 1;
  const explained = await explainSchemaNode(project, { address, node }, { env: io.env, signal: io.interrupted });
  await deliverForms(context, {
    human: (options) => explained.map((one) => explainText(one, options)).join("\n"),
    json: () => `${JSON.stringify(explained, undefined, 2)}\n`,
  });
  return 0;
}

/** The path of a node from the command line: `public.users.email`, or a JSON Pointer for names with dots. Throws E_USAGE. */
export function nodePath(text: string | undefined, pointer: string | undefined): NodePath {
  const isPointer = pointer?.startsWith("/") === true;
  const names = pointer === undefined ? (text ?? "").split(".") : shortened(fromPointer(pointer));
  const [schema, table, column, ...more] = names;
  if (schema === undefined || schema === "" || more.length > 0 || (pointer !== undefined && !isPointer))
    throw new DimsyncError(
      "E_USAGE",
      "explain takes SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. For names with dots, use --pointer /SCHEMA/TABLE/COLUMN.",
    );
  return column !== undefined && table !== undefined ? [schema, table, column] : table !== undefined ? [schema, table] : [schema];
}

/** Also accepts the pointers of plans: `/schemas/public/tables/users/columns/email/hashed` is `/public/users/email`. */
function shortened(segments: readonly string[]): readonly string[] {
  const [schemas, schema, tables, table, columns, column] = segments;
  if (schemas !== "schemas" || schema === undefined || (tables !== undefined && tables !== "tables" && tables !== "enabled"))
    return segments;
  return [
    schema,
    ...(tables === "tables" && table !== undefined ? [table] : []),
    ...(columns === "columns" && column !== undefined ? [column] : []),
  ];
}
