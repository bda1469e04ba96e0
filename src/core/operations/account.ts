import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DimsyncError, messageOf, ProblemsError } from "../base/model/errors.ts";
import { isError } from "../base/model/problem.ts";
import type { Clock } from "../base/model/runtime/clock.ts";
import { version } from "../base/model/runtime/version.ts";
import { keyVariable, type Settings } from "../base/model/settings/config.ts";
import type { Environment } from "../base/model/settings/env.ts";
import { describeSecret, Secret, type SecretReference, secretKey } from "../base/model/settings/secret.ts";
import type { Project } from "../manifests/index.ts";
import { noAccount, resolveSecrets, secretPlaces } from "../manifests/index.ts";
import type { CallReport, Client, ClientOptions } from "../service/index.ts";

/** An open account; `close` ends its connections. */
export interface OpenAccount {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

interface AccountOptions {
  /** Refuses every request but GET. */
  readonly readOnly: boolean;
  /** Set if the run writes. It is part of the user agent, which the audit log shows. */
  readonly runId?: string;
  readonly env: Environment;
  /** Ends waiting for the key, and all reads of a read-only account. If the run writes, the caller decides what finishes. */
  readonly signal: AbortSignal | undefined;
  /** What retries wait with. Default: the time of the system. */
  readonly clock?: Clock | undefined;
  /** Called after every attempt of a request. */
  readonly onCall?: (report: CallReport) => void;
}

/** A target, and where its problems are. */
export type AccountProject = Pick<Project, "settings"> & Partial<Pick<Project, "locate" | "problems">>;

/** Opens the target's account; `embedded:FILE` starts the embedded service in this process. Throws DimsyncError if the settings do not lead to one. */
export async function openAccount(project: AccountProject, options: AccountOptions): Promise<OpenAccount> {
  const { settings } = project;
  if (settings.baseUrl === "") throw noAccount(settings.target, true);
  const embedded = settings.baseUrl.startsWith("embedded:") ? await startEmbedded(settings) : undefined;
  try {
    const { createClient } = await import("../service/index.ts");
    const client = createClient({
      baseUrl: embedded?.url ?? settings.baseUrl,
      apiKey: embedded === undefined ? await apiKey(project, options) : new Secret(embedded.apiKey),
      ...(settings.apiKey === undefined ? {} : { keySource: describeSecret(settings.apiKey) }),
      timeoutMs: settings.client.timeoutMs,
      retries: settings.client.retries,
      concurrency: settings.client.concurrency,
      columnConcurrency: settings.client.columnConcurrency,
      extended: settings.extended === true,
      readOnly: options.readOnly,
      userAgent: options.runId === undefined ? `dimsync/${version}` : `dimsync/${version} (run/${options.runId})`,
      rate: settings.client.rate,
      ...(options.signal === undefined || !options.readOnly ? {} : { signal: options.signal }),
      env: options.env,
      ...clientTime(options.clock),
      ...(options.onCall === undefined ? {} : { onCall: options.onCall }),
    });
    return {
      client,
      close: async () => {
        await client.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await embedded?.close();
    throw error;
  }
}

const clientTime = (clock: Clock | undefined): Pick<ClientOptions, "now" | "sleep"> =>
  clock === undefined ? {} : { now: () => clock.now().getTime(), sleep: clock.sleep };

/** Runs `work` with the target's account, which refuses every request but GET, and closes it. Throws as `openAccount` does. */
export async function withReadOnly<T>(
  project: AccountProject,
  { env, signal, clock }: Pick<AccountOptions, "env" | "signal" | "clock">,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const account = await openAccount(project, { readOnly: true, env, signal, clock });
  return await work(account.client).finally(account.close);
}

async function startEmbedded({ baseUrl, folder, observed = false }: Settings) {
  const { startEmbeddedService } = await import("../../embedded/index.ts");
  const path = baseUrl.slice("embedded:".length);
  if (path === ":memory:") return startEmbeddedService({ observed });
  const file = resolve(folder, path);
  try {
    await mkdir(dirname(file), { recursive: true });
    return await startEmbeddedService({ file, observed });
  } catch (error) {
    throw new DimsyncError(
      "E_OUTPUT",
      `The embedded service could not store its account in ${file}: ${messageOf(error)}. Set baseUrl to another file, or delete this one.`,
      { cause: error },
    );
  }
}

async function apiKey({ settings, locate, problems: known = [] }: AccountProject, { env, signal }: AccountOptions): Promise<Secret> {
  // The key can be missing because of an error in the config.
  const errors = known.filter(isError);
  if (settings.apiKey === undefined) {
    const message = `No API key is set for target ${JSON.stringify(settings.target)}. ${keyAdvice(settings)}`;
    if (errors.length === 0) throw new DimsyncError("E_NO_API_KEY", message);
    throw new ProblemsError([...errors, { code: "E_NO_API_KEY", severity: "error", message }], locate);
  }
  const { values, problems } = await resolveSecrets([settings.apiKey], secretOptions(settings, env, signal));
  if (problems.length > 0)
    throw new ProblemsError(
      [
        ...errors,
        ...problems.map((problem) => ({
          ...problem,
          message: `${problem.message} It is the API key of target ${JSON.stringify(settings.target)}.`,
          ...(settings.apiKeyPlace === undefined ? {} : { place: settings.apiKeyPlace }),
        })),
      ],
      locate,
    );
  return values.get(secretKey(settings.apiKey)) ?? new Secret("");
}

const keyAdvice = ({ target, severalTargets }: Settings): string =>
  severalTargets === true
    ? `Set apiKey: { $secret: { env: ${keyVariable(target, 2)} } } for the target, and the variable where dimsync runs.`
    : "Set DIMSYNC_API_KEY, or DIMSYNC_API_KEY_FILE to a file with the key, where dimsync runs.";

/** The manifests that need the secrets, for the messages about missing ones. */
type SecretUsers = Pick<Project, "manifests" | "locate">;

/** Resolves every reference, or throws ProblemsError with all missing ones, at their lines in the manifests of `users`. */
export async function resolveAll(
  references: readonly SecretReference[],
  settings: Pick<Settings, "folder">,
  env: Environment,
  signal: AbortSignal | undefined,
  users?: SecretUsers,
): Promise<ReadonlyMap<string, Secret>> {
  const options = secretOptions(settings, env, signal);
  const { values, problems } = await resolveSecrets(references, options, (reference) => secretPlaces(reference, users?.manifests ?? []));
  if (problems.length > 0) throw users === undefined ? new ProblemsError(problems) : new ProblemsError(problems, users.locate);
  return values;
}

const secretOptions = ({ folder }: Pick<Settings, "folder">, env: Environment, signal: AbortSignal | undefined) => ({
  folder,
  env,
  ...(signal === undefined ? {} : { signal }),
});
