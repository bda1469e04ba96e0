import { beforeAll, describe, expect, it } from "vitest";
import { withoutPrograms } from "../support/without-programs.ts";
import { disturbEach, recordedRequests } from "./matrix.ts";

// Faults that keep dimsync from learning that the service acted.
const faults = ["reset-after", "status-after:500", "truncate", "empty", "content-type", "delay:3000"];

withoutPrograms();

describe("any request that the service executed and whose response was lost", () => {
  let requests: Awaited<ReturnType<typeof recordedRequests>> = [];
  beforeAll(async () => {
    requests = await recordedRequests();
  });

  for (const fault of faults)
    it(`is completed by the next run, with nothing created twice: ${fault}`, { timeout: 300_000 }, async () => {
      const options = fault.startsWith("delay") ? { client: { timeoutSeconds: 1 } } : {};
      const { cases, failures } = await disturbEach(requests, fault, options);
      expect(failures).toEqual([]);
      expect(cases).toBeGreaterThan(6);
    });
});
