// The log of requests never has the key.
import { expect, test } from "vitest";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { writeProject } from "../support/project-folder.ts";

const key = "canary-key-1234";

test.each([
  ["--debug", ["--debug"], {}],
  ["DIMSYNC_LOG=debug", [], { DIMSYNC_LOG: "debug" }],
])("%s prints one line per request to stderr, and never the key", async (_, flags, more) => {
  const service = await startEmbeddedService({
    apiKeys: { [key]: "bot@example.com" },
    faults: ["GET /v1/tags$@1=status:429;retry-after=1"],
  });
  try {
    const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: key, ...more };
    const { stdout, stderr, code } = await runCommand(["get", "tags", "-o", "json", ...flags], writeProject({}), env);
    expect([code, JSON.parse(stdout).length]).toEqual([0, 3]);
    expect(stderr.replaceAll(/\d+ ms/gu, "N ms").split("\n")).toEqual([
      "debug: GET /v1/tags 429 N ms E_SERVICE_STATUS retry after 1 s",
      "debug: GET /v1/tags 200 N ms attempt 2",
      "",
    ]);
    expect(stderr).not.toContain(key);
  } finally {
    await service.close();
  }
});

test("without them, nothing is printed", async () => {
  const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  try {
    const ran = await runCommand(["get", "tags", "-o", "json"], writeProject({}), { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: key });
    expect(ran.stderr).toBe("");
  } finally {
    await service.close();
  }
});
