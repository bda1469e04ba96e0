import { resolve } from "node:path";
import { DimsyncError } from "../model/errors.ts";
import { didYouMean } from "../model/suggest.ts";
import type { Document, Renderer } from "../render/index.ts";
import { type Context, wantsColor } from "./context.ts";

/** Where results go: every format is made from the same document. */
interface Destination {
  readonly format: string;
  readonly render: Renderer;
  /** Absolute; absent: stdout. */
  readonly file?: string;
}

/**
 * Writes the documents of a command, one per target, in every format that `-o` asks for. Exactly one goes to stdout: the format without a path, or
 * human where every format has one. Several JSON documents become a list. Throws DimsyncError E_OUTPUT for a format that isn't there.
 */
export async function deliver(context: Context, documents: readonly Document[]): Promise<void> {
  const { io, flags } = context;
  for (const { format, render, file } of await destinations(context)) {
    const color = format === "human" && file === undefined && wantsColor(context, io.stdoutIsTty);
    const texts = documents.map((document) => render(document, { color, width: io.columns, verbose: flags.verbose === true }));
    const text = format === "json" && texts.length > 1 ? `[\n${texts.map((one) => one.trimEnd()).join(",\n")}\n]\n` : texts.join("\n");
    if (file === undefined) io.stdout(text);
    else {
      const { writeAtomic } = await import("../records/atomic.ts");
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

/** Reads `-o` before any work is done, so that a mistake costs nothing. */
export async function checkOutputs(context: Context): Promise<void> {
  await destinations(context);
}

async function destinations({ flags, cwd }: Context): Promise<readonly Destination[]> {
  const { renderers } = await import("../render/index.ts");
  const byName: Readonly<Record<string, Renderer>> = renderers;
  const found = flags.output.map((text): Destination => {
    const [format = "", ...rest] = text.split("=");
    const render = Object.hasOwn(byName, format) ? byName[format] : undefined;
    if (render === undefined)
      throw new DimsyncError(
        "E_OUTPUT",
        `There is no output format ${JSON.stringify(format)}. Formats: ${Object.keys(byName).join(", ")}.${didYouMean(format, Object.keys(byName))}`,
      );
    return rest.length === 0 ? { format, render } : { format, render, file: resolve(cwd, rest.join("=")) };
  });
  const toStdout = found.filter(({ file }) => file === undefined);
  if (toStdout.length > 1)
    throw new DimsyncError(
      "E_OUTPUT",
      `stdout carries one document, and ${toStdout.map(({ format }) => format).join(" and ")} are all meant for it. Give all but one a path: -o ${toStdout[1]?.format ?? "json"}=PATH.`,
    );
  return toStdout.length === 1 ? found : [{ format: "human", render: renderers.human }, ...found];
}
