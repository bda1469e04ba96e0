import { existsSync, readFileSync } from "node:fs";
import { writeCacheFile } from "../records/files/cache-folder.ts";

/** A source file as it was compiled, and what V8 made of it. */
export interface CompiledFile {
  readonly source: Buffer;
  readonly code: Buffer;
}

/** Code is for one version of Node.js on one architecture; V8 also checks its own version and its flags. */
const madeBy = `${process.version} ${process.arch}`;

/** Names, and the lengths of source and code in bytes. */
type Entry = readonly [name: string, source: number, code: number];
interface Header {
  readonly madeBy: string;
  readonly entries: readonly Entry[];
}

/** The files kept in `path` by name: none if this version of Node.js did not write it, and undefined if it does not exist. */
export function readCompiledFiles(path: string): ReadonlyMap<string, CompiledFile> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const bytes = readFileSync(path);
    let end = bytes.indexOf("\n") + 1;
    const header = JSON.parse(bytes.toString("utf8", 0, end)) as Header;
    if (header.madeBy !== madeBy) return new Map();
    const take = (length: number): Buffer => {
      end += length;
      return bytes.subarray(end - length, end);
    };
    const files = header.entries.map(([name, source, code]) => [name, { source: take(source), code: take(code) }] as const);
    return new Map(end === bytes.length ? files : []);
  } catch {
    return new Map();
  }
}

/** Replaces the file at `path`. It is on the disk before it gets its name: V8 does not check compiled code, and would run half a file. */
export function writeCompiledFiles(path: string, files: ReadonlyMap<string, CompiledFile>): void {
  const entries: readonly Entry[] = [...files].map(([name, { source, code }]) => [name, source.length, code.length]);
  const header: Header = { madeBy, entries };
  const bytes = [Buffer.from(`${JSON.stringify(header)}\n`), ...[...files.values()].flatMap(({ source, code }) => [source, code])];
  writeCacheFile(path, Buffer.concat(bytes), files.size > 0);
}
