import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../../cli/output.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { cell, tableLines } from "../../../core/render/terminal/layout.ts";
import { jsonDocument, visible } from "../../../core/text/control-characters.ts";
import { counted } from "../../../core/text/counts.ts";
import { spaced, wholePath } from "../../../core/text/paths.ts";
import type { ControllerFlags } from "../index.ts";
import { anyAccount, removalText } from "../operate.ts";
import type { AccountDetail } from "../views/status.ts";
import { withController } from "./place.ts";

/** `dimsync controller history ACCOUNT`: runs, what happened to findings, suspensions and acknowledgements, newest first. */
export async function runHistory(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const account = await withController(context, (database) => anyAccount(database, name));
  const { name: shown, removed, runs, events, suspensions, acknowledgements, timeline } = account;
  await deliverForms(context, {
    human: ({ width = 100 }) => historyText(account, width),
    json: () =>
      jsonDocument({
        ...{ formatVersion: "1.0", kind: "ControllerHistory", account: shown, removed },
        ...{ runs, events, suspensions, acknowledgements, timeline },
      }),
  });
  return 0;
}

function historyText({ name, removed, runs, events, suspensions, acknowledgements }: AccountDetail, width: number): string {
  const rows = (texts: readonly (readonly string[])[]): readonly string[] =>
    tableLines(
      texts.map((row) => row.map((text) => cell(visible(text)))),
      "  ",
      width,
    );
  const lines = [
    ...(removed === undefined ? [] : [visible(`${name} was ${removalText(removed)}. Nothing checks it.`), ""]),
    `${visible(name)}: ${counted(events.length, "change")} of findings, newest first`,
    ...rows(
      events.map(({ at, event, address, path, actor, detail: { policy } }) => [
        at,
        actor === undefined ? event : `${event} by ${actor}`,
        spaced(address, wholePath(path), policy === undefined ? "" : `(policy ${policy})`),
      ]),
    ),
    "",
    `${counted(runs.length, "run")}, newest first`,
    ...rows(
      runs.map(({ finishedAt, id, mode, exit, exposedColumns, differences, changesSent, error, isSending }) => [
        finishedAt,
        id.slice(0, 8),
        mode,
        `exit ${exit.code}`,
        `${exposedColumns} exposed, ${differences} differ${changesSent > 0 ? `, ${changesSent} sent` : ""}`,
        isSending ? "sending" : (error?.code ?? ""),
      ]),
    ),
    ...(suspensions.length === 0 ? [] : ["", counted(suspensions.length, "suspension")]),
    ...rows(
      suspensions.map(({ at, until, by, reason, resumedAt, resumedBy }) => [
        at,
        resumedAt === undefined ? `until ${until}` : `resumed ${resumedAt} by ${resumedBy ?? ""}`,
        `by ${by}`,
        reason,
      ]),
    ),
    ...(acknowledgements.length === 0 ? [] : ["", counted(acknowledgements.length, "acknowledgement")]),
    ...rows(
      acknowledgements.map(({ at, by, reason, events: names, endedAt }) => [
        at,
        `${names.join(", ")}${endedAt === undefined ? "" : `, over ${endedAt}`}`,
        `by ${by}`,
        reason,
      ]),
    ),
  ];
  return `${lines.join("\n")}\n`;
}
