import { DimsyncError } from "../core/base/model/errors.ts";
import type { NodePath } from "../core/base/model/nodes.ts";

/** A name, in quotes if it has dots or quotes; a quote in it is doubled. */
const nameOrQuoted = /"((?:[^"]|"")*)"|([^".]+)/uy;

/** The path of a node from the command line: `public.users.email`, `public."a.b".email`. Throws E_USAGE. */
export function nodePath(command: string, text = ""): NodePath {
  const [schema, table, column, ...more] = namesIn(text) ?? [];
  if (schema === undefined || more.length > 0)
    throw new DimsyncError(
      "E_USAGE",
      `${command} ${text === "" ? "needs a schema, table or column after the address" : `cannot read the path ${JSON.stringify(text)}. It takes one schema, table or column`}, as SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. Put a name with dots in quotes: 'public."a.b".email'.`,
    );
  return column !== undefined && table !== undefined ? [schema, table, column] : table !== undefined ? [schema, table] : [schema];
}

/** Undefined if the text is not names between dots. */
function namesIn(text: string): readonly string[] | undefined {
  const names: string[] = [];
  for (let at = 0; ; at++) {
    nameOrQuoted.lastIndex = at;
    const found = nameOrQuoted.exec(text);
    const name = found?.[1]?.replaceAll('""', '"') ?? found?.[2] ?? "";
    if (name === "") return undefined;
    names.push(name);
    at = nameOrQuoted.lastIndex;
    if (at === text.length) return names;
    if (text[at] !== ".") return undefined;
  }
}
