import { integrations } from "../../core/kinds/lists.ts";
import type { Project } from "../../core/manifests/project.ts";
import { DimsyncError, ProblemsError, ServiceError } from "../../core/model/errors.ts";
import type { Exit } from "../../core/model/exit.ts";
import type { LiveIntegration } from "../../core/model/live.ts";
import { addAll } from "../../core/model/maps.ts";
import { version } from "../../core/model/runtime/version.ts";
import type { Listing } from "../../core/model/service.ts";
import { accountName } from "../../core/model/settings/config.ts";
import { describeSecret } from "../../core/model/settings/secret.ts";
import { type Account, openAccount } from "../../core/operations/account.ts";
import { probeStore, readRecords } from "../../core/operations/open-records.ts";
import { planAccount } from "../../core/operations/plan.ts";
import { projectGitState, type RunEnvironment } from "../../core/operations/session.ts";
import type { RecordsState } from "../../core/records/records.ts";
import type { Client } from "../../core/service/client.ts";
import type { CallReport } from "../../core/service/request.ts";
import { counted } from "../../core/text/counts.ts";
import { forTarget } from "../../core/text/shell.ts";
import { accountCheckNames, accountChecks, clockCheck } from "./account-checks.ts";
import { type Check, fail, ok, skip } from "./check.ts";
import {
  configCheck,
  configErrors,
  exemptionChecks,
  fileChecks,
  labelChecks,
  manifestCheck,
  nodeCheck,
  recordChecks,
  taggedByCheck,
  unmatchedChecks,
} from "./project-checks.ts";
import { storeChecks } from "./store-checks.ts";
import { transportChecks } from "./transport.ts";

// Checks are ordered by dependency: settings, connection, an accepted key, single reads. The first
// failure of this chain is the only one: what depends on it is skipped, so that one cause is not
// reported ten times.

/** What `dimsync doctor -o json` prints. */
export interface DoctorReport {
  readonly kind: "DoctorReport";
  readonly target: string;
  readonly account: string;
  readonly checks: readonly Check[];
  readonly exit: Exit;
}

interface DoctorOptions {
  /** Whether to read the schemas of all integrations, and not only of one. */
  readonly allIntegrations?: boolean;
}

/** Checks whether everything that a plan needs is there. Sends GET only. */
export async function diagnose(project: Project, options: DoctorOptions, run: RunEnvironment): Promise<DoctorReport> {
  const { settings } = project;
  const checks = [
    nodeCheck(version, process.versions),
    configCheck(project),
    manifestCheck(project),
    ...fileChecks(project, await projectGitState(project, run.signal)),
    taggedByCheck(project),
    ...labelChecks(project),
    ...exemptionChecks(project, new Date().toISOString().slice(0, 10)),
    ...(await serviceChecks(project, options, run)),
  ];
  const canPlan = checks.every(({ state }) => state !== "fail");
  // The records were read before.
  const planned = async () => (await planAccount(project, {}, { ...run, onRecords: undefined })).diagnostics;
  addAll(checks, await unmatchedChecks(project, canPlan ? planned : undefined));
  return {
    kind: "DoctorReport",
    target: settings.target,
    account: accountName(settings.baseUrl),
    checks: checks.map((one) => (one.advice === undefined ? one : { ...one, advice: namingTarget(one.advice, settings) })),
    exit: checks.some(({ state }) => state === "fail") ? { code: 1, reasons: ["failed-checks"] } : { code: 0, reasons: [] },
  };
}

/** An advice that ends in a command follows it with ": ". */
const namingTarget = (advice: string, settings: Project["settings"]): string =>
  advice.replace(/(?<=: )dimsync .+$/su, (command) => forTarget(command, settings));

async function serviceChecks(project: Project, options: DoctorOptions, run: RunEnvironment): Promise<readonly Check[]> {
  const { baseUrl } = project.settings;
  const records = (client?: Client): Promise<readonly Check[]> => recordsChecks(project, run, client);
  if (baseUrl === "") return [...withSkipped([missingUrl(project)], "the base URL is missing or wrong."), ...(await records())];
  const transport = transportChecks(baseUrl, run.env);
  if (transport.some(({ check, state }) => check === "proxy" && state === "fail"))
    return [...withSkipped(transport, "the proxy cannot be used."), ...(await records())];
  const connection = await connect(project, run);
  if ("failed" in connection) return [...transport, ...withSkipped(connection.failed, connection.because), ...(await records())];
  try {
    return [...transport, ...(await liveChecks(project, options, connection)), ...(await records(connection.client))];
  } finally {
    await connection.close();
  }
}

/** The results so far, and all later checks that need the service as skipped. */
function withSkipped(results: readonly Check[], because: string): readonly Check[] {
  const skipped = ["key", "service", ...accountCheckNames, "clock"].filter((name) => results.every(({ check }) => check !== name));
  return [...results, ...skipped.map((check) => skip(check, because))];
}

