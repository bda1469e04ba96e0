import { appendFileSync, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import type { Document, RenderOptions } from "../../render/document.ts";
import { formats } from "../../render/formats.ts";
import { didYouMean } from "../../text/suggest.ts";
import { type Context, wantsColor } from "./context.ts";
import type { ApplyFlags, GlobalFlags, PlanFlags } from "./flags.ts";

/** What a command prints, as a function for each format that it has. */
export type Forms = Readonly<Record<string, (options: RenderOptions) => string | Promise<string>>>;

/** Where one format goes. */
interface Destination {
  readonly format: string;
  /** Absolute; absent: stdout. */
  readonly file?: string;
}

/**
 * Writes the documents of a command, one per target, in every format that `-o` asks for. Exactly one goes to stdout: the format without a path, or
 * human where every format has one. `-o github` also writes the step's summary and outputs. Throws DimsyncError E_OUTPUT for a format that isn't there.
 */
export async function deliver(
  context: Context<GlobalFlags & Pick<PlanFlags, "out" | "metrics">>,
  documents: readonly Document[],
  shown: Pick<RenderOptions, "history"> = {},
): Promise<void> {
  const forms = Object.fromEntries(
    Object.entries(formats).map(([format, load]) => [
      format,
      async (options: RenderOptions): Promise<string> => (await load())(documents, { ...options, ...shown }),
    ]),
  );
  const { io, flags, cwd } = context;
  await deliverForms(context, forms);
  if (flags.metrics !== undefined) await (await import("./metrics-file.ts")).writeMetrics(resolve(cwd, flags.metrics), documents);
  if (!flags.output.some((text) => text.split("=")[0] === "github")) return;
  const { writeGithubFiles } = await import("./github-outputs.ts");
  writeGithubFiles(io.env, documents, flags.out === undefined ? "" : resolve(cwd, flags.out));
}

/** As `deliver`, for what is no plan, result or validation. Throws DimsyncError E_OUTPUT. */
export async function deliverForms(context: Context, forms: Forms): Promise<void> {
  const { io, flags } = context;
  for (const { format, file } of destinations(context, Object.keys(forms))) {
    const color = format === "human" && file === undefined && wantsColor(context, io.stdoutIsTty);
    const text =
      (await forms[format]?.({
        color,
        width: io.columns,
        verbose: flags.verbose === true,
        filePrefix: filePrefix(context),
        caseFiles: io.env["GITLAB_CI"] === "true",
      })) ?? "";
    if (file === undefined) io.stdout(text);
    // Progress was written to it while the command ran.
    else if (format === "ndjson") appendFileSync(file, text);
    else {
      const { writeAtomic } = await import("../../records/atomic.ts");
      await writeAtomic(file, text).catch((error: unknown) => {
        throw new DimsyncError(
          "E_OUTPUT",
          `${file} could not be written: ${error instanceof Error ? error.message : String(error)}. Name another path with -o ${format}=PATH.`,
          { cause: error },
        );
      });
    }
  }
}

/** From the repository's root, where the CI says it is, to the folder that files are named from: "deploy/"; "" at the root and elsewhere. */
export function filePrefix({ io, cwd }: Context): string {
  const root = io.env["GITHUB_WORKSPACE"] ?? io.env["CI_PROJECT_DIR"] ?? "";
  const inside = root === "" ? "" : relative(root, cwd);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? "" : `${inside.split(sep).join("/")}/`;
}

/** Reads `-o` and `--metrics` before any work is done, so that a mistake costs nothing, and empties the files that take events. Throws E_OUTPUT. */
export function checkOutputs(context: Context<GlobalFlags & FileFlags>, names: readonly string[] = Object.keys(formats)): void {
  const { metrics } = context.flags;
  if (metrics !== undefined) checkWritable("--metrics", metrics, resolve(context.cwd, metrics));
  checkApart(context, names);
  // One that isn't there is not made yet: git would call the tree unclean.
  for (const { format, file } of destinations(context, names))
    if (format === "ndjson" && file !== undefined && existsSync(file)) writeFileSync(file, "");
}

/** Flags that name a file to be written, beside `-o`. */
type FileFlags = Pick<PlanFlags, "metrics" | "out"> & Pick<ApplyFlags, "result">;

/** What is written last would take the place of what was written there before, such as a saved plan. Throws E_OUTPUT. */
function checkApart(context: Context<GlobalFlags & FileFlags>, names: readonly string[]): void {
  const { cwd, flags } = context;
  const { metrics, out, result } = flags;
  const users = new Map<string, string>();
  for (const [user, path] of [
    ...destinations(context, names).map(({ format, file }) => [`-o ${format}`, file] as const),
    ...([
      ["--metrics", metrics],
      ["--out", out],
      ["--result", result],
    ] as const),
  ]) {
    if (path === undefined || path.startsWith("/dev/")) continue;
    const file = resolve(cwd, path);
    const other = users.get(file);
    if (other !== undefined)
      throw new DimsyncError(
        "E_OUTPUT",
        `${other} and ${user} both name ${file}, and one would take the other's place. Give each a file of its own.`,
      );
    users.set(file, user);
  }
}

/** Throws E_OUTPUT where nothing can be written at the path that a flag names. */
export function checkWritable(flag: string, path: string, file: string): void {
  const refuse = (why: string): never => {
    throw new DimsyncError("E_OUTPUT", `${flag} names ${JSON.stringify(path)}, and ${why}. Name another file.`);
  };
  if (path === "") refuse("that is no file");
  if (!existsSync(dirname(file))) refuse(`there is no folder ${dirname(file)}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) refuse("that is a folder");
}

function destinations({ flags, cwd }: Context, names: readonly string[]): readonly Destination[] {
  const found = flags.output.map((text): Destination => {
    const [format = "", ...rest] = text.split("=");
    if (!names.includes(format))
      throw new DimsyncError(
        "E_OUTPUT",
        `There is no output format ${JSON.stringify(format)} here. Formats: ${names.join(", ")}.${didYouMean(format, names)}`,
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
      `stdout carries one document, and ${toStdout.map(({ format }) => format).join(" and ")} are all meant for it. Give all but one a path: -o ${toStdout[1]?.format ?? "json"}=PATH.`,
    );
  return toStdout.length === 1 ? found : [{ format: "human" }, ...found];
}
