import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/io.ts";
import { checkWritable } from "../../cli/output.ts";
import { wholeFlag } from "../../cli/project.ts";
import { DimsyncError, messageOf } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { visible } from "../../core/base/text/control-characters.ts";
import { startEmbeddedService } from "../../embedded/index.ts";
import type { ServeFlags } from "./index.ts";

const bot = "bot@example.com";

/** `dimsync serve`: runs the embedded service on loopback until it is interrupted. */
export async function runServe({ io, flags, cwd }: Context<ServeFlags>): Promise<ExitCode> {
  const given = io.env["DIMSYNC_API_KEY"];
  const isGiven = given !== undefined && given !== "";
  const port = flags.port === undefined ? 0 : wholeFlag("--port", flags.port, 0);
  if (port > 65_535) throw new DimsyncError("E_USAGE", `Invalid --port ${port}. The maximum is 65535.`);
  if (flags.data !== undefined) checkWritable("--data", flags.data, resolve(cwd, flags.data));
  io.catchSignals?.();
  const service = await startEmbeddedService({
    port,
    ...(flags.data === undefined ? {} : { file: resolve(cwd, flags.data) }),
    ...(isGiven ? { apiKeys: { [given]: bot } } : {}),
    keysFor: [...(isGiven ? [] : [bot]), ...flags.person],
    observed: flags.observed === true,
  }).catch((error: unknown) => {
    throw new DimsyncError("E_SERVE", `The embedded service could not start: ${messageOf(error)}. Try another --port or --data.`, {
      cause: error,
    });
  });
  io.stdout(`DIMSYNC_BASE_URL=${service.url}\n`);
  // A key from the environment is a secret; a generated one must be shown.
  io.stdout(isGiven ? "# The API key is that of the environment, DIMSYNC_API_KEY.\n" : `DIMSYNC_API_KEY=${service.apiKey}\n`);
  for (const email of flags.person) io.stdout(`# API key of ${email}: ${service.keyOf(email) ?? ""}\n`);
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
