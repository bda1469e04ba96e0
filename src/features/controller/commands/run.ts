import { hostname } from "node:os";
import type { Context } from "../../../cli/context.ts";
import { choiceFlag, wholeFlag } from "../../../cli/project.ts";
import { DimsyncError, ProblemsError } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { placeText } from "../../../core/model/problem.ts";
import { controllerModes } from "../../../core/model/settings/config.ts";
import { runController } from "../controller.ts";
import type { ControllerFlags } from "../index.ts";
import { type Log, logFormats, makeLog } from "../log.ts";
import { checkAccess, defaultListen, parseListen } from "../page/access.ts";
import { basePath } from "../page/base-path.ts";
import { watchedProject } from "../projects/watch.ts";
import { oneParagraph } from "../work/check.ts";
import { placeOf } from "./place.ts";

const roles = ["all", "worker", "page"] as const;

/** `dimsync controller run`: scheduler, worker and status page, until it is interrupted. */
export async function runRun(context: Context<ControllerFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const format = choiceFlag("--log-format", flags.logFormat ?? "text", logFormats);
  const worker = `${hostname()}:${process.pid}`;
  const log = makeLog(format, { worker, write: io.stderr });
  if (format === "text") return await run(context, worker, log);
  // Node.js prints warnings as text.
  process.removeAllListeners("warning").on("warning", ({ name, message }) => log(`${name}: ${message}`, { level: "warn" }));
  // So does it with an error that nobody catches, and the process must end then.
  process.on("uncaughtException", (error) => process.exit(logError(log, error)));
  try {
    return await run(context, worker, log);
  } catch (error) {
    if (io.interrupted.aborted) throw error;
    return logError(log, error);
  }
}

/** The error as lines of the log. Returns its exit code. */
function logError(log: Log, error: unknown): ExitCode {
  if (error instanceof ProblemsError)
    for (const { code, file, line, message, command } of error.diagnostics)
      log(`${placeText({ file, line })} ${oneParagraph(message, command)}`.trim(), { level: "error", code });
  else if (error instanceof DimsyncError) log(oneParagraph(error.message, error.command), { level: "error", code: error.code });
  else log(error instanceof Error ? (error.stack ?? error.message) : String(error), { level: "error", code: "E_INTERNAL" });
  return error instanceof DimsyncError ? error.exit : 1;
}

async function run({ flags, io, cwd, ...context }: Context<ControllerFlags>, worker: string, log: Log): Promise<ExitCode> {
  const { url, stateFolder } = placeOf({ flags, io, cwd, ...context });
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
