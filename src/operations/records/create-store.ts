import { readFile } from "node:fs/promises";
import { DimsyncError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { GitRecordsSettings, PostgresRecordsSettings, RecordsSettings, Settings } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { editYaml } from "../../yaml/edit/edit.ts";
import { databaseUrl } from "./open.ts";

/** A store for records, as in `--to`. */
export type StoreChoice =
  | { readonly store: "folder" }
  | Pick<GitRecordsSettings, "store" | "ref" | "remote">
  | Pick<PostgresRecordsSettings, "store" | "url" | "schema">;

const databaseVariable = "DIMSYNC_DATABASE_URL";

/** `folder`, `git`, `git:REF` or `postgres`. Throws E_USAGE. */
export function parseStore(text: string | undefined, target: string): StoreChoice {
  const [name, ref = `refs/dimsync/${target.replaceAll(/[^A-Za-z0-9._-]/gu, "-")}`] = (text ?? "git").split(/:(.*)/su);
  if (name === "folder") return { store: name };
  if (name === "postgres") return { store: name, url: { $secret: { env: databaseVariable } }, schema: "dimsync" };
  if (name === "git" && /^refs\/[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/u.test(ref))
    return { store: "git", ref, remote: "origin" };
  throw new DimsyncError("E_USAGE", `${JSON.stringify(text)} is not a store: use folder, git, git:refs/dimsync/prod or postgres.`);
}

export interface CreatedStore {
  readonly settings: RecordsSettings;
  /** The member `records` of the target in dimsync.yaml; undefined: none. */
  readonly config: JsonObject | undefined;
  /** Notes about the new store. */
  readonly notes: readonly string[];
}

/**
 * Creates an empty store, which proves that it can be written. Throws E_RECORDS_EXIST, E_RECORDS_READ,
 * E_RECORDS_REFUSED and E_RECORDS_UNCLEAR.
 */
export async function createStore(targetSettings: Settings, choice: StoreChoice, env: Environment): Promise<CreatedStore> {
  const { target, folder } = targetSettings;
  if (choice.store === "folder") return { settings: { store: "folder" }, config: undefined, notes: [] };
  if (choice.store === "git") {
    const { initGitRecords } = await import("../../records/git/init.ts");
    const { ref, remote } = choice;
    const settings = { remote, ref, ttlMs: 300_000 };
    const key = env["DIMSYNC_DIGEST_KEY"] || undefined;
    const id = await initGitRecords({ ...settings, target, folder, env, key }).catch((error: unknown) => {
      throw withBranch(error, ref);
    });
    return {
      settings: { store: "git", ...settings, id },
      config: { git: { ref, ...(remote === "origin" ? {} : { remote }), id } },
      notes: [`The records are in ${ref} of the remote ${remote}.`],
    };
  }
  const { schema } = choice;
  if (choice.url.$secret.env === databaseVariable && (env[databaseVariable] ?? "") === "")
    throw new DimsyncError(
      "E_USAGE",
      `Set ${databaseVariable} to the URL of the database, such as postgres://user:password@db.example.com/dimsync.`,
    );
  const { initPostgresRecords } = await import("../../records/postgres/index.ts");
  const { id, synchronousCommit } = await initPostgresRecords({
    ...{ target, schema },
    url: await databaseUrl(choice.url, targetSettings, env),
  });
  return {
    settings: { ...choice, id, ttlMs: 60_000 },
    config: { postgres: { url: { $secret: choice.url.$secret }, ...(schema === "dimsync" ? {} : { schema }), id } },
    notes:
      synchronousCommit === "off"
        ? [
            "The server has synchronous_commit = off. dimsync turns it on for its own transactions; other programs may lose commits in a crash.",
          ]
        : [],
  };
}

/** The error, which suggests a branch if a server refused another ref. */
function withBranch(error: unknown, ref: string): unknown {
  const isRefused = error instanceof DimsyncError && error.code === "E_RECORDS_REFUSED";
  if (!isRefused || ref.startsWith("refs/heads/")) return error;
  return new DimsyncError(error.code, `${error.message} If the server only accepts branches, use one:`, {
    exit: error.exit,
    cause: error,
    command: `dimsync records init --to git:${ref.replace(/^refs\//u, "refs/heads/")}`,
  });
}

/** Writes `records` of the target into dimsync.yaml; comments and order stay. Throws E_CONFIG_EDIT (exit 1) if the file cannot be edited. */
export const writeRecordsConfig = (configFile: string, target: string, records: JsonObject | undefined): Promise<void> =>
  editConfig(
    configFile,
    records === undefined
      ? { type: "members", path: ["targets", target], removed: new Set(["records"]), added: new Map(), before: new Map() }
      : { type: "set", path: ["targets", target, "records"], value: records as never },
  );

/** Like `writeRecordsConfig`, for the id of the store that dimsync.yaml names already. */
export const writeRecordsId = (
  configFile: string,
  target: string,
  { store, id }: { readonly store: string; readonly id: string },
): Promise<void> => editConfig(configFile, { type: "set", path: ["targets", target, "records", store, "id"], value: id });

async function editConfig(configFile: string, edit: Parameters<typeof editYaml>[2][number]): Promise<void> {
  const text = await readFile(configFile, "utf8");
  const edited = editYaml(text, 0, [edit]);
  if (edited.refused.length > 0)
    throw new DimsyncError(
      "E_CONFIG_EDIT",
      `${configFile} could not be edited: ${edited.refused[0]?.why ?? "unknown reason"}. The store exists; add its settings to the target yourself.`,
    );
  await writeAtomic(configFile, edited.text);
}
