import { readFileSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { errorCode } from "../base/model/errors.ts";
import { type Problem, problemAt } from "../base/model/problem.ts";
import type { Code } from "../base/model/titles.ts";
import { decodeFile } from "../base/text/file-text.ts";
import { hiddenCharacters } from "../base/yaml/hidden.ts";

/** A file as text, without its byte order mark. */
export interface Source {
  /** Absolute path. */
  readonly path: string;
  /** As shown: relative to the working directory, or absolute outside it. */
  readonly file: string;
  readonly text: string;
}

/** How a path is shown: relative to the working directory with `/`, or absolute outside it. */
export function shownPath(cwd: string, path: string): string {
  const inside = relative(cwd, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside.replaceAll(sep, "/");
}

/**
 * Reads a file that must be UTF-8. Synchronous: manifests are parsed one after the other anyway,
 * and this keeps at most one file open.
 */
export function readSource(cwd: string, path: string): { readonly source?: Source; readonly problems: readonly Problem[] } {
  const file = shownPath(cwd, path);
  const place = { file, document: 0, pointer: "" };
  const fail = (code: Code, message: string) => ({ problems: [problemAt(place, { code, message })] });
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const reason = errorCode(error);
    if (reason === "ENOENT")
      return fail("E_PATH_NOT_FOUND", `${file} does not exist. Check the path; it is relative to the working directory.`);
    if (reason === "ELOOP") return fail("E_UNREADABLE", `${file} is a symbolic link that leads back to itself. Remove it.`);
    return fail("E_UNREADABLE", `${file} can't be read (${reason}). Check its permissions.`);
  }
  const decoded = decodeFile(bytes);
  if ("refusal" in decoded) return fail("E_UNREADABLE", `${file} ${decoded.refusal}.`);
  const { text, hasMark } = decoded;
  const source = { path, file, text };
  const hidden = hiddenIn(text, file);
  if (!hasMark) return { source, problems: hidden };
  const message = `${file} begins with a byte order mark, which is ignored. Save it as UTF-8 without a byte order mark.`;
  const mark = problemAt(place, { code: "W_HIDDEN_CHARACTER", severity: "warning", message });
  return { source, problems: [mark, ...hidden] };
}

const hiddenIn = (text: string, file: string): readonly Problem[] =>
  hiddenCharacters(text).map(({ offset, message }) =>
    problemAt({ file, document: 0, pointer: `@${offset}` }, { code: "W_HIDDEN_CHARACTER", severity: "warning", message }),
  );
