import { nodePath } from "../../cli/argument-values.ts";
import type { Context } from "../../cli/context.ts";
import { loadOneProject } from "../../cli/project.ts";
import { type Address, integrationOfSchemas, isRelation, kindOf } from "../../core/base/model/address.ts";
import { DimsyncError, readIfPossible } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { countKept, type KeptById, type KeptSchemas, keptById, keptJson, withoutNodes } from "../../core/base/model/kept.ts";
import type { NodePath } from "../../core/base/model/nodes.ts";
import type { List, Reads } from "../../core/base/model/service.ts";
import type { Settings } from "../../core/base/model/settings/config.ts";
import { counted } from "../../core/base/text/counts.ts";
import { nodeText } from "../../core/base/text/paths.ts";
import { bindCommand } from "../../core/base/text/shell.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { assets, integrationAddress, integrations, kindNamed, kindNames, lists, schemasAddress } from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { type RunEnvironment, withReads } from "../../core/operations/index.ts";
import type { Facts, OpenIntent, RecordsRun, RecordsState, UnlockedRun } from "../../core/records/index.ts";
import { changeOf, changeRecords, type RecordsChange } from "./bind-command.ts";
import type { ResolveFlags } from "./index.ts";

/**
 * `dimsync resolve ADDRESS --created=ID | --not-created` records the outcome of a create whose
 * response was lost. Only reads the account, to check the id of `--created`. With `--reason`, it gives up what was kept.
 */
export async function runResolve(context: Context<ResolveFlags>, address: string, path: string | undefined): Promise<ExitCode> {
  const { created, notCreated, reason } = context.flags;
  const usage = (message: string): DimsyncError => new DimsyncError("E_USAGE", message);
  if ([created, notCreated, reason].filter((one) => one !== undefined).length !== 1)
    throw usage("resolve needs exactly one of --created=ID, --not-created and --reason=TEXT.");
  if (path !== undefined && reason === undefined) throw usage("A schema, table or column needs --reason: it is given up.");
  if (created === "") throw usage("The id of --created is empty. Use the id of the object in the account.");
  if (reason?.trim() === "") throw usage("The text of --reason is empty. Say why it is given up.");
  const project = await loadOneProject(context, { account: true });
  if (reason !== undefined) {
    await giveUp(project, { address, path: path === undefined ? undefined : nodePath("resolve", path), reason }, changeOf(context));
    return 0;
  }
  await resolveCreate(project, { address, created }, changeOf(context));
  return 0;
}

interface ResolveOptions {
  /** Of the create. */
  readonly address: string;
  /** The id of the created object; undefined: nothing was created. */
  readonly created: string | undefined;
}

/**
 * Records the outcome of a create whose response was lost. Only reads the account, to check the id. Throws E_UNKNOWN_ADDRESS, E_LOCKED,
 * and as `checkCreatedObject` does.
 */
const resolveCreate = (project: Project, { address, created: id }: ResolveOptions, change: RecordsChange): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    const { settings } = project;
    const open = openCreates(records, address);
    if (id === undefined) refuseStillSending(open, records.state().unlocked, settings.client.timeoutMs);
    const [intent] = open;
    if (id !== undefined && intent !== undefined) {
      const notChecked = await checkCreatedObject(intent, id, { settings, records: records.state(), run: change });
      if (notChecked !== undefined) say(notChecked);
      await bindCreated(records, open, id);
    }
    const by = "resolve";
    for (const { entryId } of open)
      await records.settle(entryId, id === undefined ? { outcome: "not-created", by } : { outcome: "created", id, by });
    say(id === undefined ? `${address} was not created; the next apply may create it.` : createdText(address, id));
  });

/** The creates of an address without a known outcome. */
function openCreates(records: RecordsRun, address: string): readonly OpenIntent[] {
  const { open } = records.state();
  const found = open.filter((intent) => intent.address === address);
  if (found.length > 0) return found;
  const hint = didYouMean(
    address,
    open.map((intent) => intent.address),
  );
  throw new DimsyncError("E_UNKNOWN_ADDRESS", `No create of ${JSON.stringify(address)} has an unknown outcome.${hint}`);
}

/**
 * A frozen process of a run that was unlocked may wake up and send what it had stored. After half
 * of its lease's time-to-live it sends nothing more, and after the request timeout none of its
 * requests is in flight. Throws E_LOCKED (exit 6).
 */
function refuseStillSending(open: readonly OpenIntent[], unlocked: readonly UnlockedRun[], timeoutMs: number): void {
  for (const { runId, at, graceMs } of unlocked) {
    const end = Date.parse(at) + graceMs + timeoutMs;
    if (Date.now() >= end || open.every((intent) => intent.runId !== runId)) continue;
    throw new DimsyncError(
      "E_LOCKED",
      `The run ${runId} was unlocked at ${at}. If its process still exists, it may send this create until ${new Date(end).toISOString()}. Run the command again after that.`,
      { exit: 6 },
    );
  }
}

