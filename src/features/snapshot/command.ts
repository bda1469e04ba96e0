import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, checkWritable, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { counted } from "../../core/text/counts.ts";
import type { SnapshotFlags } from "./index.ts";
import { takeSnapshot } from "./snapshot.ts";

/** `dimsync snapshot --out FILE`: saves the live state, for plans and tests without a key. Sends GET only. */
export async function runSnapshot(context: Context<SnapshotFlags>): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  if (flags.out === undefined)
    throw new DimsyncError("E_USAGE", "snapshot needs the name of the file to write.", {
      command: "dimsync snapshot --out account.snapshot.gz",
    });
  const file = resolve(cwd, flags.out);
  checkWritable("--out", flags.out, file);
  const project = await loadOneProject(context, { account: true });
  const taken = await withRun(context, (run) => takeSnapshot(project, file, run));
  const { target, integrations, bytes, compressed } = taken;
  const size = `${Math.ceil(bytes / 1024)} KiB${compressed ? " before compression" : ""}`;
  await deliverForms(context, {
    human: () =>
      `${flags.out}: ${counted(integrations, "integration")} of ${target}, ${size}. It contains names, e-mail addresses and states, but no secrets.\n`,
    json: () => jsonDocument({ kind: "SnapshotTaken", file: flags.out, ...taken }),
  });
  return 0;
}