const missingUrl = (project: Project): Check =>
  configErrors(project).length > 0
    ? skip("base URL", "the config has errors.")
    : fail("base URL", "No base URL is set.", "Set DIMSYNC_BASE_URL, or baseUrl of the target in dimsync.yaml.");

interface Connection {
  readonly client: Client;
  readonly close: () => Promise<void>;
  readonly integrations: Listing<LiveIntegration>;
  /** The service's clock and ours when the response arrived, if it had a Date header. */
  readonly times: () => { readonly serverMs: number | undefined; readonly localMs: number };
}

type NoConnection = { readonly failed: readonly Check[]; readonly because: string };

/** Opens the account and reads the list of integrations: the first request shows whether the service responds and accepts the key. */
async function connect(project: Project, run: RunEnvironment): Promise<Connection | NoConnection> {
  let times: ReturnType<Connection["times"]> = { serverMs: undefined, localMs: 0 };
  const onCall = ({ dateMs }: CallReport): void => {
    if (dateMs !== undefined) times = { serverMs: dateMs, localMs: Date.now() };
  };
  let account: Account;
  try {
    account = await openAccount(project, { ...run, readOnly: true, onCall });
  } catch (error) {
    return settingsFailure(error);
  }
  const client = account.client.asReadOnly();
  try {
    return { client, close: account.close, integrations: await client.list(integrations), times: () => times };
  } catch (error) {
    await account.close();
    return serviceFailure(error, keySource(project.settings));
  }
}

const keySource = ({ apiKey }: Project["settings"]): string =>
  apiKey === undefined ? "The embedded service creates its own." : `It comes from ${describeSecret(apiKey)}.`;

/** Why the account could not be opened. Nothing was sent yet. */
function settingsFailure(error: unknown): NoConnection {
  if (!(error instanceof DimsyncError)) throw error;
  const found = error instanceof ProblemsError ? error.problems.map(({ message }) => message).join(" ") : error.message;
  const check = error.code === "E_EMBEDDED" ? "service" : "key";
  const because = check === "key" ? "there is no usable API key." : "the service could not be started.";
  return { failed: [fail(check, found, "Fix this and run dimsync doctor again.")], because };
}

/** Why the first request failed: the key, if the service refuses it, else the connection. */
function serviceFailure(error: unknown, source: string): NoConnection {
  if (!(error instanceof ServiceError)) throw error;
  if (error.status === 403)
    return {
      failed: [
        fail(
          "key",
          `The service refused GET /v1/integrations with status 403. ${source}`,
          "Give the role of this key access to integrations, or put another key there.",
        ),
        ok("service", "It responds."),
      ],
      because: "the key may not read integrations.",
    };
  if (error.status === 401)
    return {
      failed: [
        fail("key", `The service refused the API key with status 401. ${source}`, "Put a valid key of this account there."),
        ok("service", "It responds."),
      ],
      because: "the service refused the API key.",
    };
  const advice =
    error.sent === "never"
      ? "Correct the base URL if it is wrong, or ask the network's administrator to allow this connection."
      : "Check that the base URL is the address of the service.";
  return { failed: [ok("key", source), fail("service", error.message, advice)], because: "the service did not respond as expected." };
}

async function liveChecks(
  project: Project,
  options: DoctorOptions,
  { client, integrations, times }: Connection,
): Promise<readonly Check[]> {
  const found = await accountChecks(client, integrations, { ...options, extended: project.settings.extended === true });
  const { serverMs, localMs } = times();
  return [
    ok("key", keySource(project.settings)),
    ok("service", `It responds and accepts the key. The account has ${counted(integrations.items.length, "integration")}.`),
    ...found,
    clockCheck(serverMs, localMs),
  ];
}

/** The store of the records, then what it contains. Nothing is written. */
async function recordsChecks(project: Project, { env }: RunEnvironment, client: Client | undefined): Promise<readonly Check[]> {
  let state: RecordsState;
  let checks: readonly Check[];
  try {
    state = await readRecords(project.settings, { env });
    checks = storeChecks(await probeStore(project.settings, env), env, state.version);
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    const because = "the records could not be read.";
    return [fail("records", error.message, adviceFor(error)), skip("bindings", because), skip("journal", because)];
  }
  return [...checks, ...(await recordChecks(project, state, client))];
}

function adviceFor({ code, command }: DimsyncError): string {
  if (command !== undefined) return `Run: ${command}`;
  if (code === "E_RECORDS_GONE")
    return "Check `records` of the target in dimsync.yaml. If the records were deleted, restore them: dimsync records restore FILE";
  if (code === "E_RECORDS_READ")
    return "plan, drift and apply need this read. Check the address of the store, the network and the credentials of this machine.";
  return "Fix this and run dimsync doctor again.";
}
