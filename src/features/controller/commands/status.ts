import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../../cli/output.ts";
import { combineExits, type Exit, type ExitCode } from "../../../core/model/exit.ts";
import { textTable } from "../../../core/render/blocks.ts";
import type { RenderOptions } from "../../../core/render/document.ts";
import { tableText } from "../../../core/render/terminal/blocks.ts";
import { jsonDocument, visible } from "../../../core/text/control-characters.ts";
import { durationText } from "../../../core/text/counts.ts";
import type { ControllerFlags } from "../index.ts";
import { listAccounts } from "../views/accounts.ts";
import { type ReceiverStatus, readReceivers } from "../views/health.ts";
import { type AccountSummary, isExposed } from "../views/status.ts";
import { withController } from "./place.ts";

/** `dimsync controller status`: all accounts, worst first. */
export async function runStatus(context: Context<ControllerFlags>): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const [accounts, receivers] = await withController(context, (database) => Promise.all([listAccounts(database), readReceivers(database)]));
  const exit = statusExit(accounts);
  await deliverForms(context, {
    human: (options) => statusText(accounts, receivers, options),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "ControllerStatus", accounts, receivers, exit }),
  });
  return exit.code;
}

/** 1: an account fails or is stale; 3: one violates a policy; 2: one differs. Of suspended accounts, only what is exposed counts. */
export function statusExit(accounts: readonly AccountSummary[]): Exit {
  const active = accounts.filter(({ state }) => state !== "suspended");
  const exits: Exit[] = [];
  if (active.some(({ error }) => error !== undefined)) exits.push({ code: 1, reasons: ["failing"] });
  if (active.some(({ isStale }) => isStale)) exits.push({ code: 1, reasons: ["stale"] });
  if (accounts.some(({ policyViolations }) => policyViolations > 0)) exits.push({ code: 3, reasons: ["policy"] });
  if (accounts.some(isExposed)) exits.push({ code: 2, reasons: ["exposed"] });
  if (active.some(({ state }) => state === "drifted")) exits.push({ code: 2, reasons: ["drift"] });
  return combineExits(exits);
}

function statusText(accounts: readonly AccountSummary[], receivers: readonly ReceiverStatus[], options: RenderOptions): string {
  if (accounts.length === 0) return "No account is under control.\n";
  const headings = ["account", "state", "exposed", "differences", "manual", "checked", "mode", "commit"];
  const rows = accounts.map((account) => [
    account.name,
    account.state === "suspended" && isExposed(account) ? "suspended, exposed" : account.state,
    ...[account.exposedColumns, account.differences, account.manual].map(String),
    account.lastCheckedAt === undefined ? "never" : `${durationText(Date.now() - Date.parse(account.lastCheckedAt))} ago`,
    account.mode,
    account.commit?.slice(0, 12) ?? "",
  ]);
  const failing = receivers.flatMap(({ name, source, failure }) =>
    failure === null ? [] : [`Receiver ${name} of ${source} does not get notifications: ${failure}`],
  );
  const ofAccounts = accounts.flatMap(({ name, error, suspension, silence, acknowledged, isStale, state, dirty }) => [
    ...(error === undefined ? [] : [`${name}: ${error.code}: ${error.message}`]),
    ...(suspension === undefined ? [] : [`${name}: suspended by ${suspension.by} until ${suspension.until}: ${suspension.reason}`]),
    ...(silence === undefined ? [] : [`${name}: notifications silenced by ${silence.by} until ${silence.until}: ${silence.reason}`]),
    ...(acknowledged === undefined
      ? []
      : [`${name}: ${acknowledged.events.join(", ")} acknowledged by ${acknowledged.by}, not sent again: ${acknowledged.reason}`]),
    ...(isStale && state !== "suspended" ? [`${name}: not checked within three intervals`] : []),
    ...(dirty === true ? [`${name}: pushed with uncommitted changes`] : []),
  ]);
  const notes = [...ofAccounts, ...failing].map((note) => `${visible(note)}\n`);
  return [tableText(textTable(headings, rows), options), ...(notes.length === 0 ? [] : ["\n"]), ...notes].join("");
}
