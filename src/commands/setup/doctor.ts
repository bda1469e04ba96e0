import type { Project } from "../../manifests/project.ts";
import { accountName } from "../../model/config.ts";
import { DimsyncError, ProblemsError, ServiceError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { LiveIntegration } from "../../model/live.ts";
import { describeSecret } from "../../model/secret.ts";
import type { Listing } from "../../model/service.ts";
import { openBindings } from "../../records/bindings.ts";
import { openJournal } from "../../records/journal.ts";
import type { Client } from "../../service/client.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { type Account, openAccount, systemClock } from "../shared/account.ts";
import { type Context, version } from "../shared/context.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadOneProject } from "../shared/project.ts";
import { answerFormCheck, type Check, clockCheck, fail, ok, pagingCheck, permissionChecks, warn } from "./doctor-checks.ts";
import { transportChecks } from "./doctor-transport.ts";

/** What `dimsync doctor -o json` prints. */
export interface DoctorReport {
  readonly kind: "DoctorReport";
  readonly target: string;
  readonly account: string;
  readonly checks: readonly Check[];
  readonly exit: { readonly code: ExitCode; readonly reasons: readonly string[] };
}

/** `dimsync doctor`: whether everything that a plan needs is there, and what to do where it isn't. Sends GET only. Exit 1 where a check fails. */
export async function runDoctor(context: Context): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context);
  const checks = [nodeCheck(process.versions.node), ...projectChecks(project, context.io.env), ...(await accountChecks(context, project))];
  // What an interruption left unread looks like failed checks.
  context.io.interrupted.throwIfAborted();
  const failed = checks.some(({ verdict }) => verdict === "fail");
  const { target, baseUrl } = project.settings;
  const report: DoctorReport = {
    kind: "DoctorReport",
    target,
    account: accountName(baseUrl),
    checks,
    exit: failed ? { code: 1, reasons: ["failed-checks"] } : { code: 0, reasons: [] },
  };
  await deliverForms(context, { human: () => humanText(report), json: () => `${JSON.stringify(report, undefined, 2)}\n` });
  return report.exit.code;
}

const oldestNode = [20, 19] as const;

export function nodeCheck(node: string): Check {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const found = `dimsync ${version} on Node ${node}.`;
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return isOld ? fail("versions", found, `Use Node ${oldestNode.join(".")} or later.`) : ok("versions", found);
}

function projectChecks({ settings, problems, resources, files, configFile }: Project, env: NodeJS.ProcessEnv): readonly Check[] {
  const faults = problems.filter(({ severity }) => severity === "error");
  const other = faults.find(({ place }) => place?.pointer === "/apiVersion");
  const isNew = faults.length > 0 && faults.every(({ code }) => code === "E_PATH_NOT_FOUND");
  return [
    configFile === undefined
      ? warn("config", "There is no dimsync.yaml; settings come from the environment.", "Write one: dimsync init")
      : ok("config", `${configFile}, target ${settings.target}.`),
    isNew
      ? warn("manifests", "A folder that the config names isn't there yet.", "dimsync import makes it; or write a manifest.")
      : other !== undefined
        ? fail(
            "manifests",
            `${other.place?.file ?? "A manifest"} is of another schema version: this dimsync reads dimsync/v1.`,
            "Correct its apiVersion, or use the dimsync that it was written for. See all: dimsync validate",
          )
        : faults.length > 0
          ? fail("manifests", `${counted(files.length, "file")} with ${counted(faults.length, "error")}.`, "See them: dimsync validate")
          : ok("manifests", `${counted(resources.length, "manifest")} in ${counted(files.length, "file")}, all of apiVersion dimsync/v1.`),
    ...transportChecks(settings.baseUrl, env),
    settings.apiKey === undefined && !settings.baseUrl.startsWith("embedded:")
      ? fail("key", "No API key is set.", "Set DIMSYNC_API_KEY or DIMSYNC_API_KEY_FILE, or give the target an apiKey: { $secret: … }.")
      : ok(
          "key",
          settings.apiKey === undefined ? "The embedded service makes its own." : `It comes from ${describeSecret(settings.apiKey)}.`,
        ),
  ];
}

