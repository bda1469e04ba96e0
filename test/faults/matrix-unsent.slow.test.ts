import { beforeAll, describe, expect, it } from "vitest";
import { withoutPrograms } from "../support/without-programs.ts";
import { disturbEach, recordedRequests } from "./matrix.ts";

// Faults that keep the service from acting.
const faults = ["reset-before", "status:500", "status:503;retry-after=0", "status:429;retry-after=0", "html"];

withoutPrograms();

describe("any request that the service did not execute", () => {
  let requests: Awaited<ReturnType<typeof recordedRequests>> = [];
  beforeAll(async () => {
    requests = await recordedRequests();
  });

  it("is not sent again before the service allows it: status:429;retry-after=1", { timeout: 300_000 }, async () => {
    const posts = requests.filter(({ method }) => method === "POST");
    const { cases, unknown, failures } = await disturbEach(posts, "status:429;retry-after=1");
    expect({ unknown, failures }).toEqual({ unknown: 0, failures: [] });
    expect(cases).toBeGreaterThanOrEqual(3);
  });

  for (const fault of faults)
    it(`is completed by the next run, with nothing created twice: ${fault}`, { timeout: 300_000 }, async () => {
      const { cases, failures } = await disturbEach(requests, fault);
      expect(failures).toEqual([]);
      expect(cases).toBeGreaterThan(6);
    });
});
