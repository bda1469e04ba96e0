// Imports point one way (build/layers.mjs) and some folders are pure (biome.json). Tests that both
// checks find violations, and that src/ has none.
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importsIn, promiseRefusals, refusal, refusals, sharedTypeNames, unusedExports } from "../build/layers.mjs";
import { kindNames } from "../src/core/kinds/manifests.ts";
import { programs } from "./support/programs.mjs";
import { writeFolder } from "./support/project-folder.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const src = join(root, "src");

/** A file that imports `specifier` and uses it, so that nothing else is wrong with it. */
const importing = (specifier: string): string => `import { thing } from "${specifier}";\n\nexport const used = thing;\n`;

/** File -> the expected error: a rule of the linter, or none. */
const rows = new Map<string, { readonly sentence: string; readonly text: string; readonly rule: string | undefined }>();
const row = (sentence: string, file: string, text: string, rule: string | undefined): void => {
  rows.set(file, { sentence, text, rule });
};
const restricted = "lint/style/noRestrictedImports";

for (const folder of ["base/model", "base/text", "base/yaml", "kinds", "columns/policies", "render"]) {
  for (const module of ["node:fs", "node:fs/promises", "node:child_process", "node:process", "node:http", "node:net", "undici"])
    row(`${folder} may not import ${module}`, `src/core/${folder}/${module.replaceAll(/[:/]/gu, "-")}.ts`, importing(module), restricted);
  for (const [name, use] of [
    ["Date", "Date.now()"],
    ["process", "process.env"],
    ["console", "console"],
    ["fetch", "fetch"],
    ["setTimeout", "setTimeout"],
  ] as const)
    row(
      `${folder} may not use ${name}`,
      `src/core/${folder}/global-${name}.ts`,
      `export const used = (): unknown => ${use};\n`,
      "lint/style/noRestrictedGlobals",
    );
}
for (const file of ["plan", "checks/guards"]) {
  row(`plan/${file} reads no file`, `src/core/plan/${file}.ts`, importing("node:fs"), restricted);
}
row("plan may read the clock", "src/core/plan/clock.ts", "export const used = (): unknown => Date.now();\n", undefined);
row(
  "no cycles",
  "src/core/base/model/cycle-a.ts",
  'import { b } from "./cycle-b.ts";\n\nexport const a = (): unknown => b;\n',
  "lint/suspicious/noImportCycles",
);
row(
  "no cycles, the other half",
  "src/core/base/model/cycle-b.ts",
  'import { a } from "./cycle-a.ts";\n\nexport const b = (): unknown => a;\n',
  "lint/suspicious/noImportCycles",
);
row("no any", "src/core/plan/any.ts", "export const used = (value: any): unknown => value;\n", "lint/suspicious/noExplicitAny");
row("no !", "src/core/plan/bang.ts", "export const used = (value?: string): string => value!;\n", "lint/style/noNonNullAssertion");
row("no default export", "src/core/plan/default.ts", "export default 1;\n", "lint/style/noDefaultExport");
row("no console except through the io", "src/features/plan/console.ts", 'console.log("x");\n\nexport {};\n', "lint/suspicious/noConsole");
row(
  "no promise is ignored",
  "src/core/plan/floating.ts",
  "const work = async (): Promise<void> => {};\n\nexport function used(): void {\n  work();\n}\n",
  "lint/nursery/noFloatingPromises",
);

row(
  "no list of unknown length as arguments",
  "src/core/plan/spread.ts",
  "export const most = (all: readonly number[]): number => Math.max(...all);\n",
  "plugin",
);
row(
  "but what a function was called with",
  "src/core/plan/rest.ts",
  "export const most = (...all: readonly number[]): number => Math.max(...all);\n",
  undefined,
);

test("only the helper that starts git safely and process 1 of a container start processes", () => {
  const starting = importsIn(src).filter(({ specifier }) => specifier === "node:child_process" || specifier === "child_process");
  expect(starting.map(({ file }) => file).sort()).toEqual(["cli/first-process.ts", "core/base/git/process.ts"]);
});

