import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Context } from "../shared/context.ts";
import type { InitFlags } from "../shared/flags.ts";
import { initFiles } from "./init-files.ts";

/** `dimsync init [DIR]`: config, folders, editor schemas and CI workflows. Leaves every file that is there as it is; --from-live imports. */
export async function runInit(context: Context<InitFlags>, directory: string | undefined): Promise<ExitCode> {
  const { io, cwd, flags } = context;
  const root = resolve(cwd, directory ?? ".");
  const given = io.env["DIMSYNC_BASE_URL"];
  const baseUrl = given === "" ? undefined : given;
  if (flags.fromLive === true && baseUrl === undefined && !existsSync(join(root, "dimsync.yaml")))
    throw new DimsyncError(
      "E_NO_ACCOUNT",
      "init --from-live writes down what an account holds, and nothing says which. Set DIMSYNC_BASE_URL to its address and DIMSYNC_API_KEY to its key; the address goes into dimsync.yaml, the key never does.",
    );
  for (const [path, text] of Object.entries(initFiles(baseUrl))) {
    const file = join(root, path);
    io.stderr(`${await writeNew(file, text)}  ${relative(cwd, file)}\n`);
  }
  const repository = repositoryAbove(root);
  if (repository !== undefined) {
    const inside = relative(repository, root).split(sep).join("/");
    io.stderr(
      `\ndimsync: ${inside} is a folder of a repository, and GitHub reads workflows only from the repository's own .github/workflows. Move the three files there, put ${inside}/ before their paths, and give each step that runs dimsync \`working-directory: ${inside}\`.\n`,
    );
  }
  if (flags.fromLive === true) {
    const { runImport } = await import("../adopt/import.ts");
    return runImport({ ...context, cwd: root }, []);
  }
  const [enter, steps] = [relative(cwd, root), ["dimsync validate", "dimsync plan"]];
  io.stderr(
    `\nNext: ${baseUrl === undefined ? "put the service's address into dimsync.yaml and its key into DIMSYNC_API_KEY" : "put the service's key into DIMSYNC_API_KEY"}, write a manifest, then\n${[...(enter === "" ? [] : [`cd ${enter}`]), ...steps].map((step) => `  ${step}\n`).join("")}`,
  );
  return 0;
}

/** The folder of the git repository that the given folder lies in; undefined where that is its root, or there is none. */
function repositoryAbove(folder: string): string | undefined {
  let above = folder;
  while (!existsSync(join(above, ".git"))) {
    if (dirname(above) === above) return undefined;
    above = dirname(above);
  }
  return above === folder ? undefined : above;
}

/** What became of the file. A file that is there is never touched. Throws E_INIT. */
async function writeNew(file: string, text: string): Promise<"created" | "as is  " | "kept   "> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
    return "created";
  } catch (error) {
    const there = await readFile(file, "utf8").catch(() => undefined);
    if (there !== undefined) return there === text ? "as is  " : "kept   ";
    throw new DimsyncError(
      "E_INIT",
      `${file} could not be written: ${error instanceof Error ? error.message : String(error)}. Choose a folder that can be written to.`,
      { cause: error },
    );
  }
}
