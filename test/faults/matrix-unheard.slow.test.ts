import { beforeAll, describe, expect, it } from "vitest";
import { disturbEach, recordedRequests } from "./matrix.ts";

// Faults that keep dimsync from learning that the service acted.
const faults = ["reset-after", "status-after:500", "truncate", "empty", "content-type", "delay:1000"];

describe("a request that was carried out without dimsync's knowing, whatever request it is", () => {
  let requests: Awaited<ReturnType<typeof recordedRequests>> = [];
  beforeAll(async () => {
    // No repository is near the temp folders: asking git costs two processes a run.
    process.env["PATH"] = "";
    requests = await recordedRequests();
  });

  for (const fault of faults)
    it(`leaves nothing undone and nothing doubled once run again: ${fault}`, { timeout: 120_000 }, async () => {
      const { cases, unknown, failures } = await disturbEach(
        requests,
        fault,
        fault.startsWith("delay") ? { client: { timeoutSeconds: 0.3 } } : {},
      );
      console.info(`fault matrix, ${fault}: ${cases} cases, ${unknown} asked a person, ${failures.length} failures`);
      expect(failures).toEqual([]);
      expect(cases).toBeGreaterThan(25);
    });
});