describe("the linter", () => {
  const rulesByFile = new Map<string, Set<string>>();
  let folder = "";
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(async () => {
    folder = writeFolder(Object.fromEntries([...rows].map(([file, { text }]) => [file, text])));
    mkdirSync(join(folder, "build"));
    for (const file of ["biome.json", "build/spread-arguments.grit"]) copyFileSync(join(root, file), join(folder, file));
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    const args = ["lint", "--reporter=json", "--max-diagnostics=none", "--vcs-enabled=false", "src"];
    const text = await new Promise<string>((resolve) => {
      // Its exit code is 1 because it finds errors.
      execFile(process.execPath, [biome, ...args], { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (_, stdout) => resolve(stdout));
    });
    for (const { category, severity, location } of (JSON.parse(text) as Report).diagnostics) {
      if (severity !== "error") continue;
      const path = typeof location.path === "string" ? location.path : (location.path?.file ?? "");
      const file = relative(".", path);
      rulesByFile.set(file, (rulesByFile.get(file) ?? new Set()).add(category));
    }
  });

  test.each([...rows].map(([file, { sentence, rule }]) => ({ file, sentence, rule })))("$sentence", ({ file, rule }) => {
    const found = [...(rulesByFile.get(file) ?? [])].filter((one) =>
      /noRestricted|noImportCycles|noExplicitAny|noNonNull|noDefault|noConsole|noFloating|plugin/u.test(one),
    );
    expect(found).toEqual(rule === undefined ? [] : [rule]);
  });
});

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly severity: string;
    readonly location: { readonly path: string | { readonly file: string } | null };
  }[];
}

describe("the layers", () => {
  test.each([
    ["an upper layer may import a lower one", "core/apply/create.ts", "core/service/index.ts", undefined],
    ["but only its index.ts", "core/apply/create.ts", "core/service/client.ts", "other folders import only index.ts of core/service"],
    ["each file of the base stands for itself", "core/apply/create.ts", "core/base/text/lists.ts", undefined],
    ["a lower layer may not import an upper one", "core/service/client.ts", "core/apply/create.ts", "core/apply is above core/service"],
    [
      "folders of one layer may not import each other",
      "core/render/terminal/plan.ts",
      "core/records/lock.ts",
      "core/render and core/records are in the same layer",
    ],
    ["no feature may import another one", "features/ci/ci.ts", "features/plan/command.ts", "no feature imports another one"],
    ["a feature may import the core", "features/catalog/command.ts", "core/columns/catalog/index.ts", undefined],
    ["the core may not import a feature", "core/plan/run.ts", "features/register/rows.ts", "features is above core/plan"],
    ["a feature may import how commands read flags and print", "features/plan/command.ts", "cli/output.ts", undefined],
    ["but not the list of commands", "features/plan/command.ts", "cli/commands.ts", "cli/commands.ts is above features"],
    ["and nothing of the command line imports a feature", "cli/output.ts", "features/plan/command.ts", "features is above cli"],
    ["but the list of commands", "cli/commands.ts", "features/plan/command.ts", undefined],
    ["only listed neighbours may", "cli/cli.ts", "cli/commands.ts", undefined],
    ["and only in one direction", "cli/commands.ts", "cli/cli.ts", "cli/commands.ts and cli/cli.ts are in the same layer"],
    [
      "the embedded service imports nothing of dimsync",
      "embedded/service.ts",
      "core/base/model/json.ts",
      "embedded imports nothing of dimsync",
    ],
    [
      "only features and the library start it",
      "core/plan/plan.ts",
      "embedded/index.ts",
      "only features, core/operations, index.ts start the embedded service",
    ],
    ["a kind imports no other kind", "core/kinds/tag/index.ts", "core/kinds/asset/index.ts", "a kind imports no other kind"],
    [
      "files shared by all kinds import no kind",
      "core/kinds/select.ts",
      "core/kinds/tag/index.ts",
      "files shared by all kinds import no kind",
    ],
    ["a kind may import files shared by all kinds", "core/kinds/tag/index.ts", "core/kinds/users.ts", undefined],
    [
      "other folders import no kind",
      "core/plan/plan.ts",
      "core/kinds/tag/index.ts",
      "only core/kinds/index.ts and core/kinds/schemas.ts import a kind",
    ],
    ["but what all kinds share", "core/plan/plan.ts", "core/kinds/index.ts", undefined],
    ["the registry imports every kind", "core/kinds/index.ts", "core/kinds/tag/index.ts", undefined],
    ["a new folder must be put into a layer", "surprise/a.ts", "core/base/model/json.ts", "surprise is in no layer of build/layers.mjs"],
  ])("%s", (_, file, imported, expected) => {
    expect(refusal(file, imported)).toBe(expected);
  });

  test("are kept by src/", () => {
    expect(importsIn(src).filter(({ imported }) => imported !== undefined).length).toBeGreaterThan(400);
    expect(refusals(src)).toEqual([]);
  });
});

