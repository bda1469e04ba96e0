import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { JsonValue } from "../model/json.ts";
import type { Reads } from "../model/service.ts";
import { didYouMean } from "../model/suggest.ts";
import { urlPath } from "../model/url-path.ts";
import { openAccount } from "./account.ts";
import type { Context } from "./context.ts";
import type { GlobalFlags } from "./flags.ts";
import { loadOneProject } from "./project.ts";
import { tableText } from "./table.ts";

export interface GetFlags extends GlobalFlags {
  readonly raw?: boolean;
}

/** One sort of live object: where it is, and how it reads. */
interface Sort {
  readonly list?: { readonly path: string; readonly read: (reads: Reads) => Promise<readonly object[]> };
  readonly one?: { readonly path: (id: string) => string; readonly read: (reads: Reads, id: string) => Promise<object | undefined> };
  readonly columns: readonly string[];
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
  },
  User: {
    list: { path: "/v1/users", read: async (reads) => (await reads.users()).items },
    columns: ["id", "email", "name", "createdAt"],
  },
  SchemaConfig: {
    one: { path: (id) => urlPath(["v1", "integrations", id, "schemas"]), read: (reads, id) => reads.schemas(id) },
    columns: [],
  },
};

/** `dimsync get KIND [ID]`: live objects as dimsync sees them; `--raw` as the service answers. Reads only. */
export async function runGet(context: Context<GetFlags>, kind: string, id: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  const { name, sort } = sortNamed(kind);
  if (id === undefined && sort.list === undefined)
    throw new DimsyncError("E_USAGE", `The interface has no list of schemas. Name an integration: dimsync get ${name} ID`);
  if (id !== undefined && sort.one === undefined)
    throw new DimsyncError("E_USAGE", `The interface has no call for one ${name.toLowerCase()}. Leave the id out to list all.`);
  const { settings } = await loadOneProject(context);
  const account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted });
  try {
    const value =
      flags.raw === true
        ? await account.client.raw(id === undefined ? (sort.list?.path ?? "") : (sort.one?.path(id) ?? ""))
        : await read(sort, account.client, name, id);
    if (flags.raw === true || flags.output.includes("json") || name === "SchemaConfig")
      io.stdout(`${JSON.stringify(value, undefined, 2)}\n`);
    else io.stdout(tableText(Array.isArray(value) ? value : [value], sort.columns));
    return 0;
  } finally {
    await account.close();
  }
}

async function read(sort: Sort, reads: Reads, name: string, id: string | undefined): Promise<JsonValue> {
  const value = id === undefined ? await sort.list?.read(reads) : await sort.one?.read(reads, id);
  if (value === undefined) throw new DimsyncError("E_NOT_FOUND", `The account has no ${name} with the id ${JSON.stringify(id)}.`);
  return value as unknown as JsonValue;
}

/** Kinds as in manifests, in any case, singular or plural. */
function sortNamed(text: string): { readonly name: string; readonly sort: Sort } {
  const wanted = text.toLowerCase().replace(/s$/u, "");
  const found = Object.entries(sorts).find(([name]) => name.toLowerCase() === wanted);
  if (found !== undefined) return { name: found[0], sort: found[1] };
  if (wanted === "asset")
    throw new DimsyncError(
      "E_USAGE",
      "The interface has no call that reads assets; integrations show their names and types: dimsync get integrations",
    );
  throw new DimsyncError(
    "E_USAGE",
    `There is nothing named ${JSON.stringify(text)} to get. Known: ${Object.keys(sorts).join(", ")}.${didYouMean(text, Object.keys(sorts))}`,
  );
}
