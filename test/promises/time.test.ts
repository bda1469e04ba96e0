// One truth about time (T): what a manifest changed since the last apply is `config` and gets nobody's name, and an event is worded as what it says.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AccountState } from "../../src/embedded/index.ts";
import type { Plan } from "../../src/index.ts";
import { accountOf, columnOf } from "./account.ts";
import { builtCli } from "./run.ts";

const dana = "dana@example.com";
const keptEmail = "{ id: emails, match: { column: email }, set: { hashed: true } }";
const ownCity = "{ id: city, match: { column: city }, set: { hashed: true } }";

const table = (...names: readonly string[]) => ({
  ...{ enabled: true, nameInDestination: "x", syncMode: "Full Refresh" },
  columns: Object.fromEntries(names.map((name) => [name, columnOf(name, { enabled: true, hashed: name === "email" })])),
});

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly all: string;
}

interface Walk {
  /** Writes the rules of the only manifest. */
  readonly write: (...rules: readonly string[]) => void;
  readonly git: (...args: readonly string[]) => string;
  readonly remove: (path: string) => void;
  /** Replaces a text in all files of the records. */
  readonly forge: (from: string, to: string) => void;
  readonly run: (...args: readonly string[]) => Ran;
  /** The documents of one run, in all formats. */
  readonly documents: (...args: readonly string[]) => Readonly<Record<(typeof formats)[number], string>>;
  /** Somebody changes a column in the web console. */
  readonly change: (path: readonly [table: string, column: string], to: { hashed?: boolean; enabled?: boolean }, event: string) => void;
}

/** A project whose only commit was applied: `customers.email` is hashed. */
function walk(): Walk {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-time-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write: Walk["write"] = (...rules) => {
    const text = `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: shop }\nspec:\n  integration: Orders\n  rules:\n`;
    writeFileSync(join(folder, "manifests/shop.yaml"), text + rules.map((rule) => `    - ${rule}\n`).join(""));
  };
  const who = {
    GIT_AUTHOR_NAME: "Sam",
    GIT_AUTHOR_EMAIL: "sam@example.com",
    GIT_COMMITTER_NAME: "Sam",
    GIT_COMMITTER_EMAIL: "sam@example.com",
  };
  const env = { ...who, PATH: process.env["PATH"] ?? "", HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const git: Walk["git"] = (...args) => execFileSync("git", args, { cwd: folder, env, encoding: "utf8" }).trim();
  const run: Walk["run"] = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [builtCli, ...args], { cwd: folder, env, encoding: "utf8" });
    return { code: status, stdout, all: stdout + stderr };
  };
  const account = accountOf({
    a1: { public: { enabled: true, nameInDestination: "x", tables: { customers: table("email", "city"), products: table("sku") } } },
  });
  for (const one of account.integrations) one.name = "Orders";
  for (const name of ["manifests", "out"]) mkdirSync(join(folder, name));
  const config = {
    apiVersion: "dimsync/v1",
    kind: "Config",
    manifests: ["manifests"],
    targets: { prod: { baseUrl: "embedded:account.json" } },
  };
  writeFileSync(join(folder, "dimsync.yaml"), JSON.stringify(config));
  writeFileSync(join(folder, ".gitignore"), ".dimsync\naccount.json\nout\n");
  writeFileSync(join(folder, "account.json"), JSON.stringify(account));
  write(keptEmail);
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=first");
  const applied = run("apply", "--yes");
  expect(applied.code, applied.all).toBe(0);
  return {
    ...{ write, git, run },
    documents: (...args) => {
      const { all } = run(...args, ...formats.flatMap((format) => ["-o", format === "github" ? format : `${format}=out/${format}`]));
      const read = (name: string): string => readFileSync(join(folder, "out", name), "utf8");
      return { human: read("human"), json: read("json"), markdown: read("markdown"), html: read("html"), github: all };
    },
    remove: (path) => rmSync(join(folder, path), { recursive: true }),
    forge: (from, to) => {
      const records = join(folder, ".dimsync");
      for (const entry of readdirSync(records, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (entry.isFile()) writeFileSync(file, readFileSync(file, "utf8").replaceAll(from, to));
      }
    },
    change: ([of, name], to, event) => {
      const file = join(folder, "account.json");
      const state = JSON.parse(readFileSync(file, "utf8")) as AccountState;
      Object.assign(state.integrations[0]?.schemas["public"]?.tables[of]?.columns[name] ?? {}, to);
      const context = { ipAddress: "203.0.113.7", userAgent: "Mozilla/5.0" };
      const actor = { type: "user", email: dana };
      state.auditLogs.push({ id: `e-${state.auditLogs.length}`, timestamp: new Date().toISOString(), event, actor, context });
      writeFileSync(file, JSON.stringify(state));
    },
  };
}