test("test/promises imports only the library and the embedded service's data, and so do the files that it imports", () => {
  const folder = writeFolder({
    "test/promises/a.test.ts": 'import "../../src/index.ts";\nimport "../support/b.ts";\nimport "../../src/core/base/model/plan.ts";\n',
    "test/support/b.ts": 'import type { AccountState } from "../../src/embedded/index.ts";\nimport "./c.ts";\n',
    "test/support/c.ts": 'const lazy = () => import("../../src/core/operations/plan.ts");\n',
    "test/support/d.ts": 'import "../../src/core/base/model/plan.ts";\n',
  });
  const found = promiseRefusals(folder);
  rmSync(folder, { recursive: true });
  expect(found.map((line) => line.replace(/:.*/u, ""))).toEqual([
    "test/promises/a.test.ts imports src/core/base/model/plan.ts",
    "test/support/c.ts imports src/core/operations/plan.ts",
  ]);
  expect(promiseRefusals(root)).toEqual([]);
});

test("an export that no other file imports is found", () => {
  const folder = writeFolder({
    "src/a.ts": 'import { one } from "./b.ts";\nimport type { Three } from "./c.ts";\nimport { four } from "./d.ts";\n',
    "src/b.ts": "export const one = 1;\nexport async function two() {}\n",
    "src/c.ts": 'export { type Three, three } from "./b.ts";\n',
    "src/d.ts": 'export * from "./e.ts";\n',
    "src/e.ts": "export const four = 4;\n",
    "test/b.test.ts": 'import { five } from "../src/f.ts";\n',
    "src/f.ts": "export const five = 5;\n",
    "docs/a.mjs": "",
    "bench/a.mjs": "",
  });
  const found = unusedExports(folder);
  rmSync(folder, { recursive: true });
  expect(found).toEqual(["src/b.ts exports two, which nothing imports", "src/c.ts exports three, which nothing imports"]);
});

test("no two files export a type of one name", () => {
  const folder = writeFolder({ "a.ts": "export type One = 1;\n", "b/c.ts": "export interface One {}\nexport type Two = 2;\n" });
  const found = sharedTypeNames(folder);
  rmSync(folder, { recursive: true });
  expect(found).toEqual(["a.ts and b/c.ts export a type One"]);
});

/** Kind names as literals in a source: `"Tag"`, `"Tag/"`, \`Tag/${name}\`. Sentences and comments may name them. */
function kindLiterals(text: string): readonly string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gmu, "");
  const names = Object.values(kindNames).join("|");
  return [...code.matchAll(new RegExp(`"(?:${names})/?"|\`(?:${names})/\\$\\{`, "gu"))].map(([found]) => found);
}

