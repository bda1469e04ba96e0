import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { DriftFlags } from "../../cli/flags.ts";
import { loadOptions } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { acceptDrift, writeEdits } from "../../drift/accept.ts";
import { appendHistory, type HistoryEntry, historyEntry, readHistory, stepsDone } from "../../drift/history.ts";
import { parseNotify } from "../../drift/notify.ts";
import { listTargets, type Project } from "../../manifests/project.ts";
import type { Plan } from "../../model/plan.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import type { ReportHistory } from "../../render/index.ts";
import { visible } from "../../text/control-characters.ts";
import { momentFlag } from "../inspect/audit.ts";
import { notifyWebhook, readLastNotified, saveLastNotified, webhookOf } from "./drift-notify.ts";

/** Checks flags before any work. Throws E_USAGE. */
export function checkDriftFlags({ since, notify: webhook }: Pick<DriftFlags, "since" | "notify">): void {
  if (since !== undefined) momentFlag("--since", since, Date.now());
  if (typeof webhook === "string") parseNotify(webhook);
}

/**
 * Notifies the webhook if the drift changed, adds the report to the history, and returns the history for the renderers (undefined without `--history`).
 * The report must include its exit. Errors are warnings and do not change the exit code. `scope.isWhole`: the report covers all manifests and the
 * account itself.
 */
export async function recordReport(
  context: Context<DriftFlags>,
  project: Project,
  report: Plan,
  scope: { readonly has: (address: string) => boolean; readonly isWhole: boolean },
): Promise<ReportHistory | undefined> {
  const { flags, cwd, io } = context;
  const folder = flags.history === undefined ? undefined : resolve(cwd, flags.history);
  const warn = (text: string): void => say(io, text);
  const past = folder === undefined ? [] : await pastReports(folder, report.target, warn);
  const lastComplete = past.findLast(({ complete }) => complete);
  const done = stepsDone(lastComplete, report, scope.has);
  const entry = historyEntry(report);
  const lastNotified = folder === undefined ? await readLastNotified(project) : past.at(-1)?.notified;
  const webhook = webhookOf(context, project, scope.isWhole);
  const notified =
    webhook === undefined
      ? lastNotified
      : await notifyWebhook(context, project, webhook, { report, entry, previous: lastNotified, done }, warn);
  if (folder === undefined) {
    if (notified !== undefined && notified !== lastNotified) await saveLastNotified(project, notified);
    return undefined;
  }
  const kept = { ...entry, ...(notified === undefined ? {} : { notified }) };
  await appendHistory(folder, kept, writeAtomic).catch((error: unknown) =>
    warn(`The report could not be added to ${folder} (${reasonOf(error)}).`),
  );
  return { points: [...past, kept].map(pointOf), done };
}

/** The history in a folder; what could not be read of it is a warning. */
async function pastReports(folder: string, target: string, warn: (text: string) => void): Promise<readonly HistoryEntry[]> {
  const read = await readHistory(folder, target).catch((error: unknown) => {
    warn(`The history in ${folder} could not be read (${reasonOf(error)}), so the report does not include it.`);
    return { entries: [], unread: [] };
  });
  for (const name of read.unread)
    warn(`${name} in ${folder} is not a history that this version can read, so the report does not include it.`);
  return read.entries;
}

const pointOf = ({ at, counts: { differences, exposed, manual } }: HistoryEntry): ReportHistory["points"][number] => ({
  ...{ at, ms: Date.parse(at), differences, exposed, manual },
});

/** `--resolve accept`: edits the manifests and prints the edits on stderr, with the differences that could not be accepted. Throws like `acceptDrift` and `writeEdits`. */
export async function acceptReport(context: Context<DriftFlags>, project: Project, report: Plan): Promise<void> {
  const { cwd, io } = context;
  const { edits, accepted, unaccepted } = await acceptDrift(report, project, cwd);
  await writeEdits(edits, writeAtomic);
  for (const { diff } of edits) io.stderr(`${diff.split(/\r?\n/u).map(visible).join("\n").trimEnd()}\n`);
  const files = edits.length === 0 ? "No file was changed." : `Changed ${edits.map(({ file }) => file).join(", ")}.`;
  io.stderr(`${visible(files)} Differences accepted: ${accepted}, not accepted: ${unaccepted.length}.\n`);
  for (const { address, path, why } of unaccepted)
    io.stderr(`  ${visible(address)}${path === "" ? "" : ` ${visible(path)}`}\n    ${visible(why)}\n`);
  if (edits.length === 0) return;
  const others = (await listTargets(loadOptions(context, []))).filter((name) => name !== project.settings.target);
  if (others.length === 0) return;
  const commands = others.map((name) => `  dimsync plan -t ${name}\n`).join("");
  io.stderr(`The manifests may also apply to other targets. Check their plans before you commit:\n${commands}`);
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
