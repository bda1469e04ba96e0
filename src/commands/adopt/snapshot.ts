import { resolve } from "node:path";
import { accountName } from "../../model/config.ts";
import { DimsyncError, ServiceError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { version } from "../../model/version.ts";
import { openAccount, systemClock } from "../../operations/account.ts";
import { writeSnapshotFile } from "../../snapshot/file.ts";
import { type SnapshotHead, snapshotText } from "../../snapshot/snapshot.ts";
import { counted } from "../../text/counts.ts";
import type { Context } from "../shared/context.ts";
import type { SnapshotFlags } from "../shared/flags.ts";
import { checkOutputs, checkWritable, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";

/** `dimsync snapshot --out FILE`: saves the live state, for plans and tests without a key. Sends GET only. */
export async function runSnapshot(context: Context<SnapshotFlags>): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  if (flags.out === undefined)
    throw new DimsyncError("E_USAGE", "snapshot needs the name of the file to write.", {
      command: "dimsync snapshot --out account.snapshot.gz",
    });
  const file = resolve(cwd, flags.out);
  checkWritable("--out", flags.out, file);
  const { settings } = await loadOneProject(context, { account: true });
  const { target, baseUrl } = settings;
  const head: SnapshotHead = {
    ...{ takenAt: systemClock.now().toISOString(), target, account: accountName(baseUrl) },
    tool: { name: "dimsync", version },
  };
  const account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted });
  const progress = showProgress(context);
  let integrations = 0;
  try {
    const pieces = snapshotText(account.client.asReadOnly(), head, (done, total, label) => {
      integrations = done;
      progress.onProgress?.({ type: "step", phase: "read", done, total, label });
    });
    const { bytes, compressed } = await writeSnapshotFile(file, pieces).catch((error: unknown) => notWritten(file, error));
    progress.end();
    const size = `${Math.ceil(bytes / 1024)} KiB${compressed ? " before compression" : ""}`;
    const taken = { kind: "SnapshotTaken", file: flags.out, ...head, integrations, bytes, compressed };
    await deliverForms(context, {
      human: () =>
        `${flags.out}: ${counted(integrations, "integration")} of ${target}, ${size}. It contains names, e-mail addresses and states, but no secrets.\n`,
      json: () => `${JSON.stringify(taken, undefined, 2)}\n`,
    });
    return 0;
  } finally {
    progress.end();
    await account.close();
  }
}

function notWritten(file: string, error: unknown): never {
  if (error instanceof ServiceError) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${reason}. Pass another file to --out.`, { cause: error });
}
