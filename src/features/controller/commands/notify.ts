import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../../cli/output.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { jsonDocument, visible } from "../../../core/text/control-characters.ts";
import { didYouMean } from "../../../core/text/suggest.ts";
import { rowsOf } from "../database/rows.ts";
import type { ControllerFlags } from "../index.ts";
import { readReceivers } from "../views/health.ts";
import { everyNotify } from "../views/sql.ts";
import { withController } from "./place.ts";

const pollMs = 500;
/** A controller process looks for events every ten seconds, and a receiver may take ten seconds to respond. */
const timeLimitMs = 60_000;

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
    const end = performance.now() + timeLimitMs;
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

/** Stores a message that only shows whether receivers of the source can be reached; "" is all of them. Returns its id. */
async function storeTest(database: Database, source: string, receiver: string): Promise<string> {
  const id = randomUUID();
  await database.query(
    `insert into dimsync_controller.event (id, source, name, message, detail)
      values ($1, $2, 'test', $1, case when $3 = '' then '{}' else jsonb_build_object('receiver', $3::text) end)`,
    [id, source, receiver],
  );
  return id;
}

interface TestedReceiver {
  readonly source: string;
  readonly name: string;
  readonly type: string;
  readonly outcome: "waiting" | "sent" | "failed";
  /** Why it failed. */
  readonly message: string | null;
}

/** How the tests have ended for each receiver, by source and name. */
const testedReceivers = (database: Database, tests: readonly string[], receiver: string): Promise<readonly TestedReceiver[]> =>
  rowsOf<TestedReceiver>(
    database,
    `select n.source, r ->> 'name' as name, r ->> 'type' as type, coalesce(e.deliveries -> (r ->> 'name') ->> 'outcome', 'waiting') as outcome,
      e.deliveries -> (r ->> 'name') -> 'error' ->> 'message' as message
      from dimsync_controller.event e join ${everyNotify} n using (source) cross join lateral jsonb_array_elements(n.settings -> 'receivers') r
      where e.id = any($1::uuid[]) and ($2 = '' or r ->> 'name' = $2) order by n.source, r ->> 'name'`,
    [tests, receiver],
  );
