import { randomUUID } from "node:crypto";
import { untilFlag } from "../../cli/argument-values.ts";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/io.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadOneProject } from "../../cli/project.ts";
import { byText } from "../../core/base/model/address.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { type Project, withLocations } from "../../core/manifests/index.ts";
import { withRecords } from "../../core/operations/index.ts";
import {
  type ByAddress,
  describeLease,
  type GivenUp,
  type Lease,
  movedTo,
  type Records,
  recordsMoved,
  rememberedParts,
} from "../../core/records/index.ts";
import { name, type Section, textEntries, titled, untitled } from "../../core/render/index.ts";
import { sectionsText } from "../../core/render/terminal/index.ts";
import type { RecordsFlags } from "./index.ts";

const tasks = ["show", "lock", "unlock", "init", "migrate", "export", "restore"] as const;
type Task = (typeof tasks)[number];

const isTask = (text: string): text is Task => (tasks as readonly string[]).includes(text);

/** `dimsync records TASK [FILE]`: the records of one target. No task sends a request to the service. */
export async function runRecords(context: Context<RecordsFlags>, task: string, file: string | undefined): Promise<ExitCode> {
  if (!isTask(task))
    throw new DimsyncError("E_USAGE", `${JSON.stringify(task)} is not a task of records: ${tasks.join(", ")}.${didYouMean(task, tasks)}`);
  if (file !== undefined && task !== "restore") throw new DimsyncError("E_USAGE", `records ${task} takes no file.`);
  if (task === "show") await show(context);
  else if (task === "lock") await lock(context);
  else if (task === "unlock") await unlock(context);
  else return (await import("./move-records-command.ts")).runMove(context, task, file);
  return 0;
}

/** `dimsync records show`. */
async function show(context: Context<RecordsFlags>): Promise<void> {
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true });
  const { shown, holder } = await recordsOf(project, context.io.env);
  await deliverForms(context, {
    human: (options) => sectionsText(recordsSections({ ...shown, holder }), options),
    json: () => jsonDocument(shown),
  });
}

async function lock(context: Context<RecordsFlags>): Promise<void> {
  const { flags, io } = context;
  const project = await loadOneProject(context, { account: true });
  if (flags.reason === undefined || flags.reason.trim() === "")
    throw new DimsyncError("E_USAGE", "records lock needs a reason, which is shown to users who find the target locked.", {
      command: 'dimsync records lock --reason "warehouse migration"',
    });
  const until = flags.until === undefined ? undefined : untilFlag(flags.until);
  await lockTarget(project, { reason: flags.reason, until }, io.env);
  say(
    io,
    `The target is locked${until === undefined ? "" : ` until ${until.toISOString()}`}. To end the lock, run dimsync records unlock.`,
  );
}

async function unlock(context: Context<RecordsFlags>): Promise<void> {
  const { io } = context;
  const project = await loadOneProject(context, { account: true });
  const ended = await unlockTarget(project, (lease) => confirmUnlock(context, lease), io.env);
  say(io, ended === undefined ? "The target is not locked." : `The lease of ${ended.described} is ended.`);
}

/** A run may be alive however long ago it took the lease, since it renews it. */
async function confirmUnlock({ io }: Context, { reason, described, ttlMs }: HeldLease): Promise<void> {
  if (reason !== undefined) return;
  const alive = `If that run is still alive, it may send requests for up to ${Math.round(ttlMs / 2000)} s more.`;
  const canAsk = io.stdinIsTty && io.stderrIsTty;
  const answer = canAsk ? await io.ask(`The lease of ${described} will end. ${alive}\nEnd it? Type yes: `) : "";
  if (answer.trim() === "yes") return;
  throw new DimsyncError(
    "E_LOCKED",
    `The lease of ${described} was not ended.${canAsk ? "" : ` ${alive} Run this command in a terminal to confirm.`} The next apply takes the lease over once it has not been renewed for ${Math.round(ttlMs / 1000)} s.`,
    { exit: 6 },
  );
}

/** The records of a target, as `dimsync records show` prints them. */
export interface ShownRecords {
  readonly target: string;
  readonly store: string;
  readonly place: string;
  /** "" for a store without versions. */
  readonly version: string;
  /** Who holds the lease, in words; undefined if it is free. */
  readonly holder: string | undefined;
  readonly open: readonly { readonly address: string; readonly runId: string; readonly at: string; readonly answeredId?: string }[];
  readonly bindings: readonly { readonly address: string; readonly id: string }[];
  readonly givenUp: readonly GivenUp[];
}

