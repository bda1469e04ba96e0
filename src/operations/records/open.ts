import type { StoreProbe } from "../../doctor/store-checks.ts";
import { ProblemsError } from "../../model/errors.ts";
import type { Settings } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";
import { type SecretReference, secretKey } from "../../model/settings/secret.ts";
import { openFolderRecords } from "../../records/folder/index.ts";
import type { Records, RecordsState } from "../../records/records.ts";
import { refuseTrackedState } from "../../records/state-folder.ts";
import { resolveAll } from "../account.ts";

/** The store that the settings name. Opening makes no connection and writes nothing. Throws ProblemsError if its URL is missing, and E_STATE_TRACKED. */
export async function openRecords(settings: Settings, env: Environment): Promise<Records> {
  const { records, folder, target, bindingsFile } = settings;
  await refuseTrackedState(folder, env);
  if (records.store === "unusable") throw new ProblemsError(records.problems);
  if (records.store === "folder") return openFolderRecords({ folder, target, bindingsFile });
  if (records.store === "postgres") {
    const [{ openPostgresRecords }, url] = await Promise.all([
      import("../../records/postgres/index.ts"),
      databaseUrl(records.url, settings, env),
    ]);
    return openPostgresRecords({ ...records, folder, target, url });
  }
  const { openGitRecords } = await import("../../records/git/index.ts");
  return openGitRecords({ ...records, folder, target, env, key: env["DIMSYNC_DIGEST_KEY"] || undefined });
}

/** Throws ProblemsError, at `records` in dimsync.yaml, if it is missing. */
export async function databaseUrl(reference: SecretReference, settings: Settings, env: Environment): Promise<string> {
  const { recordsPlace: place, target } = settings;
  const secrets = await resolveAll([reference], settings, env, undefined).catch((error: unknown) => {
    if (!(error instanceof ProblemsError)) throw error;
    const what = `It is the URL of the records of target ${JSON.stringify(target)}.`;
    throw new ProblemsError(
      error.problems.map((problem) => ({ ...problem, message: `${problem.message} ${what}`, ...(place === undefined ? {} : { place }) })),
    );
  });
  return String(secrets.get(secretKey(reference))?.reveal());
}

/** Reads the records once. Throws as `Records.read` does. */
export async function readRecords(settings: Settings, { env, onRecords }: RecordsReader): ReturnType<Records["read"]> {
  const records = await openRecords(settings, env);
  try {
    const state = await records.read();
    if (state.version !== "") onRecords?.(versionText("read", records, state));
    return state;
  } finally {
    await records.close();
  }
}

/** The condition of the records; writes nothing. Throws as `Records.read` does, and ProblemsError if the URL of a database is missing. */
export async function probeRecords(settings: Settings, env: Environment): Promise<StoreProbe> {
  const { records, folder, target } = settings;
  if (records.store === "unusable") throw new ProblemsError(records.problems);
  if (records.store === "folder") return { store: "folder" };
  if (records.store === "git") {
    const { probeGit } = await import("../../records/git/probe.ts");
    return await probeGit({ ...records, folder, target, env, key: env["DIMSYNC_DIGEST_KEY"] || undefined });
  }
  const [{ probePostgres }, url] = await Promise.all([import("../../records/postgres/probe.ts"), databaseUrl(records.url, settings, env)]);
  return await probePostgres({ url, schema: records.schema }, { target, place: `schema ${records.schema} in PostgreSQL` });
}

export interface RecordsReader {
  readonly env: Environment;
  /** See RunEnvironment. */
  readonly onRecords?: ((text: string) => void) | undefined;
}

/** "Records read: refs/dimsync/prod of origin at 3afd97dfca22". */
export const versionText = (
  what: "read" | "written",
  { place }: Pick<Records, "place">,
  { version }: Pick<RecordsState, "version">,
): string => `Records ${what}: ${place} at ${version.slice(0, 12)}`;

/**
 * The page of the CI job that this process runs in, if any. It is shown to users who find the
 * target locked.
 */
export function jobUrl(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: job } = env;
  if (server !== undefined && repository !== undefined && run !== undefined) {
    const attempt = env["GITHUB_RUN_ATTEMPT"] || undefined;
    return `${server}/${repository}/actions/runs/${run}${attempt === undefined ? "" : `/attempts/${attempt}`}`;
  }
  return job === undefined || job === "" ? undefined : job;
}
