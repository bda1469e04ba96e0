// A project is loaded whole, and its digest changes exactly if its meaning does.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoadOptions } from "../../../src/core/manifests/project.ts";
import { headings, load, manifest, resource } from "./project-on-disk.ts";

const asset = (name: string, ...lines: readonly string[]) => manifest("Asset", name, "spec:", `  name: ${name}`, ...lines);

test("manifests have labels, pins and the kind's default lifecycle", async () => {
  const project = await load({
    "a.yaml":
      "apiVersion: dimsync/v1\nkind: Asset\nmetadata: { name: a, id: d-1, labels: { tier: gold, constructor: x } }\nspec: { name: A }\n",
    "i.yaml": "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: i }\nlifecycle: { create: never }\n",
  });
  expect(resource(project, "Asset/a")).toMatchObject({
    kind: "Asset",
    name: "a",
    id: "d-1",
    labels: { tier: "gold", constructor: "x" },
    lifecycle: { create: "never" },
  });
  expect(resource(project, "Integration/i")).toMatchObject({
    id: undefined,
    labels: {},
    lifecycle: { create: "never" },
    spec: {},
  });
});

describe("manifests of one target", () => {
  const files = {
    "dimsync.yaml": [
      ...["apiVersion: dimsync/v1", "kind: Config", "manifests: [manifests]", "targets:", "  prod: {}"],
      ...['  dev: { manifests: [manifests/dev, "manifests/*.dev.yaml"] }', "  test: { manifests: [manifests/dev] }", ""],
    ].join("\n"),
    "manifests/a.yaml": asset("a"),
    "manifests/b.dev.yaml": asset("b"),
    "manifests/dev/c.yaml": asset("c"),
  };
  test.each([
    ["prod", ["Asset/a"]],
    ["dev", ["Asset/a", "Asset/b", "Asset/c"]],
    ["test", ["Asset/a", "Asset/c"]],
  ])("target %s loads %j", async (target, addresses) => {
    const { manifests, problems } = await load(files, { target });
    expect([manifests.map(({ address }) => address), problems.filter(({ severity }) => severity === "error")]).toEqual([addresses, []]);
  });
  test("a path that does not exist is an error of this target only", async () => {
    const { "manifests/dev/c.yaml": _, ...others } = files;
    expect(headings((await load(others, { target: "test" })).diagnostics)).toEqual(["dimsync.yaml:7:23 E_PATH_NOT_FOUND"]);
    expect(headings((await load(others, { target: "prod" })).diagnostics)).toEqual([]);
  });
});

describe("loading can be interrupted", () => {
  test("before it begins", async () => {
    await expect(load({ "a.yaml": asset("a") }, { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
  });
  test("in the middle of many files, although reading them has no pauses", async () => {
    const tables = Array.from({ length: 3000 }, (_, index) => `        t${index}: { enabled: true }`);
    const one = (index: number) =>
      manifest("SchemaConfig", `s${index}`, "spec:", "  integration: { id: x }", "  schemas:", "    public:", "      tables:", ...tables);
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.yaml`, one(index)]));
    const controller = new AbortController();
    const loading = load(files, { signal: controller.signal });
    setImmediate(() => setImmediate(() => controller.abort(new Error("stop"))));
    await expect(loading).rejects.toThrow("stop");
  });
});

describe("references between manifests", () => {
  const tagOn = (resource: string) => manifest("Tag", "pii", "spec:", "  name: PII", "  resources:", `    - ${resource}`);
  const files = (resource: string) => ({ "m.yaml": `${asset("warehouse")}---\n${tagOn(resource)}` });
  const withIntegration = (name: string) => ({
    "m.yaml": `${manifest("Integration", "orders", "spec: {}")}---\n${tagOn(`integration: ${name}`)}`,
  });
  test("a name that no manifest has", async () => {
    const { diagnostics } = await load(files("asset: warehose"));
    expect(headings(diagnostics)).toEqual(["m.yaml:13:14 E_UNKNOWN_REFERENCE"]);
    expect(diagnostics[0]).toMatchObject({
      severity: "error",
      address: "Tag/pii",
      message: "Tag/pii refers to Asset/warehose, but no manifest has that name. Did you mean Asset/warehouse?",
    });
  });
  test("a name that the account may have is a warning if a manifest has a similar name", async () => {
    expect((await load(withIntegration("order"))).diagnostics).toMatchObject([{ code: "W_REFERENCE_NOT_DECLARED", severity: "warning" }]);
    expect((await load(withIntegration("elsewhere"))).problems).toEqual([]);
  });
  test("a name that a manifest has, even one with errors", async () => {
    const faulty = files("asset: warehouse")["m.yaml"].replace("name: warehouse\n", "nam: x\n");
    const { diagnostics } = await load({ "m.yaml": faulty });
    expect(diagnostics.map(({ code }) => code)).not.toContain("E_UNKNOWN_REFERENCE");
  });
});

describe("the digest of the manifests", () => {
  const text = asset("a", "  connection: { x: 1, y: { $secret: { env: K } } }");
  const digest = async (files: Readonly<Record<string, string>>, options: Partial<LoadOptions> = {}) =>
    (await load(files, options)).manifestDigest();
  test("does not depend on file names, order, comments, key order, quotes and the secret's value", async () => {
    const first = await digest({ "a.yaml": text, "b.yaml": asset("b") });
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/u);
    const second = await digest(
      {
        "z.yml": `# why\n${asset("b")}---\n${text.replace("x: 1, y: { $secret: { env: K } }", `"y": { $secret: { "env": K } }, x: \${var.one}`)}`,
      },
      { env: { K: "secret" }, vars: { one: "1" } },
    );
    expect(second).not.toBe(first); // ---var gives strings, and no schema requires a number here
    const third = await digest(
      { "z.yml": `# why\n${asset("b")}---\n${text.replace("x: 1, y: { $secret: { env: K } }", `"y": { $secret: { "env": K } }, x: 1`)}` },
      { env: { K: "secret" } },
    );
    expect(third).toBe(first);
  });
  test("changes with a value, a variable and a name", async () => {
    const all = await Promise.all([
      digest({ "a.yaml": text }),
      digest({ "a.yaml": text.replace("x: 1", "x: 2") }),
      digest({ "a.yaml": text.replace("env: K", "env: L") }),
      digest({ "a.yaml": asset("b") }),
    ]);
    expect(new Set(all).size).toBe(4);
  });
});

test("a file that is removed after loading still has positions; one that was never loaded only has its name", async () => {
  const { locate, folder } = await load({ "a.yaml": asset("a") });
  writeFileSync(join(folder, "a.yaml"), "changed");
  mkdirSync(join(folder, "x"));
  expect(locate({ file: "a.yaml", document: 0, pointer: "/spec/name" })).toMatchObject({
    line: 5,
    column: 9,
    excerpt: ["  name: a", "        ^"],
  });
  expect(locate({ file: "gone.yaml", document: 0, pointer: "/spec" })).toEqual({ file: "gone.yaml" });
  expect(locate({ file: "x", document: 0, pointer: "/spec" })).toEqual({ file: "x" });
});

test("the text of a long file is not kept: to locate something, it is read again", async () => {
  const text = `${asset("a")}${`# ${"x".repeat(1022)}\n`.repeat(17 * 1024)}`;
  const { locate, folder } = await load({ "a.yaml": text });
  const place = { file: "a.yaml", document: 0, pointer: "/spec/name" };
  writeFileSync(join(folder, "a.yaml"), `# One more line.\n${asset("a")}`);
  expect(locate(place)).toMatchObject({ line: 6, column: 9, excerpt: ["  name: a", "        ^"] });
});
