import type { Context } from "../../cli/context.ts";
import type { ResolveFlags } from "../../cli/flags.ts";
import { isRelation } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { checkCreatedObject } from "../../operations/records/created-object.ts";
import type { OpenIntent } from "../../records/history.ts";
import type { RecordsRun, UnlockedRun } from "../../records/records.ts";
import { didYouMean } from "../../text/suggest.ts";
import { withRecords } from "./with-records.ts";

/**
 * `dimsync resolve ADDRESS --created=ID | --not-created` records the outcome of a create whose
 * response was lost; `resolve --run ID --not-created` that of every create that a run left open.
 * Only reads the account, to check the id of `--created`.
 */
export async function runResolve(context: Context<ResolveFlags>, address: string | undefined): Promise<ExitCode> {
  const { flags, io } = context;
  checkFlags(flags, address);
  await withRecords(context, async ({ records, settings, say }) => {
    const open = flags.run === undefined ? openCreates(records, "address", address ?? "") : openCreates(records, "runId", flags.run);
    const id = flags.created;
    if (id === undefined) refuseStillSending(open, records.state().unlocked, settings.client.timeoutMs, flags);
    const by = flags.force === true && flags.reason !== undefined ? `resolve: ${flags.reason}` : "resolve";
    if (id !== undefined) {
      const notChecked = await checkCreated(open, id, { settings, records: records.state(), run: { env: io.env, signal: io.interrupted } });
      if (notChecked !== undefined) say(notChecked);
      await bindCreated(records, open, id);
    }
    for (const { entryId } of open)
      await records.settle(entryId, id === undefined ? { outcome: "not-created", by } : { outcome: "created", id, by });
    for (const settled of new Set(open.map((intent) => intent.address)))
      say(id === undefined ? `${settled} was not created; the next apply may create it.` : createdText(settled, id));
  });
  return 0;
}

function checkFlags({ created, notCreated, run, force, reason }: ResolveFlags, address: string | undefined): void {
  const usage = (message: string): DimsyncError => new DimsyncError("E_USAGE", message);
  if ((address === undefined) === (run === undefined)) throw usage("resolve needs exactly one of ADDRESS and --run.");
  if ((created === undefined) === (notCreated !== true)) throw usage("resolve needs exactly one of --created=ID and --not-created.");
  if (created === "") throw usage("The id of --created is empty. Use the id of the object in the account.");
  if (run !== undefined && created !== undefined)
    throw usage("--run needs --not-created: each created object has an id of its own. Resolve it by its address.");
  if (force === true && (reason ?? "").trim() === "") throw usage("--force needs --reason: it is kept in the records.");
}

/** The creates without a known outcome of an address, or of a run. */
function openCreates(records: RecordsRun, key: "address" | "runId", wanted: string): readonly OpenIntent[] {
  const { open } = records.state();
  const found = open.filter((intent) => intent[key] === wanted);
  if (found.length > 0) return found;
  const [name, hint] = [
    JSON.stringify(wanted),
    didYouMean(
      wanted,
      open.map((intent) => intent[key]),
    ),
  ];
  throw key === "address"
    ? new DimsyncError("E_UNKNOWN_ADDRESS", `No create of ${name} has an unknown outcome.${hint}`)
    : new DimsyncError("E_UNKNOWN_RUN", `The run ${name} left no create with an unknown outcome.${hint}`);
}

/**
 * A frozen process of a run that was unlocked may wake up and send what it had stored. After half
 * of its lease's time-to-live it sends nothing more, and after the request timeout none of its
 * requests is in flight. Throws E_RUN_MAY_SEND (exit 6).
 */
function refuseStillSending(
  open: readonly OpenIntent[],
  unlocked: readonly UnlockedRun[],
  timeoutMs: number,
  { force }: ResolveFlags,
): void {
  if (force === true) return;
  for (const { runId, at, graceMs } of unlocked) {
    const end = Date.parse(at) + graceMs + timeoutMs;
    if (Date.now() >= end || open.every((intent) => intent.runId !== runId)) continue;
    throw new DimsyncError(
      "E_RUN_MAY_SEND",
      `The run ${runId} was unlocked at ${at}. If its process still exists, it may send this create until ${new Date(end).toISOString()}. Wait until then. If you know that the process is gone, use --force with --reason.`,
      { exit: 6 },
    );
  }
}

async function checkCreated(
  [intent]: readonly OpenIntent[],
  id: string,
  account: Parameters<typeof checkCreatedObject>[2],
): Promise<string | undefined> {
  if (intent === undefined) return undefined;
  const created = await import("../../operations/records/created-object.ts");
  return created.checkCreatedObject(intent, id, account);
}

async function bindCreated(records: RecordsRun, open: readonly OpenIntent[], id: string): Promise<void> {
  const [intent] = open;
  if (intent === undefined || isRelation(intent.address)) return;
  const record = open.find((one) => one.record !== undefined)?.record;
  await records.bind(intent.address, { ...record, id });
}

const createdText = (address: string, id: string): string =>
  `${address} ${isRelation(address) ? "was created" : `was created and is bound to ${id}`}.`;
