import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { builtCli } from "../cli/built-cli.ts";
import { postgresOfSuite } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { sampleOf, sampleSeed } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { startCli } from "./cli-process.ts";
import { gitStore, postgresStore, type SharedStore } from "./machines.ts";
import { kindOf, recordedRequests, unbound } from "./matrix.ts";
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

interface Case {
  readonly store: SharedStore["name"];
  readonly place: Place;
  readonly moment: Moment;
  readonly nth: number;
  readonly kind: string;
}

const storeNames = ["git", "postgres"] as const;
const moments = ["before", "after"] as const;

/**
 * Each kind of request that writes and one read, at one of both moments and with one of the stores,
 * and two writes to the records of each store at each moment. kill-requests.slow.test.ts has both
 * moments of each kind.
 */
async function sampledCases(): Promise<readonly Case[]> {
  const requests = await recordedRequests();
  const atRequests = requests.map((request) => ({ nth: request.before + 1, kind: request.method === "GET" ? "GET" : kindOf(request) }));
  const atWrites = Array.from({ length: 10 }, (_, index) => ({ nth: index + 1, kind: "write" }));
  const all = storeNames.flatMap((store) =>
    moments.flatMap((moment): readonly Case[] => [
      ...atRequests.map((one) => ({ ...one, store, moment, place: "a request" as const })),
      ...atWrites.map((one) => ({ ...one, store, moment, place: "a write to the records" as const })),
    ]),
  );
  return sampleOf(all, {
    name: "other machine",
    // Every run has three writes, and some have more.
    kindOf: ({ store, place, moment, kind, nth }) =>
      place === "a request" ? kind : `${store} ${moment} write ${nth <= 3 ? "early" : "late"}`,
  });
}

const lanes = 2;

async function killEach(open: () => Promise<SharedStore>, cases: readonly Case[]): Promise<readonly Killed[]> {
  const idle = await Promise.all(Array.from({ length: lanes }, open));
  const outcomes = await pLimit(lanes).map(cases, async ({ nth, moment, place }) => {
    const store = idle.pop() ?? (await open());
    const outcome = await killedThenElsewhere(store, nth, moment, place);
    idle.push(store);
    return outcome;
  });
  return outcomes.filter(({ killed }) => killed);
}

const postgres = postgresOfSuite();

const stores: Readonly<Record<SharedStore["name"], () => Promise<SharedStore>>> = {
  git: () => gitStore(true),
  postgres: () => postgresStore(postgres, true),
};

describe("SIGKILL on one machine: another machine finishes, and nothing is created twice or lost", () => {
  for (const name of storeNames)
    it(`at requests and writes to the records, before and after them, with the records in ${name}`, {
      timeout: 600_000,
      ...(name === "postgres" ? needs("postgresql") : {}),
    }, async () => {
      const cases = (await sampledCases()).filter(({ store }) => store === name);
      const kills = await killEach(stores[name], cases);
      const asked = kills.filter((outcome) => outcome.asked).length;
      const failures = kills.flatMap(({ wrong }) => wrong);
      console.info(
        `SIGKILL, ${name}, another machine finishes: ${kills.length} cases, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
          `${asked} asked the user, ${failures.length} failures`,
      );
      expect(failures).toEqual([]);
      expect(kills.length).toBeGreaterThanOrEqual(moments.length);
    });
});
