import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { sampleSeed } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { copyForAll, startCli } from "./cli-process.ts";
import { recordedRequests, sampledRequests } from "./matrix.ts";
import { canaries, mixedProject } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const program = copyForAll();

interface Killed {
  /** False if apply ended before that request. */
  readonly killed: boolean;
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

/**
 * Kills an apply when its NTH request has arrived: before the service acts on it, or before it
 * responds.
 */
async function killAtRequest(nth: number, moment: "before" | "after"): Promise<Killed> {
  let seen = 0;
  let kill = (): void => undefined;
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    faults: moment === "before" ? [`* .@${nth}=reset-before`] : [],
    onExchange: () => {
      seen += 1;
      if (seen === nth) kill();
    },
  });
  const project = mixedProject(service, { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 });
  try {
    const { process: child, ended } = startCli(program(), ["apply", "--yes", "-q"], project.folder, canaries);
    kill = () => void child.kill("SIGKILL");
    const { signal } = await ended;
    if (signal !== "SIGKILL") return { killed: false, asked: false, wrong: [] };
    service.clearFaults();
    const settled = await settleAccount(service, project);
    return { killed: true, asked: settled.resolved.length > 0, wrong: settled.wrong.map((what) => `request ${nth}, ${moment}: ${what}`) };
  } finally {
    await service.close();
    project.remove();
  }
}

describe("SIGKILL at every kind of request: the next runs finish the work, and nothing is there twice", () => {
  for (const moment of ["before", "after"] as const)
    it(`${moment} the service acts`, { timeout: 300_000 }, async () => {
      const requests = await recordedRequests();
      const cases = sampledRequests(`kill ${moment}`, requests);
      const outcomes = await pLimit(3).map(cases, ({ before }) => killAtRequest(before + 1, moment));
      const kills = outcomes.filter(({ killed }) => killed);
      const failures = kills.flatMap(({ wrong }) => wrong);
      const asked = kills.filter((outcome) => outcome.asked).length;
      console.info(
        `SIGKILL ${moment} requests: ${kills.length} of ${requests.length} requests, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
          `${asked} asked the user, ${failures.length} failures`,
      );
      expect(failures).toEqual([]);
      expect(kills.length).toBeGreaterThan(6);
    });
});
