import { DimsyncError } from "../core/model/errors.ts";
import { fromPointer } from "../core/model/json/pointer.ts";
import type { NodePath } from "../core/model/nodes.ts";

/** The path of a node from the command line: `public.users.email`, or a JSON Pointer for names with dots. Throws E_USAGE. */
export function nodePath(command: string, text: string | undefined, pointer: string | undefined): NodePath {
  const isPointer = pointer?.startsWith("/") === true;
  const names = pointer === undefined ? (text ?? "").split(".") : shortened(fromPointer(pointer));
  const [schema, table, column, ...more] = names;
  if (schema === undefined || schema === "" || more.length > 0 || (pointer !== undefined && !isPointer))
    throw new DimsyncError(
      "E_USAGE",
      `${command} ${text === undefined && pointer === undefined ? "needs a schema, table or column after the address" : "takes one schema, table or column"}, as SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. For names with dots, use --pointer /SCHEMA/TABLE/COLUMN.`,
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
