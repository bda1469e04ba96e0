// init, schema and get print what they promise, and init writes only what is missing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { schemaNames, schemaText } from "../../src/core/manifests/schema/lookup.ts";
import { dimsync, dimsyncHere, emptyFolder, quickstart, repository } from "./built-cli.ts";

const version: unknown = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).version;

test.each([["--version"], ["-V"]])("%s prints the version of the package", async (word) => {
  expect(await dimsync([word])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});

describe("init", () => {
  test("writes a valid project, and changes nothing the second time", async () => {
    const cwd = emptyFolder();
    const first = await dimsyncHere(["init", "project"], { cwd });
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toContain("created    project/dimsync.yaml");
    const project = join(cwd, "project");
    writeFileSync(join(project, ".gitignore"), "mine\n");
    const second = await dimsyncHere(["init"], { cwd: project });
    expect(second.stderr).toContain("unchanged  dimsync.yaml");
    expect(second.stderr).toContain("kept       .gitignore");
    expect(readFileSync(join(project, ".gitignore"), "utf8")).toBe("mine\n");
    expect(await dimsyncHere(["validate"], { cwd: project, env: { DIMSYNC_API_KEY: "key" } })).toMatchObject({ code: 0, stderr: "" });
  });

  test("gives an example that is a valid manifest", async () => {
    const cwd = emptyFolder();
    await dimsyncHere(["init"], { cwd });
    const example = /```yaml\n(.*?)```/su.exec(readFileSync(join(cwd, "manifests/README.md"), "utf8"))?.[1] ?? "";
    writeFileSync(join(cwd, "manifests/example.yaml"), example);
    const { code, stdout } = await dimsyncHere(["validate"], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Valid: 2 manifests in 1 file, no problems found.\n" });
  });

  test("reports a file that it can't write", async () => {
    const cwd = emptyFolder({ file: "" });
    const { code, stderr } = await dimsyncHere(["init", "file"], { cwd });
    expect(stderr).toContain("E_OUTPUT");
    expect(code).toBe(1);
  });
});

describe("schema", () => {
  const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true });
  // The package is CommonJS: under Node's rules its function is default.default, but its types
  // have only one default.
  addFormats.default(ajv);
  // Those of manifests refer to each other.
  for (const name of schemaNames) ajv.addSchema(JSON.parse(schemaText(name) ?? ""));

  test.each(schemaNames)("ajv compiles %s", async (name) => {
    const { code, stdout } = await dimsyncHere(["schema", name]);
    expect(code).toBe(0);
    expect(ajv.getSchema(JSON.parse(stdout).$id)).toBeTypeOf("function");
  });
});

describe("get", () => {
  test("prints aligned tables of lists", async () => {
    const { stdout } = await dimsyncHere(["get", "users"], { cwd: quickstart() });
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "ID    EMAIL                       NAME            CREATED AT",
      "u-1   dana@example.com            Dana            2026-01-05T08:00:00.000Z",
    ]);
  });

  test("prints the resources of one tag, the columns of one integration, one user", async () => {
    const cwd = quickstart();
    expect((await dimsyncHere(["get", "tag", "t-1"], { cwd })).stdout).toMatch(/TAGGED RESOURCES\nt-1 .* 8f1c/u);
    expect((await dimsyncHere(["get", "schemaconfig", "8f1c"], { cwd })).stdout).toMatch(/^public +orders +id +true +false +true/mu);
    expect(JSON.parse((await dimsyncHere(["get", "user", "u-1", "-o", "json"], { cwd })).stdout)).toMatchObject({
      email: "dana@example.com",
    });
  });
});
