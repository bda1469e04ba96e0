import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Context } from "../../../cli/context.ts";
import { findConfig } from "../../../core/manifests/config/file.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { stateFolder } from "../../../core/records/state-folder.ts";
import { type ControllerPlace, openExistingDatabase } from "../database/open.ts";
import type { ControllerFlags } from "../index.ts";

/** Where the controller is: `--database` and `--state`, else the environment, else the state folder of the project. */
export function placeOf({ flags, io: { env }, cwd }: Context<ControllerFlags>): ControllerPlace {
  const url = flags.database ?? env["DIMSYNC_DATABASE_URL"];
  const state = flags.state ?? env["DIMSYNC_CONTROLLER_STATE"];
  const config = findConfig({ cwd, configFile: flags.config, env });
  const folder = join(stateFolder(config === undefined ? cwd : dirname(config)), "controller");
  return { url: url === "" ? undefined : url, stateFolder: state === undefined || state === "" ? folder : resolve(cwd, state) };
}

/** Runs `work` with the database of the running controller, and closes it. */
export async function withController<T>(context: Context<ControllerFlags>, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openExistingDatabase(placeOf(context));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Who runs this command, for the history. */
export function currentUser({ io: { env } }: Context): string {
  const actor = env["GITHUB_ACTOR"] ?? env["GITLAB_USER_LOGIN"] ?? env["USER"] ?? env["LOGNAME"];
  if (actor !== undefined && actor !== "") return actor;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

/** `--reason`. `task`: what needs it; `example`: a command that gives one. Throws E_USAGE. */
export function neededReason({ flags }: Context<ControllerFlags>, task: string, example: string): string {
  const reason = flags.reason?.trim() ?? "";
  if (reason !== "") return reason;
  throw new DimsyncError("E_USAGE", `${task} needs a reason, which is kept for others to read.`, { command: example });
}
