// get takes every name of a kind and every way to name an object.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { EmbeddedOptions } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dimsync-listings-"));
  await writeFile(
    join(folder, "dimsync.yaml"),
    "apiVersion: dimsync/v1\nkind: Config\nmanifests: [.]\ntargets: { prod: { baseUrl: embedded:account.json } }\n",
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...argv: readonly string[]) => runCommand(argv, folder);
const out = async (...argv: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(...argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

test("one format goes to a file, another to stdout", async () => {
  expect(await out("get", "users", "-o", "json=users.json")).toContain("dana@example.com");
  expect(JSON.parse(await readFile(join(folder, "users.json"), "utf8"))).toHaveLength(5);
});

test.each([["integration"], ["INTEGRATIONS"], ["Integrations"]])("%s is a kind", async (kind) => {
  expect(await out("get", kind, "8f1c")).toContain("Orders");
});

test("a user is found by id and by e-mail address", async () => {
  expect(await out("get", "user", "u-1")).toBe(await out("get", "user", "Dana@Example.com"));
});

test.each([
  [["get", "user", "nobody@example.com"], "E_NOT_FOUND"],
  [["audit", "-o", "html"], "Formats of this command: human, json"],
])("%j is refused: %s", async (argv, message) => {
  const { code, stderr } = await run(...argv);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

test("an address means the id that it is bound to", async () => {
  await writeFile(
    join(folder, "dimsync.bindings.yaml"),
    "apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod:\n    Integration/orders: { id: 8f1c }\n    Tag/pii: { id: t-1 }\n",
  );
  for (const [kind, address, id] of [
    ["schemas", "Integration/orders", "8f1c"],
    ["integration", "Integration/orders", "8f1c"],
    ["tag", "Tag/pii", "t-1"],
  ] as const)
    expect(await out("get", kind, address, "-o", "json")).toBe(await out("get", kind, id, "-o", "json"));
  for (const name of ["orders", "Schemas/Orders"]) expect(await out("get", "schemas", name)).toBe(await out("get", "schemas", "8f1c"));
  expect((await run("get", "schemas", "order")).stderr).toContain('no integration with the id or name "order"');
  const { code, stderr } = await run("get", "schemas", "Integration/order");
  expect({ code, stderr: stderr.split("\n")[0] }).toEqual({
    code: 1,
    stderr: 'dimsync: E_UNKNOWN_ADDRESS: Integration/order is not bound in target "prod". The list shows the ids.',
  });
});

test("an asset is read by its id with service.extended, and a service without the request is named", async () => {
  const read = async (options: EmbeddedOptions, name?: string) => {
    const observed = await startService(options);
    onTestFinished(() => observed.close());
    const id = observed.state().assets[0]?.id ?? "";
    const project = writeProject({
      "dimsync.yaml": configText(observed.url, { service: { extended: true } }),
      "dimsync.bindings.yaml": "apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  test:\n    Asset/warehouse: { id: ID }\n".replace(
        "ID",
        id,
      ),
    });
    return runCommand(["get", "asset", name ?? id, "-o", "json"], project, { [keyVariable]: observed.apiKey });
  };
  const observed: EmbeddedOptions = { observed: true, ids: "short" };
  const byId = await read(observed);
  expect([byId.code, JSON.parse(byId.stdout)]).toMatchObject([0, { name: "Warehouse", connectionType: "multi_purpose" }]);
  expect((await read(observed, "Asset/warehouse")).stdout).toBe(byId.stdout);
  expect((await read(observed, "warehouse")).stdout).toBe(byId.stdout);
  expect((await read(observed, "none")).stderr).toMatch(/E_NOT_FOUND.*"none"[\s\S]*dimsync get integrations -o json/u);
  expect((await read({ ...observed, extended: false })).stderr).toContain(
    "E_NOT_OFFERED: dimsync cannot read assets: the service has no GET /v1/assets/{id}.",
  );
});
