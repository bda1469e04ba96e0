import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFolder } from "./support/project-folder.ts";

// house §3: imports point one way, and some rooms are pure. The linter holds that; here is shown that it does, and, without it, that it holds.

const root = fileURLToPath(new URL("..", import.meta.url));

/** What each room may import besides itself and model; a room that isn't named may import nothing of src. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "bin.ts": ["prebuilt-help.ts", "run.ts", "cli.ts", "commands"],
  "run.ts": ["cli.ts", "commands"],
  "cli.ts": ["commands", "run.ts", "program.ts"],
  "program.ts": ["commands", "program-commands.ts"],
  "program-commands.ts": ["commands"],
  "index.ts": ["commands", "engine", "kinds", "manifests", "service", "records", "drift", "import", "render", "embedded"],
  commands: ["ci", "engine", "kinds", "manifests", "service", "records", "drift", "import", "render", "embedded"],
  engine: ["kinds", "manifests", "service", "records", "drift", "import", "render"],
  ci: ["render"],
  import: ["kinds", "manifests"],
  drift: ["manifests"],
  kinds: [],
  manifests: [],
  service: [],
  records: [],
  render: [],
  model: [],
  embedded: [],
};
const rooms = ["model", "kinds", "manifests", "service", "records", "render", "drift", "import", "embedded", "engine", "commands"];

const roomOf = (path: string): string => path.split("/")[0] ?? path;
/** A file that imports `specifier` and uses it, so that nothing else is wrong with it. */
const importing = (specifier: string): string => `import { thing } from "${specifier}";\n\nexport const used = thing;\n`;

/** File -> what must be wrong with it: a rule of the linter, or nothing. */
const rows = new Map<string, { readonly sentence: string; readonly text: string; readonly rule: string | undefined }>();
const row = (sentence: string, file: string, text: string, rule: string | undefined): void => {
  rows.set(file, { sentence, text, rule });
};
const restricted = "lint/style/noRestrictedImports";

for (const from of rooms)
  for (const to of [...rooms, "cli.ts", "bin.ts"]) {
    if (from === to || (from === "embedded" && to === "model")) continue;
    const allowed = to === "model" || mayImport[from]?.includes(to) === true;
    const specifier = to.endsWith(".ts") ? `../${to}` : `../${to}/thing.ts`;
    row(
      `${from} ${allowed ? "may" : "may not"} import ${to}`,
      `src/${from}/to-${to.replace(".ts", "")}.ts`,
      importing(specifier),
      allowed ? undefined : restricted,
    );
  }
row("what lies deeper may not either", "src/render/human/deep.ts", importing("../../service/client.ts"), restricted);
row("the embedded service knows nothing of the rest", "src/embedded/model.ts", importing("../model/json.ts"), restricted);
for (const kind of ["asset", "integration", "tag", "schema-config"])
  for (const other of ["asset", "integration", "tag", "schema-config"].filter((one) => one !== kind))
    row(`the kind ${kind} may not import ${other}`, `src/kinds/${kind}/to-${other}.ts`, importing(`../${other}/index.ts`), restricted);
row("a kind may import what all share", "src/kinds/tag/shared.ts", importing("../people.ts"), undefined);

for (const room of ["model", "kinds", "render"]) {
  for (const module of ["node:fs", "node:fs/promises", "node:child_process", "node:process", "node:http", "node:net", "undici"])
    row(`${room} may not import ${module}`, `src/${room}/${module.replaceAll(/[:/]/gu, "-")}.ts`, importing(module), restricted);
  for (const [name, use] of [
    ["Date", "Date.now()"],
    ["process", "process.env"],
    ["console", "console"],
    ["fetch", "fetch"],
    ["setTimeout", "setTimeout"],
  ] as const)
    row(
      `${room} may not touch ${name}`,
      `src/${room}/global-${name}.ts`,
      `export const used = (): unknown => ${use};\n`,
      "lint/style/noRestrictedGlobals",
    );
}
for (const file of ["plan", "guards", "policies"]) {
  row(`engine/${file} reads no file`, `src/engine/${file}.ts`, importing("node:fs"), restricted);
}
row("engine may tell the time", "src/engine/clock.ts", "export const used = (): unknown => Date.now();\n", undefined);
row(
  "no cycles",
  "src/model/cycle-a.ts",
  'import { b } from "./cycle-b.ts";\n\nexport const a = (): unknown => b;\n',
  "lint/suspicious/noImportCycles",
);
row(
  "no cycles, the other half",
  "src/model/cycle-b.ts",
  'import { a } from "./cycle-a.ts";\n\nexport const b = (): unknown => a;\n',
  "lint/suspicious/noImportCycles",
);
row("no any", "src/engine/any.ts", "export const used = (value: any): unknown => value;\n", "lint/suspicious/noExplicitAny");
row("no !", "src/engine/bang.ts", "export const used = (value?: string): string => value!;\n", "lint/style/noNonNullAssertion");
row("no default export", "src/engine/default.ts", "export default 1;\n", "lint/style/noDefaultExport");
row("no console but through the io", "src/commands/console.ts", 'console.log("x");\n\nexport {};\n', "lint/suspicious/noConsole");

