import { ProblemsError } from "../base/model/errors.ts";
import type { Settings } from "../base/model/settings/config.ts";
import type { Environment } from "../base/model/settings/env.ts";
import type { Records, RecordsState, StoreCondition } from "../records/index.ts";
import { refuseTrackedState } from "../records/index.ts";
import { storeNamed } from "./stores-records.ts";

/** The store that the settings name. Opening makes no connection and writes nothing. Throws ProblemsError if its URL is missing, and E_STATE_TRACKED. */
export async function openRecords(settings: Settings, env: Environment): Promise<Records> {
  await refuseTrackedState(settings.folder, env);
  const records = usable(settings);
  return await storeNamed(records.store).open(records, { settings, env });
}

/** Runs `work` with the store that the settings name, and closes it. Throws as `openRecords` does. */
export async function withRecords<T>(settings: Settings, env: Environment, work: (records: Records) => Promise<T>): Promise<T> {
  const records = await openRecords(settings, env);
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

/** Throws ProblemsError. */
function usable({ records }: Settings): Exclude<Settings["records"], { readonly store: "unusable" }> {
  if (records.store === "unusable") throw new ProblemsError(records.problems);
  return records;
}

/** Reads the records once. Throws as `Records.read` does. */
export const readRecords = (settings: Settings, { env, onRecords }: RecordsReader): Promise<RecordsState> =>
  withRecords(settings, env, async (records) => {
    const state = await records.read();
    if (state.version !== "") onRecords?.(versionText("read", records, state));
    return state;
  });

/** The condition of the records for `dimsync doctor`; writes nothing. Throws as `Records.read` does, and ProblemsError if the URL of a database is missing. */
export async function probeStore(settings: Settings, env: Environment): Promise<StoreCondition> {
  const { version } = await readRecords(settings, { env });
  const records = usable(settings);
  return await storeNamed(records.store).probe(records, { settings, env }, version);
}

interface RecordsReader {
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