export function recordsSections({ target, store, place, version, holder, open, bindings, givenUp }: ShownRecords): readonly Section[] {
  const facts = [
    ["target", target],
    ["store", store === "folder" ? place : `${store}: ${place}`],
    ["version", version],
    ["lease", holder ?? "free"],
  ];
  const creates = open.map(({ address, runId, at, answeredId }) => ({
    head: [[name(address)], [answeredId === undefined ? "" : `id ${answeredId}`], [`run ${runId}`], [at]],
  }));
  const ids = bindings.map(({ address, id }) => ({ head: [[name(address)], [id]] }));
  return [
    untitled("facts", textEntries(facts.filter(([, text]) => text !== ""))),
    titled(
      "open",
      open.length === 0 ? "No creates with an unknown outcome" : `${counted(open.length, "create")} with an unknown outcome`,
      creates,
    ),
    titled("bindings", bindings.length === 0 ? "No ids are recorded" : counted(bindings.length, "recorded id"), ids),
    ...(givenUp.length === 0
      ? []
      : [
          titled(
            "givenUp",
            "Given up with dimsync resolve",
            givenUp.map(({ what, reason, at }) => ({ head: [[name(what)], [at], [reason]] })),
          ),
        ]),
  ];
}

const ofProject = <T>(project: Project, env: Environment, work: (records: Records) => Promise<T>): Promise<T> =>
  withLocations(project, withRecords(project.settings, env, work));

/** Locks a target until `until`, or until it is unlocked. Throws E_USAGE for a reason that only `records migrate` uses. */
function lockTarget(
  project: Project,
  { reason, until }: { readonly reason: string; readonly until: Date | undefined },
  env: Environment,
): Promise<void> {
  if (movedTo(reason) !== undefined)
    throw new DimsyncError("E_USAGE", "records migrate uses this reason for a store that is left for good. Use other words.");
  const lock = { runId: randomUUID(), reason, ...(until === undefined ? {} : { until }) };
  return ofProject(project, env, (records) => records.lock(lock));
}

/** A lease, and who holds it in words. */
type HeldLease = Lease & { readonly described: string };

const held = (lease: Lease): HeldLease => ({ ...lease, described: describeLease(lease) });

/** Ends the lease of a target. `confirm` is called before, and throws to leave it. Returns the lease; undefined if there is none. Throws E_RECORDS_MOVED. */
const unlockTarget = (project: Project, confirm: (lease: HeldLease) => Promise<void>, env: Environment): Promise<HeldLease | undefined> =>
  ofProject(project, env, async (records) => {
    const lease = await records.lease();
    if (lease === undefined) return undefined;
    const to = movedTo(lease.reason);
    if (to !== undefined) throw recordsMoved({ target: project.settings.target, place: records.place }, to);
    await confirm(held(lease));
    const ended = await records.unlock();
    return ended === undefined ? undefined : held(ended);
  });

/** Everything that is known of a target. `holder`: who holds the lease, in words. */
const recordsOf = (project: Project, env: Environment) =>
  ofProject(project, env, async (records) => {
    const [{ state, applied }, lease] = [await records.content(), await records.lease()];
    const { process: _, ...shownLease } = lease ?? {};
    const { version, bindings, created, open, forgotten, unlocked, kept, givenUp, appliedCommit } = state;
    const shown = {
      kind: "Records" as const,
      target: project.settings.target,
      store: records.store,
      place: records.place,
      version,
      ...(lease === undefined ? {} : { lease: shownLease }),
      open,
      bindings: [...bindings].map(([address, binding]) => ({ address, ...binding })).sort((a, b) => byText(a.address, b.address)),
      created: [...created].map(([address, entry]) => ({ address, ...entry })).sort((a, b) => byText(a.address, b.address)),
      forgotten,
      applied: [...applied.values()],
      unlocked,
      kept,
      givenUp,
      commit: appliedCommit,
      ...Object.fromEntries(rememberedParts.map((part) => [part, byKey(state[part])])),
    };
    const holder = lease === undefined ? undefined : [describeLease(lease), lease.reason].filter((text) => text !== undefined).join(": ");
    return { shown, holder };
  });

const byKey = (values: ByAddress<unknown>): object =>
  Object.fromEntries([...values].map(([address, keys]) => [address, Object.fromEntries(keys)]));
