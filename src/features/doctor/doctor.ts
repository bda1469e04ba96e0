import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryTop } from "../../core/base/git/process.ts";
import { DimsyncError, ProblemsError, readOr, ServiceError } from "../../core/base/model/errors.ts";
import type { Exit } from "../../core/base/model/exit.ts";
import { memberAt } from "../../core/base/model/json/json.ts";
import { toPointer } from "../../core/base/model/json/pointer.ts";
import type { LiveIntegration } from "../../core/base/model/live.ts";
import { addAll } from "../../core/base/model/maps.ts";
import type { Plan } from "../../core/base/model/plan.ts";
import { diagnosticsIn, isError, placeText, toDiagnostic } from "../../core/base/model/problem.ts";
import { version } from "../../core/base/model/runtime/version.ts";
import type { Listing } from "../../core/base/model/service.ts";
import { allowedName, unlistedHost } from "../../core/base/model/settings/base-url.ts";
import { accountName, type Settings } from "../../core/base/model/settings/config.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { describeSecret } from "../../core/base/model/settings/secret.ts";
import type { Code } from "../../core/base/model/titles.ts";
import { counted } from "../../core/base/text/counts.ts";
import { andMore } from "../../core/base/text/lists.ts";
import { spaced } from "../../core/base/text/paths.ts";
import { forTarget, shellWord } from "../../core/base/text/shell.ts";
import { integrations, tags, userIdOf, users } from "../../core/kinds/index.ts";
import { type Project, shownPath } from "../../core/manifests/index.ts";
import { ciFiles, ciProject, readKey } from "../../core/operations/forge/index.ts";
import {
  type OpenAccount,
  openAccount,
  planAccount,
  probeStore,
  projectGitState,
  type RunEnvironment,
} from "../../core/operations/index.ts";
import { leftOutProblems } from "../../core/plan/index.ts";
import type { CallReport, Client } from "../../core/service/index.ts";

/** What `dimsync doctor -o json` prints. */
export interface DoctorReport {
  readonly kind: "DoctorReport";
  readonly target: string;
  readonly account: string;
  readonly checks: readonly Check[];
  readonly exit: Exit;
}

/** Checks what a plan needs from outside the project: the service and its key, the clock, the records, the jobs of CI and the checkout. Sends GET only. */
export async function diagnose(project: Project, run: RunEnvironment): Promise<DoctorReport> {
  const { settings } = project;
  const checks = [
    ok("versions", `dimsync ${version} on Node ${process.versions.node}.`),
    ...(await serviceChecks(project, run)),
    ...(await recordsChecks(project, run)),
    ...(await jobChecks(settings, run.env)),
    checkoutCheck(await projectGitState(project, run.signal), settings.folder),
  ];
  addAll(checks, await nameChecks(project, run, checks));
  return {
    kind: "DoctorReport",
    target: settings.target,
    account: accountName(settings.baseUrl),
    checks: checks.map((one) => (one.advice === undefined ? one : { ...one, advice: namingTarget(one.advice, settings) })),
    exit: checks.some(({ state }) => state === "fail") ? { code: 1, reasons: ["failed-checks"] } : { code: 0, reasons: [] },
  };
}

/** Names that nothing has, labels that match nothing, and marks that are nearly those that a manifest looks for: they leave data readable. */
const nameCodes: ReadonlySet<Code> = new Set<Code>([
  ...(["E_UNKNOWN_ADDRESS", "E_UNKNOWN_REFERENCE", "E_WRONG_SUBSTITUTION", "E_LABEL_CSV", "E_MISSING_NAME"] as const),
  ...(["W_DUPLICATE_ID", "W_NO_MATCH", "W_LABELS_DISAGREE"] as const),
  ...(["W_MISSING_NAME", "W_REFERENCE_NOT_DECLARED", "W_UNUSED"] as const),
]);

