import { resolve } from "node:path";
import type { Project } from "../../manifests/project.ts";
import { accountName } from "../../model/config.ts";
import { DimsyncError, ServiceError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Reads } from "../../model/service.ts";
import { version } from "../../model/version.ts";
import { openAccount, systemClock } from "../../operations/account.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import { readSnapshotFile, writeSnapshotFile } from "../../snapshot/file.ts";
import { readsOf, snapshotText } from "../../snapshot/snapshot.ts";
import type { Context } from "../shared/context.ts";
import type { SnapshotFlags } from "../shared/flags.ts";
import { checkOutputs, checkWritable, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";

/** `dimsync snapshot --out FILE`: what the account shows, for plans and tests without a key. Sends GET only. */
export async function runSnapshot(context: Context<SnapshotFlags>): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  if (flags.out === undefined)
    throw new DimsyncError("E_USAGE", "snapshot writes a file. Name it: dimsync snapshot --out account.snapshot.gz");
  const file = resolve(cwd, flags.out);
  checkWritable("--out", flags.out, file);
  const { settings } = await loadOneProject(context);
  const account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted });
  const progress = showProgress(context);
  let integrations = 0;
  try {
    const head = {
      takenAt: systemClock.now().toISOString(),
      tool: { name: "dimsync", version } as const,
      target: settings.target,
      account: accountName(settings.baseUrl),
    };
    const pieces = snapshotText(account.client.asReadOnly(), head, (done, total, label) => {
      integrations = done;
      progress.onProgress?.({ type: "step", phase: "read", done, total, label });
    });
    const { bytes, compressed } = await writeSnapshotFile(file, pieces).catch((error: unknown) => {
      if (error instanceof ServiceError) throw error;
      throw new DimsyncError(
        "E_OUTPUT",
        `${file} could not be written: ${error instanceof Error ? error.message : String(error)}. Name another file.`,
        {
          cause: error,
        },
      );
    });
    progress.end();
    await deliverForms(context, {
      human: () =>
        `${flags.out}: ${integrations} ${integrations === 1 ? "integration" : "integrations"} of ${settings.target}, ${Math.ceil(bytes / 1024)} KiB${compressed ? " before compression" : ""}. It holds names, e-mail addresses and states, no secrets.\n`,
      json: () => `${JSON.stringify({ kind: "SnapshotTaken", file: flags.out, ...head, integrations, bytes, compressed }, undefined, 2)}\n`,
    });
    return 0;
  } finally {
    progress.end();
    await account.close();
  }
}

/** Reads of a snapshot file, or of the project's account; `close` lets go of it. Throws DimsyncError where neither can be opened. */
export async function openReads(
  project: Pick<Project, "settings"> | { readonly settings: undefined },
  snapshotFile: string | undefined,
  { env, signal }: RunEnvironment,
): Promise<{ readonly reads: Reads; readonly close: () => Promise<void> }> {
  if (snapshotFile !== undefined) return { reads: readsOf(await readSnapshotFile(snapshotFile)), close: async () => {} };
  if (project.settings === undefined) throw new DimsyncError("E_NO_ACCOUNT", "There is neither a snapshot nor a target to read.");
  const account = await openAccount(project.settings, { readOnly: true, env, signal });
  return { reads: account.client.asReadOnly(), close: account.close };
}