async function bindCreated(records: RecordsRun, open: readonly OpenIntent[], id: string): Promise<void> {
  const [intent] = open;
  if (intent === undefined || isRelation(intent.address)) return;
  const record = open.find((one) => one.record !== undefined)?.record;
  await records.bind(intent.address, { ...record, id });
}

const createdText = (address: string, id: string): string =>
  `${address} ${isRelation(address) ? "was created" : `was created and is bound to ${id}`}.`;

/** The id that a user gives for a create whose response was lost. */
interface NamedObject {
  readonly intent: OpenIntent;
  readonly id: string;
}

/**
 * Checks that this create can have made the object `id`: by the records, and by the lists that could show it. Returns why that could not be
 * checked, or undefined. Throws E_NOT_FOUND and E_OTHER_OBJECT.
 */
async function checkCreatedObject(
  intent: OpenIntent,
  id: string,
  { settings, records, run }: { readonly settings: Settings; readonly records: RecordsState; readonly run: RunEnvironment },
): Promise<string | undefined> {
  const { address } = intent;
  const named = { intent, id };
  const [owner] =
    [...records.bindings].find(([other, bound]) => bound.id === id && other !== address && kindOf(other) === kindOf(address)) ?? [];
  if (owner !== undefined && !isRelation(address))
    throw new DimsyncError(
      "E_OTHER_OBJECT",
      `${address} was not created as ${JSON.stringify(id)}: that id is bound to ${owner}. Correct the id; if ${address} was not created, use --not-created. Nothing was recorded.`,
    );
  try {
    return await withReads({ settings }, run, (reads) => (isRelation(address) ? checkRelation(intent, reads) : checkObject(named, reads)));
  } catch (error) {
    const isFinding = error instanceof DimsyncError && (error.code === "E_NOT_FOUND" || error.code === "E_OTHER_OBJECT");
    if (!(error instanceof DimsyncError) || isFinding || run.signal.aborted) throw error;
    return `The account could not be read, so it was not checked that ${address} exists: ${error.message}`;
  }
}

async function checkRelation({ address, kind, naturalKey }: OpenIntent, reads: Reads): Promise<undefined> {
  const found = naturalKey === undefined ? [] : await kindNamed(kind)?.find?.(naturalKey, reads);
  if (found === undefined || found === "gone" || found.length === 0)
    throw missing(address, `The tag is not attached to the resource of ${address}.`);
}

async function checkObject(named: NamedObject, reads: Reads): Promise<string | undefined> {
  const { naturalKey, kind: kindName } = named.intent;
  const kind = kindNamed(kindName);
  const existing = naturalKey === undefined ? undefined : await kind?.find?.(naturalKey, reads);
  const alike = existing === "gone" ? undefined : existing;
  for (const list of lists.filter(({ name }) => name !== kind?.list?.name)) {
    const shown = (await readIfPossible(() => reads.list(list)))?.items.find((one) => one.id === named.id);
    if (shown !== undefined) throw other(named, `the list of ${list.name} shows it as ${JSON.stringify(shown.name ?? "")}`);
  }
  return kind?.list === undefined ? checkUnlisted(named, alike, reads) : checkListed(named, alike, { list: kind.list, reads });
}

const keyOf = ({ naturalKey = {} }: OpenIntent): string =>
  Object.entries(naturalKey)
    .map(([field, value]) => `${field} ${JSON.stringify(value)}`)
    .join(", ");

/** `alike`: the ids that have the natural key of the create; there were none before it. */
async function checkListed(
  named: NamedObject,
  alike: readonly string[] | undefined,
  { list, reads }: { readonly list: List; readonly reads: Reads },
): Promise<undefined> {
  const { intent, id } = named;
  const what = intent.kind.toLowerCase();
  const live = await reads.one(list, id);
  if (live === undefined)
    throw missing(intent.address, `The account has no ${what} with the id ${JSON.stringify(id)}.`, `dimsync get ${what}s`);
  const name = live.name ?? "";
  if (alike?.includes(id) === false) throw other(named, `that is ${JSON.stringify(name)}, and the create was for ${keyOf(intent)}`);
}

/** The same for an object that is in no list. */
async function checkUnlisted(named: NamedObject, alike: readonly string[] = [], reads: Reads): Promise<string | undefined> {
  const { intent, id } = named;
  if (alike.includes(id)) return undefined;
  const asset = await reads.one(assets, id);
  if (asset !== undefined && asset.name === intent.naturalKey?.["name"]) return undefined;
  if (asset !== undefined) throw other(named, `that is ${JSON.stringify(asset.name)}, and the create was for ${keyOf(intent)}`);
  if (alike.length > 0) throw other(named, `integrations show ${alike.join(" and ")} with ${keyOf(intent)}`);
  const live = (await reads.list(integrations)).items;
  const user = live.find(({ source, destination }) => source?.id === id || destination?.id === id);
  const shown = user?.source?.id === id ? user.source : user?.destination;
  if (user === undefined || shown === undefined)
    return `It could not be checked that ${intent.address} is ${id}: dimsync has no request that reads assets, and no integration shows it.`;
  const { name, type } = shown;
  throw other(named, `the integration ${JSON.stringify(user.name)} shows it as ${JSON.stringify(name)} (${type})`);
}

