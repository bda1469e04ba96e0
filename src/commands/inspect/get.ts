import type { Settings } from "../../model/config.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { isObject } from "../../model/json.ts";
import type { Reads } from "../../model/service.ts";
import { urlPath } from "../../model/url-path.ts";
import { openAccount } from "../../operations/account.ts";
import { readRecords } from "../../operations/records.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Context } from "../shared/context.ts";
import type { GetFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { checkAccountSettings, loadOneProject } from "../shared/project.ts";
import { listingFormats, listingForms, rawForms } from "./listing-forms.ts";

/** One sort of live object: where it is, and how it reads. `path` is the call of `--raw`. */
interface Sort {
  readonly list?: { readonly path: string; readonly read: (reads: Reads) => Promise<readonly object[]> };
  readonly one: { readonly path?: (id: string) => string; readonly read: (reads: Reads, id: string) => Promise<object | undefined> };
  readonly columns: readonly string[];
  /** Further columns where one object is asked for. */
  readonly more?: readonly string[];
  /** The rows of one object; the object itself where absent. */
  readonly rows?: (value: object) => readonly object[];
}

const sorts: Readonly<Record<string, Sort>> = {
  Integration: {
    list: { path: "/v1/integrations", read: async (reads) => (await reads.integrations()).items },
    one: { path: (id) => urlPath(["v1", "integrations", id]), read: (reads, id) => reads.integration(id) },
    columns: ["id", "name", "paused", "source.name", "source.type", "destination.name", "createdAt"],
  },
  Tag: {
    list: { path: "/v1/tags", read: async (reads) => (await reads.tags()).items },
    one: { path: (id) => urlPath(["v1", "tags", id]), read: (reads, id) => reads.tag(id) },
    columns: ["id", "name", "description", "owner", "lastUpdatedAt"],
    more: ["taggedResources"],
    rows: (value) => {
      const tagged = "taggedResources" in value && Array.isArray(value.taggedResources) ? value.taggedResources : [];
      return [{ ...value, taggedResources: tagged.map(({ id }: { readonly id: string }) => id).join(", ") }];
    },
  },
  User: {
    list: { path: "/v1/users", read: async (reads) => (await reads.users()).items },
    // The interface has no call for one user: it is looked for in the list, where an e-mail address tells as much as an id.
    one: {
      read: async (reads, id) => {
        const { items } = await reads.users();
        return items.find((user) => user.id === id) ?? items.find(({ email }) => email.toLowerCase() === id.toLowerCase());
      },
    },
    columns: ["id", "email", "name", "createdAt"],
  },
  SchemaConfig: {
    one: { path: (id) => urlPath(["v1", "integrations", id, "schemas"]), read: (reads, id) => reads.schemas(id) },
    columns: ["schema", "table", "column", "enabled", "hashed", "isPrimaryKey", "syncMode", "cursorField", "nameInDestination"],
    rows: columnRows,
  },
};

/** What `get` takes. */
export const liveKinds: readonly string[] = Object.keys(sorts);

/** `dimsync get KIND [ID]` (an id, or the address of a bound manifest): live objects as dimsync sees them; `--raw` as the service answers. Reads only. */
export async function runGet(context: Context<GetFlags>, kind: string, id: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  const { name, sort } = sortNamed(kind);
  const isRaw = flags.raw === true;
  checkOutputs(context, isRaw ? listingFormats.filter((format) => format !== "markdown") : listingFormats);
  if (id === undefined && sort.list === undefined)
    throw new DimsyncError("E_USAGE", "The interface has no list of schemas. Name an integration by its id.", {
      command: `dimsync get ${name} ID`,
    });
  if (isRaw && id !== undefined && sort.one.path === undefined)
    throw new DimsyncError("E_USAGE", `The interface has no call for one ${name.toLowerCase()}. Leave the id out, or --raw.`);
  const project = await loadOneProject(context);
  checkAccountSettings(project);
  const { settings } = project;
  const liveId = id === undefined ? undefined : await liveIdOf(id, name, settings, io.env);
  const path = liveId === undefined ? sort.list?.path : sort.one.path?.(liveId);
  const account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted });
  try {
    const value = isRaw ? await account.client.raw(path ?? "") : await read(sort, account.client, name, liveId);
    if (isRaw) await deliverForms(context, rawForms(value, [value]));
    else {
      const columns = id === undefined ? sort.columns : [...sort.columns, ...(sort.more ?? [])];
      // What is no list is one object.
      const rows = Array.isArray(value) ? value : (sort.rows?.(value as object) ?? [value]);
      await deliverForms(context, listingForms({ value, rows, columns }));
    }
    return 0;
  } finally {
    await account.close();
  }
}

/** An address such as Integration/orders stands for the object that its manifest is bound to. Throws E_UNKNOWN_ADDRESS. */
async function liveIdOf(id: string, name: string, settings: Settings, env: NodeJS.ProcessEnv): Promise<string> {
  const kind = name === "SchemaConfig" ? "Integration" : name;
  if (!id.startsWith(`${kind}/`)) return id;
  const bound = (await readRecords(settings, env)).bindings.get(id)?.id;
  if (bound !== undefined) return bound;
  throw new DimsyncError(
    "E_UNKNOWN_ADDRESS",
    `${id} is bound to nothing in target ${JSON.stringify(settings.target)}. Ids are in the list.`,
    {
      command: `dimsync get ${kind.toLowerCase()}s`,
    },
  );
}

async function read(sort: Sort, reads: Reads, name: string, id: string | undefined): Promise<unknown> {
  const value = id === undefined ? await sort.list?.read(reads) : await sort.one.read(reads, id);
  if (value !== undefined) return value;
  throw new DimsyncError(
    "E_NOT_FOUND",
    `The account has no ${name === "SchemaConfig" ? "integration" : name.toLowerCase()} with the id ${JSON.stringify(id)}. Ids are in the list.`,
    { command: `dimsync get ${name === "SchemaConfig" ? "integrations" : `${name.toLowerCase()}s`}` },
  );
}

/** Kinds as in manifests, in any case, singular or plural. */
function sortNamed(text: string): { readonly name: string; readonly sort: Sort } {
  const wanted = text
    .toLowerCase()
    .replace(/s$/u, "")
    .replace(/^schema$/u, "schemaconfig");
  const found = Object.entries(sorts).find(([name]) => name.toLowerCase() === wanted);
  if (found !== undefined) return { name: found[0], sort: found[1] };
  if (wanted === "asset")
    throw new DimsyncError("E_USAGE", "The interface has no call that reads assets. Integrations show their names and types.", {
      command: "dimsync get integrations",
    });
  throw new DimsyncError(
    "E_USAGE",
    `There is nothing named ${JSON.stringify(text)} to get. Known: ${Object.keys(sorts).join(", ")}.${didYouMean(wanted, Object.keys(sorts))}`,
  );
}

/** A schema map as rows: each schema, its tables, their columns; every row tells where it is. */
export function columnRows(schemas: object): readonly object[] {
  return entriesOf(schemas).flatMap(([schema, { tables, ...ofSchema }]) => [
    { schema, ...ofSchema },
    ...entriesOf(tables).flatMap(([table, { columns, ...ofTable }]) => [
      { schema, table, ...ofTable },
      ...entriesOf(columns).map(([column, ofColumn]) => ({ schema, table, column, ...ofColumn })),
    ]),
  ]);
}

function entriesOf(map: unknown): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  return isObject(map) ? Object.entries(map).flatMap(([name, entry]) => (isObject(entry) ? [[name, entry] as const] : [])) : [];
}
