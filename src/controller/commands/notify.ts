import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { jsonDocument, visible } from "../../text/control-characters.ts";
import { didYouMean } from "../../text/suggest.ts";
import { storeTest, type TestedReceiver, testedReceivers } from "../alerts/test-receivers.ts";
import { readReceivers } from "../views/receivers.ts";
import { withController } from "./place.ts";

const pollMs = 500;
/** A controller process looks for events every ten seconds, and a receiver may take ten seconds to respond. */
const patienceMs = 60_000;

/** `dimsync controller notify --test [RECEIVER]`: the running controller sends a message to the receivers, with its own secrets. */
export async function runNotify(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const { flags, io } = context;
  checkOutputs(context, ["human", "json"]);
  if (flags.test !== true)
    throw new DimsyncError("E_USAGE", "controller notify sends a test message, and only does so with --test.", {
      command: "dimsync controller notify --test",
    });
  const receivers = await withController(context, async (database) => {
    const all = (await readReceivers(database)).filter(({ source }) => flags.source === undefined || source === flags.source);
    const chosen = all.filter((receiver) => name === "" || receiver.name === name);
    if (chosen.length === 0)
      throw unknownReceiver(
        name,
        all.map((receiver) => receiver.name),
      );
    const tests = await Promise.all([...new Set(chosen.map(({ source }) => source))].map((source) => storeTest(database, source, name)));
    const end = performance.now() + patienceMs;
    for (;;) {
      io.interrupted.throwIfAborted();
      const tested = await testedReceivers(database, tests, name);
      if (tested.every(({ outcome }) => outcome !== "waiting") || performance.now() > end) return tested;
      await sleep(pollMs);
    }
  });
  await deliverForms(context, {
    human: () => receivers.map((receiver) => `${lineOf(receiver)}\n`).join(""),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "ControllerNotificationTest", receivers }),
  });
  return receivers.every(({ outcome }) => outcome === "sent") ? 0 : 1;
}

function lineOf({ source, name, type, outcome, message }: TestedReceiver): string {
  const result = outcome === "waiting" ? "no controller process has sent it within a minute" : outcome;
  return visible(`${name} (${type}) of ${source}: ${result}${message === null ? "" : `: ${message}`}`);
}

function unknownReceiver(name: string, names: readonly string[]): DimsyncError {
  if (names.length === 0)
    return new DimsyncError("E_USAGE", "No receiver is configured. Add notify: { receivers: [...] } to dimsync.yaml and push it.");
  return new DimsyncError(
    "E_USAGE",
    `There is no receiver ${JSON.stringify(name)}. The receivers are ${names.join(", ")}.${didYouMean(name, names)}`,
  );
}