const missing = (address: string, what: string, command?: string): DimsyncError =>
  new DimsyncError(
    "E_NOT_FOUND",
    `${what} Correct the id; if ${address} was not created, use --not-created. Nothing was recorded.`,
    command === undefined ? {} : { command },
  );

const other = ({ intent: { address }, id }: NamedObject, what: string): DimsyncError =>
  new DimsyncError(
    "E_OTHER_OBJECT",
    `${address} was not created as ${JSON.stringify(id)}: ${what}. Correct the id; if ${address} was not created, use --not-created. Nothing was recorded. If you know that it is the right object, and that it was changed since, bind it:`,
    { command: bindCommand(address, id) },
  );

interface Decision {
  /** `Schemas/orders`, by the name of the integration or its id; `Tag/pii#8f1c`. */
  readonly address: Address;
  /** What of the schemas; undefined: all. */
  readonly path: NodePath | undefined;
  readonly reason: string;
}

/**
 * Gives up what earlier runs kept hashed or disabled, and what a selector covered. What the manifests keep and the account shows is recorded again by
 * the next apply. Sends no request. Throws E_UNKNOWN_ADDRESS.
 */
const giveUp = (project: Project, decision: Decision, change: RecordsChange): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    const { facts, said } = decided(records.state(), { ...decision, at: new Date().toISOString() });
    records.remember(facts);
    say(said);
  });

/** What to record of the decision, and what is given up in a sentence. Throws E_UNKNOWN_ADDRESS. */
export function decided(
  state: Pick<RecordsState, "kept" | "covered" | "bindings">,
  { address, path, reason, at }: Decision & { readonly at: string },
): { readonly facts: Facts; readonly said: string } {
  const [tag, resource] = address.split("#");
  const name = resource ?? integrationOfSchemas(address);
  const before = keptById(state.kept);
  const ids = name === undefined || resource !== undefined ? [] : idsNamed(name, before, state);
  const left = new Map<string, KeptSchemas>(ids.map((id) => [id, withoutNodes(before.get(id)?.schemas ?? new Map(), path)]));
  const nodes = ids.reduce((sum, id) => sum + countKept(before.get(id)?.schemas) - countKept(left.get(id)), 0);
  const isMeant = (id: string, was: string): boolean => id === name || (resource === undefined && (was === name || ids.includes(id)));
  const covered =
    path !== undefined
      ? []
      : [...state.covered].filter(
          ([of, all]) =>
            (resource === undefined ? kindOf(of) === kindNames.schemaConfig : of === tag) && [...all].some(([id, was]) => isMeant(id, was)),
        );
  const what = path === undefined ? address : `${address} ${nodeText(path)}`;
  if (nodes === 0 && covered.length === 0) throw unknown(what, before);
  const kept = keptJson(
    new Map(
      [...before]
        .map(([id, one]) => [id, { ...one, schemas: left.get(id) ?? one.schemas }] as const)
        .filter(([, { schemas }]) => schemas.size > 0),
    ),
  );
  const parts = [...(nodes === 0 ? [] : [counted(nodes, "hashed or disabled node")]), ...covered.map(([of]) => `what ${of} selected`)];
  return {
    facts: {
      ...(nodes === 0 ? {} : { kept }),
      covered: new Map(covered.map(([of, all]) => [of, new Map([...all].filter(([id, was]) => !isMeant(id, was)))])),
      givenUp: { what, reason, at },
    },
    said: `${what}: gave up ${parts.join(" and ")}. The next apply records again what the manifests keep there.`,
  };
}

/** By id, by the manifest that is bound to it, or by the name in the account. */
function idsNamed(name: string, kept: KeptById, { bindings }: Pick<RecordsState, "bindings">): readonly string[] {
  const id = [name, bindings.get(integrationAddress(name))?.id].find((one) => one !== undefined && kept.has(one));
  return id !== undefined ? [id] : [...kept].flatMap(([one, { identity }]) => (identity[0] === name ? [one] : []));
}

function unknown(what: string, kept: KeptById): DimsyncError {
  const names = [...kept].flatMap(([id, { identity }]) => [schemasAddress(identity[0] ?? id), schemasAddress(id)]);
  return new DimsyncError("E_UNKNOWN_ADDRESS", `The records have nothing to give up of ${JSON.stringify(what)}.${didYouMean(what, names)}`);
}
