import type { Context } from "../../cli/context.ts";
import type { GlobalFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms, listingForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { integrationOfSchemas, toAddress } from "../../core/base/model/address.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { type List, type Reads, whyNotSent } from "../../core/base/model/service.ts";
import type { Settings } from "../../core/base/model/settings/config.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { itemKindOf, kinds, type LiveView, manifestOfSchemas, users } from "../../core/kinds/index.ts";
import { type AccountProject, type RunEnvironment, readRecords, withReadOnly } from "../../core/operations/index.ts";

/** `dimsync get KIND [ID]`: prints live objects, normalised. ID can be the address of a bound manifest. Only sends GET. */
export async function runGet(context: Context<GlobalFlags>, kind: string, id: string | undefined): Promise<ExitCode> {
  const { io } = context;
  const query = liveQuery(kind, id);
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true, interruptible: true });
  const { value, rows, columns } = await withRun(context, (run) => readLive(project, query, run));
  await deliverForms(context, listingForms({ value, rows, columns, isTty: io.stdoutIsTty }));
  return 0;
}

const readOne = async ({ one, list }: View, id: string, reads: Reads): Promise<object | undefined> =>
  one === undefined && list !== undefined ? await reads.one(list, id) : await one?.read(id, reads);

/** What is read of an account. */
interface LiveQuery {
  /** As in `liveKinds`. */
  readonly name: string;
  readonly live: View;
  /** A live id, or the address of a bound manifest; undefined: all objects. */
  readonly id: string | undefined;
}

/** Live objects, and how a table shows them. */
interface LiveObjects {
  readonly value: unknown;
  readonly rows: readonly unknown[];
  readonly columns: readonly string[];
}

/** `kind`: as in manifests, in any case, singular or plural. Throws E_USAGE for what the service has no request for. */
function liveQuery(kind: string, id: string | undefined): LiveQuery {
  const { name, live } = liveKindNamed(kind);
  if (id === undefined && live.list === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `dimsync has no request that lists all ${name.toLowerCase().replace(/s?$/u, "s")}. Give the id of an ${(live.idOf ?? name).toLowerCase()}.`,
      { command: `dimsync get ${name} ID` },
    );
  return { name, live, id };
}

/** Reads live objects. Only sends GET. Throws E_UNKNOWN_ADDRESS, E_NOT_FOUND and ServiceError. */
async function readLive(
  project: AccountProject,
  { name, live, id }: LiveQuery,
  run: Pick<RunEnvironment, "env" | "signal">,
): Promise<LiveObjects> {
  const liveId = id === undefined ? undefined : await liveIdOf(id, name, project.settings, run.env);
  return withReadOnly(project, run, async (client) => {
    const boundId = async (address: string): Promise<string | undefined> =>
      (await readRecords(project.settings, run)).bindings.get(address)?.id;
    const value = await read(client, { name, live, id: liveId }, { boundId, settings: project.settings });
    const columns = id === undefined ? live.columns : [...live.columns, ...(live.more ?? [])];
    // Anything but a list is a single object.
    return { value, rows: Array.isArray(value) ? value : (live.rows?.(value as object) ?? [value]), columns };
  });
}

/** The live id of an address such as Integration/orders, from the bindings; else what is given. Throws E_UNKNOWN_ADDRESS. */
async function liveIdOf(id: string, name: string, settings: Settings, env: Environment): Promise<string> {
  const kind = views[name]?.idOf ?? name;
  const address = manifestOfSchemas(id) ?? id;
  if (!address.startsWith(`${kind}/`)) return id;
  const bound = (await readRecords(settings, { env })).bindings.get(address)?.id ?? integrationOfSchemas(id);
  if (bound !== undefined) return bound;
  const { where, command } = whereIdsAre(kind);
  throw new DimsyncError("E_UNKNOWN_ADDRESS", `${id} is not bound in target ${JSON.stringify(settings.target)}. ${where}`, { command });
}

/** By id, by live name, or by the name of a bound manifest. */
async function read(
  reads: Reads,
  { name, live, id }: LiveQuery,
  { boundId, settings }: { readonly boundId: (address: string) => Promise<string | undefined>; readonly settings: Settings },
): Promise<unknown> {
  const kind = (live.idOf ?? name).toLowerCase();
  if (id === undefined) return live.list === undefined ? undefined : (await reads.list(live.list)).items;
  const value = (await readOne(live, id, reads)) ?? (await readByName(live, reads, name, id));
  if (value !== undefined) return value;
  const isOfManifests = kinds.some((one) => one.name === (live.idOf ?? name));
  const bound = isOfManifests ? await boundId(toAddress(live.idOf ?? name, id)) : undefined;
  const ofManifest = bound === undefined ? undefined : await readOne(live, bound, reads);
  if (ofManifest !== undefined) return ofManifest;
  const call = live.one?.call;
  if (call !== undefined && reads.offers?.(call) !== true) {
    const reason = whyNotSent(settings.extended === true ? { missing: new Set([call]) } : undefined, call);
    throw new DimsyncError("E_NOT_OFFERED", `dimsync cannot read ${kind}s: ${reason}`, { command: "dimsync get integrations" });
  }
  const { where, command } = whereIdsAre(live.idOf ?? name);
  throw new DimsyncError("E_NOT_FOUND", `The account has no ${kind} with the id or name ${JSON.stringify(id)}. ${where}`, { command });
}

const whereIdsAre = (name: string): { readonly where: string; readonly command: string } =>
  views[name]?.list === undefined
    ? { where: "Integrations show the ids of their sources and destinations.", command: "dimsync get integrations -o json" }
    : { where: "The list shows the ids.", command: `dimsync get ${name.toLowerCase()}s` };

/** The only object with this live name, if there is one. */
async function readByName(live: View, reads: Reads, name: string, wanted: string): Promise<unknown> {
  const list = views[live.idOf ?? name]?.list;
  const [found, second] = list === undefined ? [] : (await reads.list(list)).items.filter((object) => object.name === wanted);
  return found === undefined || second !== undefined ? undefined : await readOne(live, found.id, reads);
}

function liveKindNamed(text: string): { readonly name: string; readonly live: View } {
  const singular = (name: string): string => name.toLowerCase().replace(/s$/u, "");
  const wanted = singular(text).replace(/^schemaconfig$/u, "schema");
  const found = Object.entries(views).find(([name]) => singular(name) === wanted);
  if (found !== undefined) return { name: found[0], live: found[1] };
  throw new DimsyncError(
    "E_USAGE",
    `The account has no kind ${JSON.stringify(text)}. Kinds: ${liveKinds.join(", ")}.${didYouMean(wanted, liveKinds)}`,
  );
}

/** Live objects that `get` prints, and the list that has them. */
type View = LiveView & { readonly list?: List };

/** Users have no manifests, so they are not a kind. */
const usersView: View = {
  list: users,
  // The service has no request for a single user, so it is looked up in the list, by id or e-mail address.
  one: {
    read: async (id, reads) => {
      const { items } = await reads.list(users);
      return items.find((user) => user.id === id) ?? items.find(({ email }) => email.toLowerCase() === id.toLowerCase());
    },
  },
  columns: ["id", "email", "name", "createdAt"],
};

const views: Readonly<Record<string, View>> = Object.fromEntries([
  ...kinds.flatMap((kind) => {
    const { liveView, list } = kind;
    return liveView === undefined ? [] : [[itemKindOf(kind), { ...liveView, ...(list === undefined ? {} : { list }) }] as const];
  }),
  ["User", usersView],
]);

/** The kinds that `get` knows. */
const liveKinds: readonly string[] = Object.keys(views);
