import { formatManifests } from "../../core/manifests/format.ts";
import { type Schema, schemaNames, schemaText } from "../../core/manifests/schema/lookup.ts";
import { readSource, type Source } from "../../core/manifests/source.ts";
import { DimsyncError, messageOf } from "../../core/model/errors.ts";
import { newPauses } from "../../core/model/runtime/event-loop.ts";
import { writeAtomic } from "../../core/records/files/atomic.ts";
import { lineAndColumn, lineStartsOf } from "../../core/text/lines.ts";
import { read } from "../../core/yaml/read.ts";

/** The outcome for one file: its name as shown, or why it could not be formatted. */
export type Formatted =
  | { readonly outcome: "changed" | "unchanged"; readonly file: string }
  | { readonly outcome: "failed"; readonly messages: readonly string[] };

export interface FormatterOptions {
  readonly cwd: string;
  /** Writes nothing. */
  readonly check: boolean;
  readonly signal?: AbortSignal;
}

/** Formats files (absolute paths), one after the other. Throws E_OUTPUT, and the signal's reason. */
export function newFormatter({ cwd, check, signal }: FormatterOptions): (path: string) => Promise<Formatted> {
  const schemaOf = openSchemas();
  const pause = newPauses(() => signal?.throwIfAborted());
  return async (path) => {
    const { source, problems } = readSource(cwd, path);
    const messages = source === undefined ? problems.map(({ message }) => message) : whyNotFormatted(source);
    if (source === undefined || messages.length > 0) return { outcome: "failed", messages };
    const { file, text } = source;
    await pause();
    const formatted = withLineEnds(formatManifests(text, schemaOf), text);
    if (formatted === text) return { outcome: "unchanged", file };
    if (!check)
      await writeAtomic(path, formatted).catch((error: unknown) => {
        throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${messageOf(error)}. Check its permissions.`, { cause: error });
      });
    return { outcome: "changed", file };
  };
}

/** As a checkout on Windows has them: the first line decides. */
const withLineEnds = (formatted: string, text: string): string =>
  /^[^\n]*\r\n/u.test(text) ? formatted.replaceAll(/\r?\n/gu, "\r\n") : formatted;

/** The syntax tree of a text takes 50 times as much memory as the text. */
const mostCharacters = 16 * 1024 * 1024;

function whyNotFormatted({ file, text }: Source): readonly string[] {
  if (text.length > mostCharacters) return [`${file} has more than 16 MiB. fmt does not format files of this size. Split the file.`];
  const lineStarts = lineStartsOf(text);
  return read(text).problems.map(({ offset, message }) => {
    const { line, column } = lineAndColumn(lineStarts, offset);
    return `${file}:${line}:${column}: ${message}`;
  });
}

/** Reads each schema once. */
function openSchemas(): (kind: string) => Schema | undefined {
  const schemas = new Map<string, Schema | undefined>();
  const known: readonly string[] = schemaNames;
  return (kind) => {
    if (!schemas.has(kind)) {
      const text = known.includes(kind) ? schemaText(kind) : undefined;
      schemas.set(kind, text === undefined ? undefined : (JSON.parse(text) as Schema));
    }
    return schemas.get(kind);
  };
}