describe("the linter", () => {
  const rulesByFile = new Map<string, Set<string>>();
  let folder = "";
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(async () => {
    folder = writeFolder(Object.fromEntries([...rows].map(([file, { text }]) => [file, text])));
    copyFileSync(join(root, "biome.json"), join(folder, "biome.json"));
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    const args = ["lint", "--reporter=json", "--max-diagnostics=none", "--vcs-enabled=false", "src"];
    const text = await new Promise<string>((resolve) => {
      // It ends with 1 because it finds something.
      execFile(process.execPath, [biome, ...args], { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (_, stdout) => resolve(stdout));
    });
    for (const { category, severity, location } of (JSON.parse(text) as Report).diagnostics) {
      if (severity !== "error") continue;
      const path = typeof location.path === "string" ? location.path : (location.path?.file ?? "");
      const file = relative(".", path);
      rulesByFile.set(file, (rulesByFile.get(file) ?? new Set()).add(category));
    }
  }, 60_000);

  test.each([...rows].map(([file, { sentence, rule }]) => ({ file, sentence, rule })))("$sentence", ({ file, rule }) => {
    const found = [...(rulesByFile.get(file) ?? [])].filter((one) =>
      /noRestricted|noImportCycles|noExplicitAny|noNonNull|noDefault|noConsole/u.test(one),
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

describe("the source", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.ts$/u.test(file) && !file.endsWith(".d.ts"));
  const imports = files.flatMap((file) => {
    const text = readFileSync(join(root, "src", file), "utf8");
    return [...text.matchAll(/^(?:import|export)\b[^"';]*?from "([^"]+)"|\bimport\("([^"]+)"\)/gmu)].map(([, fixed, lazy]) => ({
      file,
      specifier: fixed ?? lazy ?? "",
    }));
  });
  const inside = imports
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ file, specifier }) => ({ file, to: posix.normalize(posix.join(dirname(file), specifier)) }));

  test("is read here at all", () => {
    expect(files.length).toBeGreaterThan(150);
    expect(inside.length).toBeGreaterThan(400);
  });

  test("imports point one way", () => {
    const wrong = inside.filter(({ file, to }) => {
      const [from, target] = [roomOf(file), roomOf(to)];
      if (from === target) return false;
      if (from === "embedded") return true;
      return target !== "model" && mayImport[from]?.includes(target) !== true;
    });
    expect(wrong).toEqual([]);
  });

  test("kinds import no other kind", () => {
    const kindOf = (path: string): string | undefined => /^kinds\/(asset|integration|tag|schema-config)(?:\/|\.ts)/u.exec(path)?.[1];
    const wrong = inside.filter(({ file, to }) => kindOf(file) !== undefined && kindOf(to) !== undefined && kindOf(file) !== kindOf(to));
    expect(wrong).toEqual([]);
    const shared = inside.filter(({ file, to }) => file.startsWith("kinds/") && kindOf(file) === undefined && kindOf(to) !== undefined);
    expect(
      shared.filter(({ file }) => file !== "kinds/index.ts"),
      "what all kinds share knows none",
    ).toEqual([]);
  });

  test("only the commands and the library start the embedded service", () => {
    const from = new Set(
      inside.filter(({ file, to }) => roomOf(to) === "embedded" && roomOf(file) !== "embedded").map(({ file }) => roomOf(file)),
    );
    expect([...from].sort()).toEqual(["commands", "index.ts"]);
  });

  test("pure rooms reach for nothing outside", () => {
    const pure = (file: string): boolean => /^(?:model|kinds|render)\/|^engine\/(?:plan|guards|policies)\.ts$/u.test(file);
    const outside = imports.filter(({ file, specifier }) => pure(file) && !specifier.startsWith("."));
    expect(
      [...new Set(outside.map(({ specifier }) => specifier))].filter((one) => one.startsWith("node:") && one !== "node:crypto"),
    ).toEqual([]);
  });

  test("no file grows beyond what one can read", () => {
    const long = files.map((file) => ({ file, lines: readFileSync(join(root, "src", file), "utf8").split("\n").length - 1 }));
    expect(long.filter(({ lines }) => lines > 290)).toEqual([]);
  });

  test("no drawers", () => {
    expect(files.filter((file) => /(?:^|\/)(?:utils?|helpers?|types?|constants?|misc|common)\.ts$/u.test(file))).toEqual([]);
  });
});
