import { fromPointer, type Pointer } from "../model/json/pointer.ts";
import { visible } from "./control-characters.ts";
import { joinParts } from "./lists.ts";

const plainName = /^[\p{L}\p{M}\p{N}_$-]+$/u;

/** A name; as a JSON string if it has dots, spaces or other unusual characters. */
export function nameText(name: string): string {
  return plainName.test(name) && visible(name) === name ? name : visible(JSON.stringify(name));
}

/**
 * A JSON Pointer in the form that users write: `public.users.email` and `hashed` in a schema,
 * `sourceConfig.connection.port` elsewhere.
 */
export interface PathText {
  /** "public.users" if the path is in a table. */
  readonly table: string | undefined;
  /** "public.users.email"; "" outside schemas. */
  readonly node: string;
  /** The column, "email"; "" for the table itself. */
  readonly nodeInTable: string;
  /** "hashed", or the whole dotted path outside schemas; "" for the whole object. */
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

/** "public.users.email hashed"; "" for the whole object. */
export function wholePath(pointer: Pointer): string {
  const { node, leaf } = pathText(pointer);
  return spaced(node, leaf);
}

/** The nonempty parts, joined with spaces. */
export const spaced = (...parts: readonly string[]): string => joinParts(parts, " ");

/** For messages: public.users.email; unusual names are quoted. */
export const nodeText = (path: readonly (string | undefined)[]): string => dotted(path.filter((name) => name !== undefined));

/** "public.users.email" from the names of a schema, table and column, or of any other path. */
function dotted(names: readonly string[]): string {
  return names.map(nameText).join(".");
}

/** Whether the path is a device or a stream, such as `/dev/stdout`, even if that is a regular file. Files in `/dev/shm` are ordinary ones. */
export const isDevice = (path: string): boolean => path.startsWith("/dev/") && !path.startsWith("/dev/shm/");
