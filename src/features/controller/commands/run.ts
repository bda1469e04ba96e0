import { hostname } from "node:os";
import type { Context } from "../../../cli/context.ts";
import type { ControllerFlags } from "../../../cli/flags.ts";
import { choiceFlag, wholeFlag } from "../../../cli/project.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { controllerModes } from "../../../core/model/settings/config.ts";
import { runController } from "../controller.ts";
import { logFormats, makeLog } from "../log.ts";
import { checkAccess, defaultListen, parseListen } from "../page/access.ts";
import { basePath } from "../page/base-path.ts";
import { watchedProject } from "../projects/watch.ts";
import { placeOf } from "./place.ts";

const roles = ["all", "worker", "page"] as const;

/** `dimsync controller run`: scheduler, worker and status page, until it is interrupted. */
export async function runRun(context: Context<ControllerFlags>): Promise<ExitCode> {
  const { flags, io, cwd } = context;
  const { url, stateFolder } = placeOf(context);
  const role = choiceFlag("--role", flags.role ?? "all", roles);
  if (url === undefined && role !== "all")
    throw new DimsyncError("E_USAGE", `--role ${role} needs PostgreSQL: the embedded database belongs to one process. Set --database.`);
  const access = {
    ...parseListen(flags.listen ?? defaultListen),
    token: io.env["DIMSYNC_CONTROLLER_TOKEN"],
    trustProxyHeader: flags.trustProxyHeader,
    base: flags.basePath === undefined ? undefined : basePath(flags.basePath),
    isHttps: flags.publicUrl?.startsWith("https:"),
  };
  // Before anything starts that would have to end again.
  if (role !== "worker") checkAccess(access);
  const worker = `${hostname()}:${process.pid}`;
  const log = makeLog(choiceFlag("--log-format", flags.logFormat ?? "text", logFormats), { worker, write: io.stderr });
  await runController({
    databaseUrl: url,
    stateFolder,
    role,
    worker,
    log,
    env: io.env,
    signal: io.interrupted,
    accountsAtOnce: wholeFlag("--accounts-at-once", flags.accountsAtOnce ?? "8", 1),
    accountsPerHost: wholeFlag("--accounts-per-host", flags.accountsPerHost ?? "4", 1),
    publicUrl: publicUrl(flags.publicUrl),
    maxMode: choiceFlag("--max-mode", flags.maxMode ?? "apply", controllerModes),
    watched: flags.watch === true ? watchedProject({ cwd, configFile: flags.config, env: io.env }) : undefined,
    page: role === "worker" ? undefined : access,
  });
  return 0;
}

/** Without a slash at the end. Throws E_USAGE. */
function publicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol) && !/[?#]/u.test(text)) return text.replace(/\/+$/u, "");
  throw new DimsyncError(
    "E_USAGE",
    `Invalid --public-url ${JSON.stringify(text)}. Use the URL of the status page, such as https://status.example.com/dimsync.`,
  );
}
