// The packages whose code the build puts into dist/: their licences, the bill of materials and the
// audit.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";

interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
const packages = readJson("dist/packages.json") as readonly Shipped[];
const names = packages.map(({ name }) => name);

test("the list has the packages that the bundles contain, and none that only tests or the build use", () => {
  expect(names).toEqual(expect.arrayContaining(["ajv", "commander", "diff", "js-yaml", "picomatch", "undici", "yaml"]));
  for (const tool of ["esbuild", "rolldown", "vitest", "fast-check", "@biomejs/biome"]) expect(names).not.toContain(tool);
});

test("the licence of each package is shipped", () => {
  const text = readFileSync("dist/THIRD_PARTY_LICENSES.txt", "utf8");
  for (const { name, version } of packages) expect(text).toContain(`\n${name} ${version} (`);
});

/** Bundlers such as webpack warn of what they cannot follow: a package that is not installed, and an expression. */
test("the bundles load nothing but modules of Node and files beside them, unless webpack is to ignore it", () => {
  const files = readdirSync("dist", { recursive: true, encoding: "utf8" }).filter((file) => /\.c?js$/u.test(file));
  const unknown = files.flatMap((file) =>
    [...readFileSync(join("dist", file), "utf8").matchAll(/(?<![.\w$'"])(?:require|import)\((?!\/\* webpackIgnore: true \*\/)([^)]*)\)/gu)]
      .map(([call, name = ""]) => ({ call, name: name.slice(1, -1), isText: /^["'`].*["'`]$/u.test(name) }))
      // Ajv has code that it generates as text. Node 20 does not know node:sqlite.
      .filter(({ name, isText }) => !isText || !(isBuiltin(name) || name === "node:sqlite" || name.startsWith("ajv/dist/runtime/")))
      .filter(({ name }) => !/^\.\.?\//u.test(name) || !existsSync(join("dist", dirname(file), name)))
      .map(({ call }) => `${file}: ${call}`),
  );
  expect(unknown).toEqual([]);
});

test("the program does not contain the schemas that it loads for a message", () => {
  const texts = ["Config", "SchemaConfig"].map((title) => `title:\`${title}\``);
  const files = readdirSync("dist/lib").filter((file) => file.endsWith(".cjs"));
  expect(files.filter((file) => texts.some((text) => readFileSync(join("dist/lib", file), "utf8").includes(text)))).toEqual([]);
});

test.each(["--version", "--help"])("%s loads nothing but what prints it", (flag) => {
  const code = 'require("./dist/bin.cjs"); console.error(JSON.stringify(Object.keys(require.cache)))';
  const { stdout, stderr } = spawnSync(process.execPath, ["--eval", code, "bin", flag], { encoding: "utf8" });
  expect(stdout).not.toBe("");
  const files = JSON.parse(stderr) as readonly string[];
  expect(files.map((file) => statSync(file).size).reduce((sum, size) => sum + size)).toBeLessThan(8_000);
});

describe("the bill of materials", () => {
  const text = execFileSync(process.execPath, ["build/sbom.mjs"], { encoding: "utf8" });
  const bom = JSON.parse(text) as {
    readonly metadata: { readonly component: { readonly purl: string } };
    readonly components: readonly { readonly name: string; readonly purl: string; readonly hashes: readonly object[] }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  };

  test("is valid CycloneDX 1.6", () => {
    const schema = (name: string): object => {
      const file = `${name}.SNAPSHOT.schema.json`;
      const { $schema: _, ...rest } = readJson(`node_modules/@cyclonedx/cyclonedx-library/res/schema/${file}`) as Record<string, unknown>;
      // The schemas refer to one another by their file names.
      return { ...rest, $id: `http://cyclonedx.org/schema/${file}` };
    };
    const ajv = new Ajv({ strict: false, validateFormats: false, schemas: [schema("spdx"), schema("jsf-0.82")] });
    const validate = ajv.compile(schema("bom-1.6"));
    expect([validate(bom), validate.errors]).toEqual([true, null]);
    expect(validate({ ...bom, components: [{ name: "x" }] })).toBe(false);
  });

  test("has the shipped packages with their hashes, and nothing else", () => {
    const { version } = readJson("package.json") as { readonly version: string };
    expect(bom.metadata.component.purl).toBe(`pkg:npm/dimsync@${version}`);
    expect(bom.components.map(({ purl }) => purl).sort()).toEqual(
      packages.map(({ name, version: of }) => `pkg:npm/${name.replace("@", "%40")}@${of}`).sort(),
    );
    for (const { name, hashes } of bom.components)
      expect(hashes, name).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/u) }]);
    expect(bom.dependencies.find(({ ref }) => ref === bom.metadata.component.purl)?.dependsOn).toHaveLength(packages.length);
  });

  test("is the same each time", () => {
    expect(execFileSync(process.execPath, ["build/sbom.mjs"], { encoding: "utf8" })).toBe(text);
  });
});

describe("the audit", () => {
  const audit = (report: unknown) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["build/audit.mjs"], {
      input: JSON.stringify(report),
      encoding: "utf8",
    });
    return { status, text: stdout + stderr };
  };
  const cause = { title: "Request smuggling", url: "https://example.com/advisory", severity: "high", range: "<9" };
  const vulnerable = (name: string, node = `node_modules/${name}`) => ({ [name]: { name, severity: "high", via: [cause], nodes: [node] } });

  test("fails for a vulnerability in a shipped package, and names it", () => {
    const { status, text } = audit({ vulnerabilities: vulnerable("undici") });
    expect(status).toBe(1);
    expect(text).toContain("undici <9 (high): Request smuggling https://example.com/advisory\n");
  });

  test("passes if only development tools are vulnerable, also other copies of a shipped package", () => {
    const vulnerabilities = { ...vulnerable("vitest"), ...vulnerable("undici", "node_modules/playwright-core/node_modules/undici") };
    expect(audit({ vulnerabilities })).toEqual({
      status: 0,
      text: `Vulnerable packages: 0 of ${packages.length} shipped ones, 2 development tools.\n`,
    });
  });

  test("fails if npm could not get a report", () => {
    expect(audit({ message: "503 Service Unavailable" })).toEqual({ status: 1, text: "npm audit failed: 503 Service Unavailable\n" });
  });
});