describe("kind names", () => {
  test.each([
    ["a comparison", 'if (item.kind === "Tag") return;', ['"Tag"']],
    ["the start of an address", 'address.startsWith("SchemaConfig/")', ['"SchemaConfig/"']],
    ["an address", "const address = `Integration/$" + "{name}`;", ["`Integration/$" + "{"]],
    ["a sentence", 'const message = "Write a Tag manifest";', []],
    ["a comment", ' * "Tag" is a kind.', []],
  ])("%s", (_, text, expected) => {
    expect(kindLiterals(text)).toEqual(expected);
  });

  test("are literals only in kinds/", () => {
    const files = [...new Set(importsIn(src).map(({ file }) => file))].filter((file) => !/^(?:core\/kinds|embedded)\//u.test(file));
    const found = files.flatMap((file) => kindLiterals(readFileSync(join(src, file), "utf8")).map((literal) => `${file}: ${literal}`));
    expect(found).toEqual([]);
  });

  test("nor does code for all kinds cast to the units or objects of one", () => {
    const cast = / as (?:\w+Unit|Observed\w+|Live\w+)\b/gu;
    const files = [...new Set(importsIn(src).map(({ file }) => file))].filter((file) =>
      /^(?:core\/(?:plan|columns|apply|drift)|features\/import)\//u.test(file),
    );
    const found = files.flatMap(
      (file) =>
        readFileSync(join(src, file), "utf8")
          .match(cast)
          ?.map((one) => `${file}:${one}`) ?? [],
    );
    expect(found).toEqual([]);
    expect("const { tree } = live as ObservedSchemas;").toMatch(cast);
  });
});

/** The source file that a test is about: NAME.test.ts, NAME-topic.test.ts or NAME/topic.test.ts. A folder counts if its index.ts has code of its own. */
function testedBy(file: string): string | undefined {
  const name = file.replace(/(?:\.slow)?\.test\.ts$/u, "");
  const parts = name.split("/");
  const folder = parts.slice(0, -1).join("/");
  const words = (parts.at(-1) ?? "").split("-");
  const named = words.map((_, index) => [...parts.slice(0, -1), words.slice(0, words.length - index).join("-")].join("/"));
  const ownCode = (path: string): boolean =>
    !path.endsWith("/index.ts") || /^(?:export )?(?:async )?(?:const|function)/mu.test(readFileSync(join(src, path), "utf8"));
  return [...named, folder, `${folder}/index`].map((path) => `${path}.ts`).find((path) => existsSync(join(src, path)) && ownCode(path));
}

describe("tests", () => {
  const filesWith = (text: RegExp): readonly string[] =>
    readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.m?ts$/u.test(file) && text.test(readFileSync(join(root, "test", file), "utf8")))
      .map((file) => file.replaceAll("\\", "/"));

  test.each([
    ["by its name", "core/plan/plan.test.ts", "core/plan/plan.ts"],
    ["slow ones", "features/doctor/doctor-records.slow.test.ts", "features/doctor/doctor.ts"],
    ["with a topic", "core/manifests/project-yaml-problems.test.ts", "core/manifests/project.ts"],
    ["in a folder of its name", "core/plan/plan/order.test.ts", "core/plan/plan.ts"],
    ["of a whole folder", "core/records/git/hammer.slow.test.ts", "core/records/git/index.ts"],
    ["of nothing", "core/plan/surprise.test.ts", undefined],
  ])("a test is found %s", (_, file, expected) => {
    expect(testedBy(file)).toBe(expected);
  });

  test("mirror src/, except suites that cross folders", () => {
    const crossing = /^(?:(?:build|cli|docs|examples|faults|library|promises|properties|scenarios|security)\/|embedded\/[^/]+$)/u;
    const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
    const lost = files.filter((file) => file.endsWith(".test.ts") && file.includes("/") && !crossing.test(file) && !testedBy(file));
    expect(lost).toEqual([]);
  });

  test("take random inputs from fast-check with the seed of the commit", () => {
    expect(filesWith(/from "fast-[c]heck"/u)).toEqual(["support/fast-check.ts"]);
  });

  test("say in their first line which promise they prove", () => {
    expect(filesWith(/^(?!\/\/ \S)[\s\S]*? from "vitest"/u).filter((file) => file.endsWith(".test.ts"))).toEqual([]);
  });

  // Otherwise their tests would fail, not be skipped, on a machine without them.
  test("start programs that may be missing only by their path from programs.mjs", () => {
    const names = Object.values(programs).flatMap(({ commands }) => commands);
    const starts = new RegExp(String.raw`\b(?:spawn|execFile)(?:Sync)?\(\s*"(?:${names.join("|")})"`, "u");
    expect(starts.test(`spawnSync("${names[0]}", [])`)).toBe(true);
    expect(filesWith(starts)).toEqual([]);
  });
});

describe("messages", () => {
  // A name can contain a line break, which begins a line of its own. `say` escapes it, and so do the renderers.
  test("are only printed by functions that escape names", () => {
    const writers = new Set(["io.ts", "progress.ts", "report-error.ts", "request-log.ts"].map((name) => `cli/${name}`));
    const found = readdirSync(src, { recursive: true, encoding: "utf8" })
      .map((file) => file.replaceAll("\\", "/"))
      .filter((file) => file.endsWith(".ts") && !writers.has(file))
      .filter((file) => /stderr\(\s*[`"]dimsync: /u.test(readFileSync(join(src, file), "utf8")));
    expect(found).toEqual([]);
  });
});

describe("the source", () => {
  const files = [...new Set(importsIn(src).map(({ file }) => file))];

  test("has no file with a generic name", () => {
    expect(files.filter((file) => /(?:^|\/)(?:utils?|helpers?|types?|constants?|misc|common)\.ts$/u.test(file))).toEqual([]);
  });
});
