import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { DimsyncError, interruptedError, messageOf } from "../core/base/model/errors.ts";
import { memberAt } from "../core/base/model/json/json.ts";
import { masked } from "../core/base/model/settings/secret.ts";
import { jsonDocument } from "../core/base/text/control-characters.ts";
import { isDevice } from "../core/base/text/paths.ts";
import { didYouMean } from "../core/base/text/suggest.ts";
import { writeCommands } from "../core/base/text/workflow-commands.ts";
import { type Document, formats, type RenderOptions, type Text, textTable } from "../core/render/index.ts";
import { tableText } from "../core/render/terminal/index.ts";
import { type Context, wantsColor } from "./context.ts";
import type { ApplyFlags, GlobalFlags, PlanFlags } from "./flags.ts";
import { type Io, withSignalsCaught } from "./io.ts";

/** The output of a command: a function for each of its formats. */
type Forms = Readonly<Record<string, (options: RenderOptions) => Text | Promise<Text>>>;

/** One `-o`. */
export interface Destination {
  readonly format: string;
  /** Absolute; stdout if absent. */
  readonly file?: string;
}

/** What is shown besides the documents. */
type Shown = Pick<RenderOptions, "isResolved" | "touches">;

/**
 * Writes the documents of a command, one per target, in every format of `-o`. Exactly one goes to stdout: the format without a path, or human if every
 * format has a path. `-o github` also writes the step's summary and outputs. Throws E_OUTPUT.
 */
export async function deliver(
  context: Context<GlobalFlags & Pick<PlanFlags, "out">>,
  documents: readonly Document[],
  shown: Shown = {},
): Promise<void> {
  const { io, flags, cwd } = context;
  const to = destinations(context);
  await writeDocuments(context, to, documents, shown);
  if (!to.some(({ format }) => format === "github")) return;
  const { writeGithubStep, stepPieces } = await import("./github-outputs.ts");
  const planFile = flags.out === undefined ? "" : resolve(cwd, flags.out);
  writeGithubStep(io.env, stepPieces(io.env, documents, { planFile, filePrefix: filePrefix(context) }));
}

/** Writes documents to these destinations only. Throws E_OUTPUT. */
export async function writeDocuments(
  context: Context,
  to: readonly Destination[],
  documents: readonly Document[],
  shown: Shown = {},
): Promise<void> {
  const forms = Object.fromEntries(
    Object.entries(formats).map(([format, load]) => [
      format,
      async (options: RenderOptions): Promise<Text> => (await load())(documents, { ...options, ...shown }),
    ]),
  );
  const { io } = context;
  // The account was changed: a signal that arrives now must not cut the result.
  const hasResult = documents.some(({ kind }) => kind === "Result");
  await writeForms(hasResult ? { ...context, io: { ...io, interrupted: new AbortController().signal } } : context, to, forms);
}

/** Like `deliver`, for documents other than plans, results and validations. Throws E_OUTPUT and E_INTERRUPTED. */
export const deliverForms = (context: Context, forms: Forms): Promise<void> =>
  writeForms(context, destinations(context, Object.keys(forms)), forms);