/** What validate says, and a plan if nothing else failed: its own errors say why there is none. Errors are one check, names one each. */
async function nameChecks(project: Project, run: RunEnvironment, checks: readonly Check[]): Promise<readonly Check[]> {
  const hasFailed = checks.some(({ state }) => state === "fail");
  const isStopped = project.problems.some(isError) || hasFailed;
  const planned = (): Promise<Plan | undefined> =>
    planAccount(project, {}, { ...run, onRecords: undefined }).catch((error: unknown) => {
      if (error instanceof DimsyncError) return undefined;
      throw error;
    });
  const plan = isStopped ? undefined : await planned();
  const all = isStopped ? project.problems.map((problem) => toDiagnostic(problem, project.locate)) : plan && diagnosticsIn(plan);
  const found = (all ?? []).filter(({ rule }) => nameCodes.has(rule));
  // A project that has no manifests yet can import them.
  const [error, ...more] = (all ?? []).filter((one) => isError(one) && !nameCodes.has(one.rule) && one.rule !== "E_PATH_NOT_FOUND");
  if (error !== undefined && !hasFailed) {
    const others = more.length === 0 ? "" : `(and ${more.length} more)`;
    return [fail("project", spaced(`${error.rule}:`, placeText(error), error.message, others), "To see every error: dimsync plan")];
  }
  if (found.length === 0) return isStopped || all === undefined ? [] : [ok("names", "Everything that the project names exists.")];
  return found.map(({ severity, message, ...at }) => {
    const place = placeText(at);
    const state = severity === "error" ? "fail" : "warn";
    return { check: "names", state, found: message, ...(place === "" ? {} : { advice: `It is in ${place}.` }) };
  });
}

/** An advice that ends in a command follows it with ": ". */
const namingTarget = (advice: string, settings: Project["settings"]): string =>
  advice.replace(/(?<=: )dimsync .+$/su, (command) => forTarget(command, settings));

async function serviceChecks(project: Project, run: RunEnvironment): Promise<readonly Check[]> {
  const { apiKey, baseUrl } = project.settings;
  if (baseUrl === "") return [fail("base URL", "The target has no base URL that can be used.", "To see why: dimsync validate")];
  const source = apiKey === undefined ? "The embedded service creates its own." : `It comes from ${describeSecret(apiKey)}.`;
  /** The service's clock and ours when the last response with a Date header arrived. */
  let times: readonly [serviceMs: number, localMs: number] | undefined;
  const onCall = ({ dateMs }: CallReport): void => {
    if (dateMs !== undefined) times = [dateMs, Date.now()];
  };
  let account: OpenAccount;
  try {
    account = await openAccount(project, { ...run, readOnly: true, onCall });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    const found = error instanceof ProblemsError ? error.problems.map(({ message }) => message).join(" ") : error.message;
    return [fail("key", found, "Fix this and run dimsync doctor again.")];
  }
  try {
    const client = account.client.asReadOnly();
    const listing = await client.list(integrations);
    const accepted = `It responds and accepts the key. The account has ${counted(listing.items.length, "integration")}.`;
    const reads = await Promise.all([
      readCheck("read tags", () => client.list(tags), fail),
      readCheck("read users", () => client.list(users), fail),
      taggerCheck(project, client),
      readCheck("read audit log", () => client.auditLogs({ limit: 1 }), warn),
      formCheck(client, listing),
      pagingCheck(client, listing),
    ]);
    return [ok("key", source), ok("service", accepted), ...reads.flat(), clockCheck(times)];
  } catch (error) {
    return refused(error, source);
  } finally {
    await account.close();
  }
}

/** Why the first request failed: the key, if the service refuses it, else the connection. */
function refused(error: unknown, source: string): readonly Check[] {
  if (!(error instanceof ServiceError)) throw error;
  const { status } = error;
  if (status !== 401 && status !== 403)
    return [ok("key", source), fail("service", error.message, "Check the base URL, the proxy and the network.")];
  const advice =
    status === 401
      ? "Put a valid key of this account there."
      : "Give the role of this key access to integrations, or put another key there.";
  return [fail("key", `The service refused the API key with status ${status}. ${source}`, advice), ok("service", "It responds.")];
}

/** Whether the key may read something. `missing`: what it is if not. */
const readCheck = (check: string, read: () => Promise<unknown>, missing: typeof fail): Promise<Check> =>
  readOr(
    async () => {
      await read();
      return ok(check, "It works.");
    },
    ({ message, status }) =>
      missing(
        check,
        message,
        status === 401 || status === 403
          ? "Give the role of the API key access to it."
          : "Run dimsync doctor again when the service answers it.",
      ),
  );

