import { fromPointer, type Pointer } from "../model/pointer.ts";
import { visible } from "./control-characters.ts";

const plainName = /^[\p{L}\p{M}\p{N}_$-]+$/u;

/** A member's or column's name; one with dots, spaces or other unusual characters as a JSON string. */
export function nameText(name: string): string {
  return plainName.test(name) && visible(name) === name ? name : visible(JSON.stringify(name));
}

/** A pointer as people say it: `public.users.email hashed` in a schema, `sourceConfig.connection.port` elsewhere; "" for the whole object. */
export interface PathText {
  /** "public.users", where the path lies in a table. */
  readonly table: string | undefined;
  /** "public.users.email"; "" outside schemas. */
  readonly node: string;
  /** The node's name within its table, "email"; "" for the table itself. */
  readonly nodeInTable: string;
  /** "hashed", or the whole dotted path outside schemas. */
  readonly leaf: string;
}

export function pathText(pointer: Pointer): PathText {
  const segments = fromPointer(pointer);
  if (segments[0] !== "schemas" || segments.length < 2) return { table: undefined, node: "", nodeInTable: "", leaf: dotted(segments) };
  const inTable = segments[2] === "tables" && segments.length > 3;
  const inColumn = inTable && segments[4] === "columns" && segments.length > 5;
  const names = [segments[1], inTable ? segments[3] : undefined, inColumn ? segments[5] : undefined].filter((name) => name !== undefined);
  return {
    table: inTable ? dotted(names.slice(0, 2)) : undefined,
    node: dotted(names),
    nodeInTable: dotted(names.slice(2)),
    leaf: dotted(segments.slice(names.length * 2)),
  };
}

/** The path in one piece. */
export function wholePath(pointer: Pointer): string {
  const { node, leaf } = pathText(pointer);
  return spaced(node, leaf);
}

/** Those that are there, with a space between. */
export function spaced(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

function dotted(names: readonly string[]): string {
  return names.map(nameText).join(".");
}
