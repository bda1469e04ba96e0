// init --from-live makes a project whose plan is empty.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../../support/command.ts";
import { startService, type TestService } from "../../support/service.ts";

let service: TestService;
let folder: string;
beforeEach(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), "dimsync-init-"));
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test("init --from-live creates a project whose plan is empty and which needs only the key", async () => {
  const key = { DIMSYNC_API_KEY: service.apiKey };
  const { code, stdout } = await runCommand(["init", "infra", "--from-live"], folder, { ...key, DIMSYNC_BASE_URL: service.url });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("The plan after the import is empty") });
  expect(await readFile(join(folder, "infra/dimsync.yaml"), "utf8")).toContain(`baseUrl: ${service.url}\n`);
  const plan = await runCommand(["plan", "--detailed-exitcode"], join(folder, "infra"), key);
  expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining("No changes.") });
  expect(Object.keys(service.counts()).filter((method) => method !== "GET")).toEqual([]);
  const everything = await readdir(join(folder, "infra"), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    everything.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")),
  );
  expect(texts.filter((text) => text.includes(service.apiKey))).toEqual([]);
});

test("if the import fails, the message says how to go on", async () => {
  const env = { DIMSYNC_API_KEY: "wrong-key-1234", DIMSYNC_BASE_URL: service.url };
  const { code, stderr } = await runCommand(["init", "my infra", "--from-live"], folder, env);
  expect(code).toBe(1);
  expect(stderr).toContain("nothing was imported. When the cause below is fixed, go on with:\n  dimsync -C 'my infra' import\ndimsync: E_");
  const again = await runCommand(["-C", "my infra", "import"], folder, { ...env, DIMSYNC_API_KEY: service.apiKey });
  expect(again.code, again.stderr).toBe(0);
});

test("without a base URL nothing is written, and the message says what to set", async () => {
  const { code, stderr } = await runCommand(["init", "--from-live"], folder, {});
  expect(code).toBe(1);
  expect(stderr).toContain("DIMSYNC_BASE_URL");
  expect(await readdir(folder)).toEqual([]);
});
