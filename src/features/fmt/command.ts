import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { diagnosticText } from "../../cli/report-error.ts";
import { say } from "../../cli/say.ts";
import { findConfig } from "../../core/manifests/config/file.ts";
import { propertiesOf, type Schema, schemaNames, schemaParts, schemaText } from "../../core/manifests/schema/lookup.ts";
import { readSource, type Source } from "../../core/manifests/source.ts";
import { DimsyncError, messageOf } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { toDiagnostic } from "../../core/model/problem.ts";
import { newPauses } from "../../core/model/runtime/event-loop.ts";
import { writeAtomic } from "../../core/records/files/atomic.ts";
import { visible } from "../../core/text/control-characters.ts";
import { lineAndColumn, lineStartsOf } from "../../core/text/lines.ts";
import { formatYaml } from "../../core/yaml/format.ts";
import { read } from "../../core/yaml/read.ts";
import type { FmtFlags } from "./index.ts";

/**
 * `dimsync fmt [PATH…]`: writes manifests (without paths also the config file) in canonical form and prints the names of changed files. With --check it
 * changes nothing and returns 2 if a file would change. Returns 1 if a file cannot be read or is not valid YAML.
 */
export async function runFmt(context: Context<FmtFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const projects = await loadAnyProjects({ ...context, flags: { ...flags, only: [], exclude: [] } }, { paths, interruptible: true });
  const config =
    paths.length > 0 ? undefined : findConfig({ cwd, env: io.env, ...(flags.config === undefined ? {} : { configFile: flags.config }) });
  const files = new Set([
    ...(config === undefined ? [] : [config]),
    ...projects.flatMap((project) => project.files.map((file) => resolve(cwd, file))),
  ]);
  const pathProblems = paths.length === 0 ? [] : (projects[0]?.problems ?? []).filter(({ code }) => pathCodes.has(code));
  for (const problem of pathProblems)
    io.stderr(
      diagnosticText(
        context,
        toDiagnostic(problem, () => ({ file: "" })),
      ),
    );
  const outcomes: Formatted["outcome"][] = [];
  const format = newFormatter({ cwd, check: flags.check === true, signal: io.interrupted });
  for (const path of files) {
    io.interrupted.throwIfAborted();
    const formatted = await withSignalsCaught(io, () => format(path));
    outcomes.push(formatted.outcome);
    if (formatted.outcome === "failed") for (const message of formatted.messages) say(io, message);
    else if (formatted.outcome === "changed") io.stdout(`${visible(formatted.file)}\n`);
  }
  const changed = outcomes.filter((outcome) => outcome === "changed").length;
  if (flags.check === true && changed > 0) say(io, `${changed} of ${files.size} files are not in canonical form. Run dimsync fmt.`);
  if (outcomes.includes("failed") || pathProblems.some(({ severity }) => severity === "error")) return 1;
  return flags.check === true && changed > 0 ? 2 : 0;
}

/** Problems of the paths on the command line. */
const pathCodes: ReadonlySet<string> = new Set(["E_PATH_NOT_FOUND", "W_GLOB_NO_FILE"]);

/** The outcome for one file: its name as shown, or why it could not be formatted. */
type Formatted =
  | { readonly outcome: "changed" | "unchanged"; readonly file: string }
  | { readonly outcome: "failed"; readonly messages: readonly string[] };

interface FormatterOptions {
  readonly cwd: string;
  /** Writes nothing. */
  readonly check: boolean;
  readonly signal?: AbortSignal;
}

/** Formats files (absolute paths), one after the other. Throws E_OUTPUT, and the signal's reason. */
function newFormatter({ cwd, check, signal }: FormatterOptions): (path: string) => Promise<Formatted> {
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

/**
 * A file of manifests, or the config file, in canonical form (`formatYaml`): members in the order of the
 * schema that `schemaOf` returns for a kind. Maps that accept any member keep the author's order.
 */
export function formatManifests(text: string, schemaOf: (kind: string) => Schema | undefined): string {
  return formatYaml(text, (kind, pointer) => {
    const schema = schemaOf(kind);
    const parts = schema === undefined ? [] : schemaParts(schema, pointer);
    const isOpen = parts.some((part) => part["additionalProperties"] !== undefined && part["additionalProperties"] !== false);
    return isOpen ? [] : parts.flatMap((part) => Object.keys(propertiesOf(part)));
  });
}