/** Whether the account still has the user in whose name tags are added. None without one, and if users cannot be read. */
async function taggerCheck({ settings, configFile, locate, options: { cwd } }: Project, client: Client): Promise<readonly Check[]> {
  const {
    target,
    defaults: { taggedBy },
  } = settings;
  const found = await readOr(
    async () => (await client.list(users)).items,
    () => undefined,
  );
  if (taggedBy === undefined || configFile === undefined || found === undefined) return [];
  const id = userIdOf(taggedBy, found);
  if (typeof id === "string" && found.some((user) => user.id === id)) return [];
  const at = [["targets", target], []].map((above) =>
    locate({ file: shownPath(cwd, configFile), document: 0, pointer: toPointer([...above, "defaults", "taggedBy"]) }),
  );
  return [
    warn(
      "user who tags",
      `The account has no user ${taggedBy}, who is defaults.taggedBy, so no tag can be added to a resource.`,
      `Name a user of the account in ${placeText(at.find(({ excerpt }) => excerpt?.[0].includes(taggedBy) === true) ?? at[1] ?? {})}.`,
    ),
  ];
}

/** How many requests a plan needs for the schemas of an integration. */
async function formCheck(client: Client, { items: [first] }: Listing<LiveIntegration>): Promise<Check> {
  const check = "response form";
  if (first === undefined) return ok(check, "The account has no integrations, so the form is unknown.");
  const read = await readOr(
    () => client.schemas(first.id),
    (error) => error,
  );
  if (read instanceof ServiceError) return fail(check, read.message, "Every command that needs these schemas reports this.");
  const [table] = Object.values(read?.tree ?? {}).flatMap(({ tables }) => Object.values(tables));
  if (table === undefined) return ok(check, `${first.name || first.id} has no tables yet, so the form is unknown.`);
  if (table.columns !== undefined) return ok(check, "GET schemas returns columns: one request per integration.");
  return warn(
    check,
    "GET schemas returns no columns.",
    "dimsync reads columns with one request per table that a column rule matches. Limit column rules to the tables that need them, or plans take long.",
  );
}

/** Whether a list reacts to `?limit=1`. The interface does not document paging; if lists have pages, what was read may be incomplete. */
async function pagingCheck(client: Client, { items, completeness }: Listing<LiveIntegration>): Promise<Check> {
  const check = "paging";
  if (completeness === "short")
    return fail(
      check,
      `GET /v1/integrations returned ${items.length} integrations and states that there are more.`,
      "Plans would ignore the others. Report this to the service's support.",
    );
  if (completeness === "shown") return ok(check, "Lists state that they are complete.");
  if (items.length < 2) return ok(check, "The account has fewer than 2 integrations, so it is unknown whether lists have pages.");
  const answer = await readOr(
    () => client.raw("/v1/integrations?limit=1"),
    (error) => error,
  );
  if (answer instanceof ServiceError) return ok(check, `Lists do not accept a limit (${answer.message})`);
  const page = memberAt(answer, "data", "items");
  const count = Array.isArray(page) ? page.length : undefined;
  if (count === items.length) return ok(check, `GET /v1/integrations?limit=1 returned all ${count}: lists have no pages.`);
  return warn(
    check,
    `GET /v1/integrations?limit=1 returned ${count ?? "no list"} of ${items.length}: lists have pages, and nothing in the response says so.`,
    "If a list has exactly as many objects as a page would have, such as 100, dimsync creates nothing, because there may be more. Check the number of integrations in the service.",
  );
}

/** Below 10 seconds the difference can be latency and rounding; above 5 minutes, audit log windows and expiry times are wrong. */
export function clockCheck(times: readonly [serviceMs: number, localMs: number] | undefined): Check {
  const check = "clock";
  if (times === undefined) return ok(check, "The service's responses have no Date header to compare with.");
  const seconds = Math.round((times[1] - times[0]) / 1000);
  if (Math.abs(seconds) < 10) return ok(check, "This machine's clock agrees with the service's.");
  const found = `This machine's clock is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the service's.`;
  const advice = "Attribution, expiry dates and the age of saved plans depend on the clock. Synchronise it with NTP.";
  return (Math.abs(seconds) < 300 ? warn : fail)(check, found, advice);
}

/** The store of the records. Nothing is written. */
async function recordsChecks({ settings }: Project, { env }: RunEnvironment): Promise<readonly Check[]> {
  try {
    const { found, faults } = await probeStore(settings, env);
    return [ok("records", found), ...faults.map(({ what, fix, isFatal = false }) => (isFatal ? fail : warn)("records", what, fix))];
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return [fail("records", error.message, adviceFor(error))];
  }
}