const formats = ["human", "json", "markdown", "html", "github"] as const;

const objectOnly = 'Schema configuration of integration a1 "Orders" changed';

/** The changes of a document, with origin and attribution. */
const changesIn = (stdout: string): readonly { readonly origin?: string; readonly attribution?: { readonly actor?: string } }[] => {
  const { steps } = JSON.parse(stdout) as Plan;
  return steps.flatMap(({ changes }) => changes);
};

test.each([
  ["an event about the object", objectOnly],
  ["an event that names her column", 'Column sku of products of integration a1 "Orders" hashed'],
  ["an event that names nothing", "Account changed"],
])("nobody is accused of what one's own rule does that was not applied yet: %s", (_, event) => {
  const { change, write, git, run, documents } = walk();
  change(["products", "sku"], { hashed: true }, event);
  write(keptEmail, ownCity);
  const isNobodyIn = (...args: readonly string[]): void => {
    const made = documents(...args);
    for (const [format, text] of Object.entries(made)) {
      expect(text, `${args.join(" ")} -o ${format}`).toContain("city");
      expect(text, `${args.join(" ")} -o ${format}`).not.toContain("dana");
    }
    expect(changesIn(made.json).map(({ origin }) => origin)).toEqual(["config"]);
  };
  isNobodyIn("plan");
  isNobodyIn("drift");
  git("commit", "--quiet", "--all", "--message=city");
  isNobodyIn("plan");
  isNobodyIn("drift");
  isNobodyIn("ci", "drift", "--no-issue");
  const { code, all } = run("ci", "apply");
  expect(code, all).toBe(0);
  expect(all).toContain("city");
  expect(all).not.toContain("dana");
});

test.each(["plan", "drift"])("%s: an event about the object is said once, and never beside a column", (command) => {
  const { change, write, documents } = walk();
  change(["customers", "email"], { hashed: false }, objectOnly);
  write(keptEmail, ownCity);
  const made = documents(command);
  expect(made.human.match(/Orders was changed by dana@example\.com, 20\d\d-\d\d-\d\d \d\d:\d\d UTC/gu)).toHaveLength(1);
  for (const [format, text] of Object.entries({ ...made, json: "" }))
    for (const line of text.split(/\n|<(?:br|tr|li|p|div|h\d)\b/u))
      if (line.includes("dana")) expect(line, format).not.toMatch(/customers/u);
  const changes = changesIn(made.json);
  expect(changes.map(({ origin, attribution }) => [origin, attribution]).sort()).toEqual([
    ["config", undefined],
    ["drift", undefined],
  ]);
});

test.each(["plan", "drift"])("%s: an event that names the column is said beside this column only", (command) => {
  const { change, write, documents } = walk();
  change(["customers", "email"], { hashed: false }, 'Column email of customers of integration a1 "Orders" un-hashed');
  write(keptEmail, ownCity);
  const made = documents(command);
  expect(made.human).toMatch(/customers\.email[^~]*un-hashed by dana@example\.com, 20\d\d-\d\d-\d\d \d\d:\d\d UTC/u);
  expect(made.human.split("\n").filter((line) => line.includes("city") && line.includes("dana"))).toEqual([]);
  const changes = changesIn(made.json);
  expect(changes.map(({ origin, attribution }) => [origin, attribution?.actor]).sort()).toEqual([
    ["config", undefined],
    ["drift", dana],
  ]);
});

test.each<[what: string, lose: (walk: Walk) => void]>([
  ["there is no git repository", ({ remove }) => remove(".git")],
  ["the recorded commit is forged", ({ git, forge }) => forge(git("rev-parse", "HEAD"), "ab".repeat(20))],
])("if %s, the differences stay, their origin is unknown, and one note says so", (_, lose) => {
  const found = walk();
  found.change(["customers", "email"], { hashed: false }, objectOnly);
  found.write(keptEmail, ownCity);
  lose(found);
  for (const [command, code] of [
    ["plan", 0],
    ["drift", 2],
  ] as const) {
    const { code: exit, stdout } = found.run(command, "-o", "json");
    expect(exit).toBe(code);
    expect(changesIn(stdout).map(({ origin = "unknown" }) => origin)).toEqual(["unknown", "unknown"]);
    const { findings } = JSON.parse(stdout) as { findings: { rule: string; severity: string }[] };
    expect(findings.filter(({ rule }) => rule === "I_BASE_UNREAD")).toEqual([expect.objectContaining({ severity: "info" })]);
  }
});
