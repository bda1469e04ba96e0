// The account's file is written before the response, and nobody else can read it.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seedAccount, startEmbeddedService } from "../../../src/embedded/index.ts";
import { call, createBody } from "../caller.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dimsync-embedded-"));
  file = join(folder, "account.json");
});
afterEach(() => rm(folder, { recursive: true }));

test("an absent file is created with the seed, readable by its owner only", async () => {
  const service = await startEmbeddedService({ file });
  await service.close();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(seedAccount());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("writes, console changes and mutations are in the file before the response, and survive a restart", async () => {
  const apiKeys = { k: "bot@example.com" };
  const first = await startEmbeddedService({ file, apiKeys });
  const created = await call(first, "POST", "/v1/integrations", { body: createBody });
  expect(await readFile(file, "utf8")).toContain(created.json.data.id);
  await call(first, "POST", "/_console/integrations/b27d", { body: { paused: true } });
  first.mutate((state) => {
    Object.defineProperty(state.integrations[0]?.schemas ?? {}, "__proto__", {
      value: { nameInDestination: "p", enabled: true, tables: {} },
      enumerable: true,
    });
  });
  const before = first.state();
  await first.close();
  expect(await readdir(folder)).toEqual(["account.json"]);

  const second = await startEmbeddedService({ file, apiKeys });
  expect(second.state()).toEqual(before);
  expect((await call(second, "GET", "/v1/integrations/8f1c/schemas")).text).toContain('"__proto__":{"nameInDestination":"p"');
  expect((await call(second, "POST", "/v1/integrations", { body: createBody })).text).toContain('"id":9007199254741095,');
  await second.close();
});

test("an initial state is used for a new file and not for an existing one", async () => {
  const state = seedAccount();
  state.users = [];
  const first = await startEmbeddedService({ file, state });
  await first.close();
  const second = await startEmbeddedService({ file, state: seedAccount() });
  await second.close();
  expect(second.state().users).toEqual([]);
});

test("a given state is copied, not shared", async () => {
  const state = seedAccount();
  const service = await startEmbeddedService({ state });
  service.mutate((account) => {
    account.tags = [];
  });
  await service.close();
  expect(state).toEqual(seedAccount());
});

describe("a file that is not an account is refused and not changed", () => {
  test.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["another object", "{}"],
    ["an account without a catalogue", JSON.stringify({ ...seedAccount(), catalogue: undefined })],
  ])("%s", async (_, text) => {
    await writeFile(file, text);
    await expect(startEmbeddedService({ file })).rejects.toThrow("is not an account");
    expect(await readFile(file, "utf8")).toBe(text);
  });
});
