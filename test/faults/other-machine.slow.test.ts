import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "../cli/built-cli.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { startService } from "../support/service.ts";
import { startCli } from "./cli-process.ts";
import { inLanes } from "./in-lanes.ts";
import { gitStore, postgresStore, type SharedStore } from "./machines.ts";
import { unbound } from "./matrix.ts";
import { canaries } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

type Place = "a request" | "a write to the records";
type Moment = "before" | "after";

interface Killed {
  /** False if apply ended before that request or write. */
  readonly killed: boolean;
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

const client = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

/**
 * Kills apply on one machine at its NTH request or write; a user ends its lease; another machine
 * finishes.
 */
async function killedThenElsewhere(store: SharedStore, nth: number, moment: Moment, place: Place): Promise<Killed> {
  let seen = 0;
  let kill = (): void => undefined;
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    faults: place === "a request" && moment === "before" ? [`* .@${nth}=reset-before`] : [],
    onExchange: () => {
      seen += 1;
      if (place === "a request" && seen === nth) kill();
    },
  });
  try {
    const machines = await store.machines(service.url);
    const first = machines.machine(client);
    store.onWrite((write) => {
      if (place === "a request" || write !== nth) return undefined;
      kill();
      return moment;
    });
    const { process: child, ended } = startCli(builtCli, ["apply", "--yes", "-q"], first.folder, first.env);
    kill = () => void child.kill("SIGKILL");
    const { signal } = await ended;
    if (signal !== "SIGKILL") return { killed: false, asked: false, wrong: [] };
    service.clearFaults();
    store.onWrite(() => undefined);
    await machines.unlock();
    const { resolved, wrong } = await settleAccount(service, machines.machine(client));
    const all = [...wrong, ...unbound(await machines.boundAddresses())];
    return { killed: true, asked: resolved.length > 0, wrong: all.map((what) => `${moment} ${place} ${nth}: ${what}`) };
  } finally {
    await service.close();
  }
}

const lanes = 2;

/** Cases 1, 1 + step, 1 + 2 * step …, until apply ends before the case's request or write. */
async function killAll(open: () => Promise<SharedStore>, moment: Moment, place: Place, step: number): Promise<readonly Killed[]> {
  const idle = await Promise.all(Array.from({ length: lanes }, open));
  const outcomes = await inLanes(
    lanes,
    async (nth) => {
      const store = idle.pop() ?? (await open());
      const outcome = await killedThenElsewhere(store, 1 + (nth - 1) * step, moment, place);
      idle.push(store);
      return outcome;
    },
    ({ killed }) => !killed,
  );
  return outcomes.filter(({ killed }) => killed);
}

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.remove(), 60_000);

const stores: Readonly<Record<SharedStore["name"], () => Promise<SharedStore>>> = {
  git: () => gitStore(true),
  postgres: () => postgresStore(postgres, true),
};

describe("SIGKILL on one machine: another machine finishes, and nothing is created twice or lost", () => {
  for (const [name, place, step, least] of [
    ["git", "a request", 5, 6],
    ["git", "a write to the records", 1, 3],
    ["postgres", "a request", 4, 7],
    ["postgres", "a write to the records", 1, 9],
  ] as const)
    for (const moment of ["before", "after"] as const)
      it(`${moment} ${place}, with the records in ${name}`, { timeout: 240_000 }, async () => {
        const kills = await killAll(stores[name], moment, place, step);
        const asked = kills.filter((outcome) => outcome.asked).length;
        const failures = kills.flatMap(({ wrong }) => wrong);
        console.info(
          `SIGKILL ${moment} ${place}, ${name}, another machine finishes: ${kills.length} cases, ${asked} asked the user, ${failures.length} failures`,
        );
        expect(failures).toEqual([]);
        expect(kills.length).toBeGreaterThanOrEqual(least);
      });
});
