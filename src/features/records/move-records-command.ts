import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { loadOneProject, loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { inlineYaml } from "../../core/base/yaml/print.ts";
import type { Project } from "../../core/manifests/index.ts";
import { shownPath, withLocations } from "../../core/manifests/index.ts";
import type { RecordsFlags } from "./index.ts";
import { createRecords, exportRecords, isThere, moveRecords, type NewStore, restoreRecords } from "./move.ts";

type Task = "init" | "migrate" | "export" | "restore";

/** The tasks of `dimsync records` that create, move and save records. */
export async function runMove(context: Context<RecordsFlags>, task: Task, file: string | undefined): Promise<ExitCode> {
  if (task === "init" || task === "migrate") await moveEach(context, task);
  else {
    const project = await loadOneProject(context, { account: true });
    await withLocations(project, runOne(context, task, { project, file }));
  }
  return 0;
}

async function moveEach(context: Context<RecordsFlags>, task: "init" | "migrate"): Promise<void> {
  const { io, flags } = context;
  const { to } = flags;
  const projects = await loadProjects(context, { account: true });
  if (projects.length > 1 && to?.startsWith("git:") === true)
    throw new DimsyncError("E_USAGE", `${to} would be the ref of ${projects.length} targets. With --to git, each has its own.`);
  for (const project of projects) {
    // With several targets, the others follow.
    if (projects.length > 1 && isThere(project, to)) {
      say(io, `The target ${project.settings.target} has its records there already.`);
      continue;
    }
    const options = { env: io.env, to, keepConfig: flags.print === true };
    const move = async (): Promise<void> => {
      if (task === "init") return showStore(context, project, await createRecords(project, options));
      const { moved, ...store } = await moveRecords(project, options);
      showStore(context, project, store);
      say(io, `Moved ${moved}. The old store stays closed, so that nothing uses it.`);
    };
    await withLocations(project, move());
  }
}

/** What dimsync.yaml names now, or what to write there. */
function showStore({ io, cwd }: Context<RecordsFlags>, { settings: { target } }: Project, { name, config, file, notes }: NewStore): void {
  for (const note of notes) say(io, note);
  if (file !== undefined) say(io, `${shownPath(cwd, file)} now names the ${name} store for the target ${target}. Commit it.`);
  else {
    say(io, `${config === undefined ? "Remove records from" : "Add this to"} the target ${target} in dimsync.yaml:`);
    io.stdout(config === undefined ? "" : `records: ${inlineYaml(config as never)}\n`);
  }
}

interface OneTarget {
  readonly project: Project;
  readonly file: string | undefined;
}

async function runOne(context: Context<RecordsFlags>, task: "export" | "restore", { project, file }: OneTarget): Promise<void> {
  const { io } = context;
  if (task === "export") return io.stdout(await exportRecords(project, io.env));
  await restore(context, project, file);
}

async function restore({ io, cwd }: Context<RecordsFlags>, project: Project, file: string | undefined): Promise<void> {
  if (file === undefined) throw new DimsyncError("E_USAGE", "records restore needs the file that records export wrote.");
  const text = await readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
    throw new DimsyncError("E_RECORDS_BUNDLE", `${file} cannot be read.`, { cause: error });
  });
  const restored = await restoreRecords(project, { text, file }, io.env);
  say(io, restored === undefined ? "The store has these records already." : `Restored ${restored}.`);
}
