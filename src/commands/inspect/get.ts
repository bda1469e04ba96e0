import type { Context } from "../../cli/context.ts";
import type { GetFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadOneProject } from "../../cli/project.ts";
import { kinds } from "../../kinds/index.ts";
import type { LiveView } from "../../kinds/kind.ts";
import { manifestOfSchemas } from "../../kinds/manifests.ts";
import { integrationOfSchemas } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Reads } from "../../model/service.ts";
import type { Settings } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";
import { openAccount } from "../../operations/account.ts";
import { readRecords } from "../../operations/records/open.ts";
import { didYouMean } from "../../text/suggest.ts";
import { listingFormats, listingForms, rawForms } from "./listing-forms.ts";

/** Users have no manifests, so they are not a kind. */
const users: LiveView = {
  list: { path: "/v1/users", read: async (reads) => (await reads.users()).items },
  // The service has no request for a single user, so it is looked up in the list, by id or e-mail address.
  one: {
    read: async (id, reads) => {
      const { items } = await reads.users();
      return items.find((user) => user.id === id) ?? items.find(({ email }) => email.toLowerCase() === id.toLowerCase());
    },
  },
  columns: ["id", "email", "name", "createdAt"],
};

const views: Readonly<Record<string, LiveView>> = Object.fromEntries([
  ...kinds.flatMap(({ name, itemKind = name, liveView }) => (liveView === undefined ? [] : [[itemKind, liveView] as const])),
  ["User", users],
]);

/** The kinds that `get` knows. */
export const liveKinds: readonly string[] = Object.keys(views);

/** `dimsync get KIND [ID]`: prints live objects, normalised, or with `--raw` the response of the service. ID can be the address of a bound manifest. Only sends GET. */
export async function runGet(context: Context<GetFlags>, kind: string, id: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  const { name, live } = liveKindNamed(kind);
  const isRaw = flags.raw === true;
  checkOutputs(context, isRaw ? listingFormats.filter((format) => format !== "markdown") : listingFormats);
  if (id === undefined && live.list === undefined)
    throw new DimsyncError("E_USAGE", "The service has no list of all schemas. Give the id of an integration.", {
      command: `dimsync get ${name} ID`,
    });
  if (isRaw && id !== undefined && live.one.path === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `--raw cannot print a single ${name.toLowerCase()}: the service only has a list. Omit the id or --raw.`,
    );
  const project = await loadOneProject(context, { account: true });
  const liveId = id === undefined ? undefined : await liveIdOf(id, name, project.settings, io.env);
  const path = liveId === undefined ? live.list?.path : live.one.path?.(liveId);
  const account = await openAccount(project, { readOnly: true, env: io.env, signal: io.interrupted });
  try {
    const value = isRaw ? await account.client.raw(path ?? "") : await read(live, account.client, name, liveId);
    if (isRaw) await deliverForms(context, rawForms(value, [value]));
    else {
      const columns = id === undefined ? live.columns : [...live.columns, ...(live.more ?? [])];
      // Anything but a list is a single object.
      const rows = Array.isArray(value) ? value : (live.rows?.(value as object) ?? [value]);
      await deliverForms(context, listingForms({ value, rows, columns, isTty: io.stdoutIsTty }));
    }
    return 0;
  } finally {
    await account.close();
  }
}

/** The live id of an address such as Integration/orders, from the bindings; else what is given. Throws E_UNKNOWN_ADDRESS. */
async function liveIdOf(id: string, name: string, settings: Settings, env: Environment): Promise<string> {
  const kind = views[name]?.idOf ?? name;
  const address = manifestOfSchemas(id) ?? id;
  if (!address.startsWith(`${kind}/`)) return id;
  const bound = (await readRecords(settings, { env })).bindings.get(address)?.id ?? integrationOfSchemas(id);
  if (bound !== undefined) return bound;
  throw new DimsyncError("E_UNKNOWN_ADDRESS", `${id} is not bound in target ${JSON.stringify(settings.target)}. The list shows the ids.`, {
    command: `dimsync get ${kind.toLowerCase()}s`,
  });
}

async function read(live: LiveView, reads: Reads, name: string, id: string | undefined): Promise<unknown> {
  const kind = (live.idOf ?? name).toLowerCase();
  if (id === undefined) return await live.list?.read(reads);
  const value = (await live.one.read(id, reads)) ?? (await readByName(live, reads, name, id));
  if (value !== undefined) return value;
  throw new DimsyncError("E_NOT_FOUND", `The account has no ${kind} with the id or name ${JSON.stringify(id)}. The list shows both.`, {
    command: `dimsync get ${kind}s`,
  });
}

/** The only object with this live name, if there is one. */
async function readByName(live: LiveView, reads: Reads, name: string, wanted: string): Promise<unknown> {
  const objects = (await views[live.idOf ?? name]?.list?.read(reads)) ?? [];
  const [found, second] = objects.filter((object): object is { readonly id: string } => {
    const { id, name: liveName } = object as { readonly id?: unknown; readonly name?: unknown };
    return typeof id === "string" && liveName === wanted;
  });
  return found === undefined || second !== undefined ? undefined : await live.one.read(found.id, reads);
}

/** Kinds as in manifests, in any case, singular or plural. */
function liveKindNamed(text: string): { readonly name: string; readonly live: LiveView } {
  const singular = (name: string): string => name.toLowerCase().replace(/s$/u, "");
  const wanted = singular(text).replace(/^schemaconfig$/u, "schema");
  const found = Object.entries(views).find(([name]) => singular(name) === wanted);
  if (found !== undefined) return { name: found[0], live: found[1] };
  if (kinds.some(({ name }) => name.toLowerCase() === wanted))
    throw new DimsyncError("E_USAGE", `The service has no request that reads ${wanted}s. Integrations show their names and types.`, {
      command: "dimsync get integrations",
    });
  throw new DimsyncError(
    "E_USAGE",
    `The account has no kind ${JSON.stringify(text)}. Kinds: ${liveKinds.join(", ")}.${didYouMean(wanted, liveKinds)}`,
  );
}
