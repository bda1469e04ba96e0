import { beforeAll, describe, expect, it } from "vitest";
import { disturbEach, recordedRequests } from "./matrix.ts";

// Faults that keep the service from acting.
const faults = ["reset-before", "status:500", "status:503;retry-after=0", "status:429;retry-after=0", "html"];

describe("a request that was not carried out, whatever request it is", () => {
  let requests: Awaited<ReturnType<typeof recordedRequests>> = [];
  beforeAll(async () => {
    // No repository is near the temp folders: asking git costs two processes a run.
    process.env["PATH"] = "";
    requests = await recordedRequests();
  });

  it("is sent again no sooner than the service asks for: status:429;retry-after=1", { timeout: 120_000 }, async () => {
    const posts = requests.filter(({ method }) => method === "POST");
    const { cases, unknown, failures } = await disturbEach(posts, "status:429;retry-after=1");
    console.info(`fault matrix, status:429;retry-after=1: ${cases} cases, ${unknown} asked a person, ${failures.length} failures`);
    expect({ cases, unknown, failures }).toEqual({ cases: 6, unknown: 0, failures: [] });
  });

  for (const fault of faults)
    it(`leaves nothing undone and nothing doubled once run again: ${fault}`, { timeout: 120_000 }, async () => {
      const { cases, unknown, failures } = await disturbEach(requests, fault);
      console.info(`fault matrix, ${fault}: ${cases} cases, ${unknown} asked a person, ${failures.length} failures`);
      expect(failures).toEqual([]);
      expect(cases).toBeGreaterThan(25);
    });
});
