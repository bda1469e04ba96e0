import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkWritable } from "../../cli/output.ts";
import { choiceFlag, wholeFlag } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError, messageOf } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { visible } from "../../core/text/control-characters.ts";
import { errorBodies, parseFault, startEmbeddedService } from "../../embedded/index.ts";
import type { ServeFlags } from "./index.ts";

const schemaForms = ["camel", "snake"] as const;
const pagingStyles = ["none", "totalItems", "total", "nextCursor", "hasMore", "silent"] as const;

/** `dimsync serve`: runs the embedded service on loopback until it is interrupted. */
export async function runServe({ io, flags, cwd }: Context<ServeFlags>): Promise<ExitCode> {
  const given = io.env["DIMSYNC_API_KEY"];
  const key = given !== undefined && given !== "" ? given : randomBytes(16).toString("hex");
  for (const fault of flags.faults) checkFault(fault);
  const users = new Map(flags.person.map((email) => [randomBytes(16).toString("hex"), email]));
  const port = flags.port === undefined ? 0 : wholeFlag("--port", flags.port, 0);
  if (port > 65_535) throw new DimsyncError("E_USAGE", `Invalid --port ${port}. The maximum is 65535.`);
  if (flags.data !== undefined) checkWritable("--data", flags.data, resolve(cwd, flags.data));
  const [style, size = "20"] = (flags.paging ?? "none").split(":");
  io.catchSignals?.();
  const service = await startEmbeddedService({
    port,
    ...(flags.data === undefined ? {} : { file: resolve(cwd, flags.data) }),
    apiKeys: { [key]: "bot@example.com", ...Object.fromEntries(users) },
    latencyMs: flags.latency === undefined ? 0 : wholeFlag("--latency", flags.latency, 0),
    faults: flags.faults,
    observed: flags.observed === true,
    schemaForm: choiceFlag("--schema-form", flags.schemaForm ?? "camel", schemaForms),
    ...(flags.errorBody === undefined ? {} : { errorBody: choiceFlag("--error-body", flags.errorBody, errorBodies) }),
    paging: { style: choiceFlag("--paging", style ?? "none", pagingStyles), size: wholeFlag("--paging STYLE:SIZE", size, 1) },
    ...(flags.discoverAfter === undefined ? {} : { discoverAfterReads: wholeFlag("--discover-after", flags.discoverAfter, 0) }),
  }).catch((error: unknown) => {
    throw new DimsyncError("E_SERVE", `The embedded service could not start: ${messageOf(error)}. Try another --port or --data.`, {
      cause: error,
    });
  });
  io.stdout(`DIMSYNC_BASE_URL=${service.url}\n`);
  // A key from the environment is a secret; a generated one must be shown.
  if (key !== given) io.stdout(`DIMSYNC_API_KEY=${key}\n`);
  for (const [userKey, email] of users) io.stdout(`# API key of ${email}: ${userKey}\n`);
  say(
    io,
    `the embedded service listens on ${service.url}. Its account is in ${flags.data === undefined ? "memory" : visible(flags.data)}. Press Ctrl-C to stop.`,
  );
  await new Promise<void>((stop) => {
    if (io.interrupted.aborted) stop();
    io.interrupted.addEventListener("abort", () => stop(), { once: true });
  });
  await service.close();
  return 0;
}

function checkFault(spec: string): void {
  try {
    parseFault(spec);
  } catch (error) {
    throw new DimsyncError("E_USAGE", `--faults ${JSON.stringify(spec)}: ${messageOf(error)}`);
  }
}