async function accountChecks(context: Context, project: Project): Promise<readonly Check[]> {
  const { io } = context;
  const { settings } = project;
  if (settings.baseUrl === "" || (settings.apiKey === undefined && !settings.baseUrl.startsWith("embedded:"))) return [];
  let serverMs: number | undefined;
  let localMs = 0;
  // Told of each answer's Date header where the client passes it on.
  const hooks = {
    onCall: ({ dateMs }: { readonly dateMs?: number }): void => {
      if (dateMs === undefined) return;
      [serverMs, localMs] = [dateMs, systemClock.now().getTime()];
    },
  };
  let account: Account;
  try {
    account = await openAccount(settings, { readOnly: true, env: io.env, signal: io.interrupted, ...hooks });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    const found = error instanceof ProblemsError ? error.problems.map(({ message }) => message).join(" ") : error.message;
    return [fail("key", found, "Correct what it says, and run dimsync doctor again.")];
  }
  try {
    const client = account.client.asReadOnly();
    const listing = await integrationList(client);
    if ("verdict" in listing) return [listing, ...(await recordChecks(project, undefined))];
    const [first] = listing.items;
    return [
      ok("service", `It answers, and takes the key. The account has ${counted(listing.items.length, "integration")}.`),
      ...(await permissionChecks(client, first)),
      await answerFormCheck(client, first),
      await pagingCheck(client, listing.items.length, listing.completeness),
      clockCheck(serverMs, localMs),
      ...(await recordChecks(project, client)),
    ];
  } finally {
    await account.close();
  }
}

async function integrationList(client: Client): Promise<Listing<LiveIntegration> | Check> {
  try {
    return await client.integrations();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const advice =
      error.status === 401 || error.status === 403
        ? "The key is wrong, withdrawn, or for another account. Put the right one where the target's apiKey says."
        : error.sent === "never"
          ? "The service can't be reached. Check the base URL, the network, HTTPS_PROXY, and for an own certificate authority NODE_EXTRA_CA_CERTS."
          : "The service is there and doesn't answer as its interface says. Check that the base URL ends before /v1.";
    return fail("service", error.message, advice);
  }
}

/** Bindings that stand for nothing any more, and creates whose outcome nobody knows. */
async function recordChecks({ settings, resources }: Project, client: Client | undefined): Promise<readonly Check[]> {
  const [bindings, journal] = await Promise.all([
    openBindings(settings.bindingsFile, settings.target),
    openJournal(settings.folder, settings.target),
  ]);
  const declared = new Set(resources.map(({ address }) => address));
  const checks: Check[] = [];
  for (const [address, { id }] of bindings.all()) {
    if (!declared.has(address))
      checks.push(warn("bindings", `${address} is bound to ${id}, and no manifest has that address.`, `dimsync unbind ${address}`));
    else if (client !== undefined && (await isGone(client, address, id)))
      checks.push(
        fail(
          "bindings",
          `${address} is bound to ${id}, which is gone from the account.`,
          `If it is to be created again, dimsync unbind ${address}; else remove the manifest.`,
        ),
      );
  }
  if (checks.length === 0) checks.push(ok("bindings", `${counted(bindings.all().size, "id")} on record, all with a manifest.`));
  const open = journal.open();
  checks.push(
    open.length === 0
      ? ok("journal", "No create has an unknown outcome.")
      : fail(
          "journal",
          `${counted(open.length, "create")} of unknown outcome: ${open.map(({ address }) => address).join(", ")}.`,
          "Look in the service, then dimsync resolve ADDRESS --created=ID | --not-created.",
        ),
  );
  return checks;
}

/** Assets can't be read, so nothing is said of them. */
async function isGone(client: Client, address: string, id: string): Promise<boolean> {
  try {
    if (address.startsWith("Integration/")) return (await client.integration(id)) === undefined;
    return address.startsWith("Tag/") && (await client.tag(id)) === undefined;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function humanText({ checks, exit }: DoctorReport): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.flatMap(({ check, verdict, found, advice }) => [
    `${verdict.padEnd(4)}  ${check.padEnd(width)}  ${visible(found)}`,
    ...(advice === undefined ? [] : [`${" ".repeat(width + 8)}${visible(advice)}`]),
  ]);
  const count = (verdict: Check["verdict"]): number => checks.filter((one) => one.verdict === verdict).length;
  return `${lines.join("\n")}\n\n${exit.code === 0 ? "Nothing stands in the way of a plan." : "Mend what failed first."} ${count("ok")} ok, ${counted(count("warn"), "warning")}, ${count("fail")} failed.\n`;
}