async function writeForms(context: Context, to: readonly Destination[], forms: Forms): Promise<void> {
  const { io, flags } = context;
  for (const { format, file } of to) {
    const color = format === "human" && file === undefined && wantsColor(context, io.stdoutIsTty);
    const text =
      (await forms[format]?.({
        color,
        width: io.columns,
        verbose: flags.verbose === true,
        filePrefix: filePrefix(context),
      })) ?? "";
    const pieces = untilInterrupted(typeof text === "string" ? [text] : text, io);
    if (file === undefined) await print(io, pieces, format);
    else {
      const { writeAtomic } = await import("../core/records/index.ts");
      await withSignalsCaught(io, () => writeAtomic(file, pieces)).catch((error: unknown) => {
        if (error instanceof DimsyncError) throw error;
        throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${messageOf(error)}. Use another path: -o ${format}=PATH.`, {
          cause: error,
        });
      });
    }
  }
}

async function print(io: Io, pieces: Iterable<string>, format: string): Promise<void> {
  for (const piece of pieces) {
    // Its renderer breaks the workflow commands in names.
    if (format === "github") writeCommands(io.stdout, piece);
    else io.stdout(piece);
    await io.stdoutDrained?.();
  }
}

/** The pieces, up to a signal: then throws E_INTERRUPTED. What a run reports after a signal is complete. */
function* untilInterrupted(pieces: Iterable<string>, { interrupted }: Io): Iterable<string> {
  const isReport = interrupted.aborted;
  for (const piece of pieces) {
    if (interrupted.aborted && !isReport) throw interruptedError();
    yield masked(piece);
  }
}

/** The path from the root of the CI checkout to the folder that file names are relative to: "deploy/"; "" at the root and outside CI. */
export function filePrefix({ io, cwd }: Context): string {
  const root = io.env["GITHUB_WORKSPACE"] ?? io.env["CI_PROJECT_DIR"] ?? "";
  const inside = root === "" ? "" : relative(root, cwd);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? "" : `${inside.split(sep).join("/")}/`;
}

/** Flags for output files, besides `-o`. */
type FileFlags = Pick<PlanFlags, "out"> & Pick<ApplyFlags, "result">;

/** Checks `-o` before any work: two flags with the same file would overwrite each other, such as a saved plan. Throws E_OUTPUT. */
export function checkOutputs(context: Context<GlobalFlags & FileFlags>, names: readonly string[] = Object.keys(formats)): void {
  const { cwd, flags } = context;
  const { out, result } = flags;
  const users = new Map<string, string>();
  for (const [user, path] of [
    ...destinations(context, names).map(({ format, file }) => [`-o ${format}`, file] as const),
    ...([
      ["--out", out],
      ["--result", result],
    ] as const),
  ]) {
    if (path === undefined || isDevice(path)) continue;
    const file = resolve(cwd, path);
    const other = users.get(file);
    if (other !== undefined) throw new DimsyncError("E_OUTPUT", `${other} and ${user} both write ${file}. Give each its own file.`);
    users.set(file, user);
  }
}

/** Throws E_OUTPUT if no file can be written at the path of a flag. */
export function checkWritable(flag: string, path: string, file: string): void {
  const refuse = (why: string): never => {
    throw new DimsyncError("E_OUTPUT", `${flag} cannot write to ${JSON.stringify(path)}: ${why}. Use another file.`);
  };
  if (path === "") refuse("the file name is empty");
  if (!existsSync(dirname(file))) refuse(`the directory ${dirname(file)} does not exist`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) refuse("it is a directory");
}

/** The values of `-o`, and human on stdout if every one has a path. `names`: the formats of the command. Throws E_OUTPUT. */
export function destinations({ flags, cwd }: Context, names: readonly string[] = Object.keys(formats)): readonly Destination[] {
  const found = flags.output.map((text): Destination => {
    const [format = "", ...rest] = text.split("=");
    if (!names.includes(format))
      throw new DimsyncError(
        "E_OUTPUT",
        `Unknown output format ${JSON.stringify(format)}. Formats of this command: ${names.join(", ")}.${didYouMean(format, names)}`,
      );
    if (rest.length === 0) return { format };
    const path = rest.join("=");
    const file = resolve(cwd, path);
    checkWritable(`-o ${format}=PATH`, path, file);
    return { format, file };
  });
  const toStdout = found.filter(({ file }) => file === undefined);
  if (toStdout.length > 1)
    throw new DimsyncError(
      "E_OUTPUT",
      `Only one format can be written to stdout, not ${toStdout.map(({ format }) => format).join(" and ")}. Give the others a path, such as -o ${toStdout[1]?.format ?? "json"}=PATH.`,
    );
  return toStdout.length === 1 ? found : [{ format: "human" }, ...found];
}

const absent = "-";

/** "source.lastUpdatedAt" -> "source last updated at" */
const heading = (column: string): string =>
  column
    .replaceAll(".", " ")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ")
    .toLowerCase();

function cellTexts(rows: readonly unknown[], columns: readonly string[]): readonly (readonly string[])[] {
  return rows.map((row) => columns.map((column) => cellText(column.split(".").reduce<unknown>((at, key) => memberAt(at, key), row))));
}

function cellText(value: unknown): string {
  if (value === undefined || value === null || value === "") return absent;
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface ListingShape {
  /** For JSON. */
  readonly value: unknown;
  /** For the table. */
  readonly rows: readonly unknown[];
  /** The columns of the table: members, or paths of members with dots. */
  readonly columns: readonly string[];
  /** Whether a terminal shows the table. Otherwise each row is a line, for tools such as grep. */
  readonly isTty: boolean;
}

/** The formats of a list of live objects. */
export function listingForms({ value, rows, columns, isTty }: ListingShape) {
  return {
    human: ({ color, width = 100 }: RenderOptions) => {
      if (rows.length === 0) return "No objects found.\n";
      // A reader needs no column without a value; a tool counts on all.
      const hasValue = (column: string): boolean => cellTexts(rows, [column]).some(([text]) => text !== absent);
      const shown = isTty ? columns.filter(hasValue) : columns;
      return tableText(textTable(shown.map(heading), cellTexts(rows, shown)), { color, width: isTty ? width : Number.POSITIVE_INFINITY });
    },
    json: () => jsonDocument(value),
  };
}
