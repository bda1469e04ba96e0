import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { FmtFlags } from "../../cli/flags.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { diagnosticText } from "../../cli/report-error.ts";
import { say } from "../../cli/say.ts";
import { findConfig } from "../../manifests/config/file.ts";
import { formatManifests } from "../../manifests/format.ts";
import type { Schema } from "../../manifests/schema/lookup.ts";
import { schemaNames, schemaText } from "../../manifests/schema/lookup.ts";
import { readSource, type Source } from "../../manifests/source.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { toDiagnostic } from "../../model/problem.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { visible } from "../../text/control-characters.ts";
import { lineAndColumn, lineStartsOf } from "../../text/lines.ts";
import { read } from "../../yaml/read.ts";

/**
 * `dimsync fmt [PATH…]`: writes manifests (without paths also the config file) in canonical form and prints the names of changed files. With --check it
 * changes nothing and returns 2 if a file would change. Returns 1 if a file cannot be read or is not valid YAML.
 */
export async function runFmt(context: Context<FmtFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const projects = await loadAnyProjects({ ...context, flags: { ...flags, only: [], exclude: [] } }, { paths, readOnly: true });
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
  const outcomes: Outcome[] = [];
  const schemaOf = openSchemas();
  for (const path of files) {
    io.interrupted.throwIfAborted();
    outcomes.push(await formatFile(context, path, schemaOf));
  }
  const changed = outcomes.filter((outcome) => outcome === "changed").length;
  if (flags.check === true && changed > 0) say(io, `${changed} of ${files.size} files are not in canonical form. Run dimsync fmt.`);
  if (outcomes.includes("failed") || pathProblems.some(({ severity }) => severity === "error")) return 1;
  return flags.check === true && changed > 0 ? 2 : 0;
}

type Outcome = "changed" | "unchanged" | "failed";

/** Problems of the paths on the command line. */
const pathCodes: ReadonlySet<string> = new Set(["E_PATH_NOT_FOUND", "W_GLOB_NO_FILE"]);

type SchemaOf = (kind: string) => Schema | undefined;

async function formatFile({ io, flags, cwd }: Context<FmtFlags>, path: string, schemaOf: SchemaOf): Promise<Outcome> {
  const { source, problems } = readSource(cwd, path);
  const messages = source === undefined ? problems.map(({ message }) => message) : yamlProblemLines(source);
  if (source === undefined || messages.length > 0) {
    for (const message of messages) say(io, message);
    return "failed";
  }
  const formatted = formatManifests(source.text, schemaOf);
  if (formatted === source.text) return "unchanged";
  io.stdout(`${visible(source.file)}\n`);
  if (flags.check !== true) {
    await withSignalsCaught(io, () => writeAtomic(path, formatted)).catch((error: unknown) => {
      throw new DimsyncError(
        "E_OUTPUT",
        `${source.file} could not be written: ${error instanceof Error ? error.message : String(error)}. Check its permissions.`,
        { cause: error },
      );
    });
  }
  return "changed";
}

function yamlProblemLines({ file, text }: Source): readonly string[] {
  const lineStarts = lineStartsOf(text);
  return read(text).problems.map(({ offset, message }) => {
    const { line, column } = lineAndColumn(lineStarts, offset);
    return `${file}:${line}:${column}: ${message}`;
  });
}

/** Reads each schema once. */
function openSchemas(): SchemaOf {
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