function adviceFor({ code, command }: DimsyncError): string {
  if (command !== undefined) return `Run: ${command}`;
  if (code === "E_RECORDS_GONE")
    return "Check `records` of the target in dimsync.yaml. If the records were deleted, restore them: dimsync records restore FILE";
  if (code === "E_RECORDS_READ")
    return "plan, drift and apply need this read. Check the address of the store, the network and the credentials of this machine.";
  return "Fix this and run dimsync doctor again.";
}

/** The files of the project that a run elsewhere, such as in CI, does not have. */
function checkoutCheck(git: Plan["git"], folder: string): Check {
  const check = "checkout";
  const [leftOut] = git?.leftOut === undefined ? [] : leftOutProblems(git, folder);
  if (leftOut !== undefined) return fail(check, leftOut.message, `Run: ${leftOut.command ?? ""}`);
  const missing = [...(git?.untracked ?? []), ...(git?.ignored ?? []).map(({ file }) => file)];
  if (missing.length === 0)
    return ok(
      check,
      git === undefined ? "The project is not in git, or its repository has no commit." : "The commit has all files of the project.",
    );
  return warn(
    check,
    `The commit does not have ${counted(missing.length, "file")} of the project: ${andMore(missing, "file")}.`,
    `Runs elsewhere, such as in CI, are without ${missing.length === 1 ? "it" : "them"}. Commit: git add --force ${missing.map(shellWord).join(" ")}`,
  );
}

/** The result of one check of `dimsync doctor`. */
interface Check {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  /** What was found, in sentences. */
  readonly found: string;
  /** What to do; absent if the check passed. */
  readonly advice?: string;
}

export const ok = (check: string, found: string): Check => ({ check, state: "ok", found });
export const warn = (check: string, found: string, advice: string): Check => ({ check, state: "warn", found, advice });
export const fail = (check: string, found: string, advice: string): Check => ({ check, state: "fail", found, advice });

/** Whether each list of allowed hosts in jobs has that of an account. */
function givesKey(jobs: string, baseUrl: string): boolean {
  const lists = [...jobs.matchAll(/^ *DIMSYNC_ALLOWED_HOSTS: *"?([^"#\n]*)/gmu)];
  const isUnlisted = (list: string): boolean => unlistedHost(baseUrl, { DIMSYNC_ALLOWED_HOSTS: list }) !== undefined;
  return !/^https?:/u.test(baseUrl) || lists.every(([, list = ""]) => !isUnlisted(list));
}

/** Whether the jobs of CI that init wrote name every target and its keys. None without such jobs. */
async function jobChecks({ folder, baseUrl }: Pick<Settings, "folder" | "baseUrl">, env: Environment): Promise<readonly Check[]> {
  const check = "CI jobs";
  const top = repositoryTop(folder) ?? folder;
  const project = await ciProject({ root: folder, top, baseUrl }, env);
  const paths = (["github", "gitlab"] as const)
    .flatMap((ci) => Object.keys(ciFiles(ci, project)))
    .filter((path) => path !== ".gitlab-ci.yml");
  const found = paths.filter((path) => existsSync(join(top, path)));
  if (found.length === 0) return [];
  const text = found.map((path) => readFileSync(join(top, path), "utf8")).join("\n");
  // Of secrets.NAME, the name.
  const words = new Set([/[^\w.-]+/u, /[^\w-]+/u].flatMap((between) => text.split(between)));
  // All jobs of GitLab get all variables.
  const isGithub = found.some((path) => path.startsWith(".github/"));
  const missing = project.targets.flatMap(({ name, key, database }) => {
    const names = [key, readKey(key), ...(isGithub && database !== undefined ? [database] : [])];
    const lacking = [...(words.has(name) ? [] : ["its name"]), ...names.filter((word) => !words.has(word))];
    return lacking.length === 0 ? [] : [`${name} (${lacking.join(", ")})`];
  });
  if (!givesKey(text, baseUrl))
    return [warn(check, `They give ${allowedName(baseUrl)} no key.`, `Add it to DIMSYNC_ALLOWED_HOSTS in ${andMore(found, "file")}.`)];
  if (missing.length === 0) return [ok(check, `They name every target, its keys and its host: ${andMore(found, "file")}.`)];
  return [
    warn(
      check,
      `They do not name all that they need of ${missing.join(", ")}.`,
      `Add it, or delete ${found.join(", ")} and write new jobs: dimsync init`,
    ),
  ];
}
