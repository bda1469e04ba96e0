// Whoever can write the records can forge them. They explain, and never silence a difference or a readable column.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { initGitRecords } from "../../src/core/records/git/index.ts";
import { initPostgresRecords, openDatabase } from "../../src/core/records/postgres/index.ts";
import { type AccountState, startEmbeddedService } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { gitEnv } from "../support/git/env.ts";
import { git, repositoryIn } from "../support/git/remote.ts";
import { postgresOfSuite } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { keyVariable, writeProject } from "../support/project-folder.ts";
import { isAll, randomOf, sampleSeed } from "../support/sample.ts";

const rules = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integrations: { names: [Orders] }
  rules:
    - { id: mail, match: { column: "*email*" }, set: { hashed: true } }
`;
const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, description: of the best }\n";
const column = "/schemas/public/tables/users/columns/email/hashed";
const path = join(".dimsync", "test.records");

const email = ({ integrations }: AccountState) =>
  integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"]?.columns["email"];

/** Other values of one part of a line: emptied and changed. */
function otherValues(value: unknown): readonly unknown[] {
  if (typeof value === "string") return ["", `${value}x`, value.replaceAll(/[0-9a-f]/gu, "0"), "Schemas/Orders", column];
  if (typeof value === "number") return [0, value + 1, 1e9];
  if (typeof value !== "object" || value === null) return [null, true, false];
  if (Array.isArray(value)) return [[], ...value.flatMap((one, index) => otherValues(one).map((other) => value.with(index, other)))];
  const members = Object.entries(value);
  return [
    {},
    ...members.map(([name]) => Object.fromEntries(members.filter(([other]) => other !== name))),
    ...members.flatMap(([name, one]) => otherValues(one).map((other) => ({ ...value, [name]: other }))),
  ];
}

/** The text with each member altered in turn. */
function forgeries(text: string, commit: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const altered = lines.flatMap((line, at) => {
    const list = JSON.parse(line) as readonly unknown[];
    const values = list.flatMap((value, index) => (index === 0 ? [] : otherValues(value).map((other) => list.with(index, other))));
    return [lines.toSpliced(at, 1), ...values.map((one) => lines.with(at, JSON.stringify(one)))];
  });
  const since = "2026-01-01T00:00:00.000Z";
  const added = [
    ["notKept", "Schemas/Orders", column, { wanted: true, live: false, since, times: 9 }],
    ["givenUp", { what: "Schemas/Orders public.users.email", reason: "tidy", at: since }],
    ["givenUp", { what: "Schemas/Orders", reason: "tidy", at: since }],
    ["appliedCommit", { commit, manifestDigest: "sha256:0", runId: "r", at: since }],
    ["bindings", "SchemaConfig/orders", { id: "b27d" }],
    ["covered", "SchemaConfig/orders", "8f1c", "Orders"],
  ].map((line) => [...lines, JSON.stringify(line)]);
  return [[], lines.slice(0, 1), ...altered, ...added].map((all) => all.map((line) => `${line}\n`).join(""));
}

/** Where records are, and how somebody else writes them. */
interface Store {
  /** The member `records` of the target. */
  readonly records: (folder: string) => Promise<object | undefined>;
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  readonly read: (folder: string) => Promise<string>;
  readonly write: (folder: string, text: string) => Promise<void>;
}

const inFolder: Store = {
  records: () => Promise.resolve(undefined),
  read: (folder) => Promise.resolve(readFileSync(join(folder, path), "utf8")),
  write: (folder, text) => Promise.resolve(writeFileSync(join(folder, path), text)),
};

const ref = "refs/dimsync/test";
const bareOf = (folder: string): string => `${folder}.git`;

/** Whoever may push moves the ref to a commit of their own. */
const inGit: Store = {
  async records(folder) {
    git(folder, "init", "--quiet", "--bare", bareOf(folder));
    onTestFinished(() => rmSync(bareOf(folder), { recursive: true, force: true }));
    git(folder, "init", "--quiet");
    git(folder, "remote", "add", "origin", bareOf(folder));
    const options = { target: "test", remote: "origin", ref, ttlMs: 60_000, key: undefined, env: gitEnv, folder };
    return { git: { ref, id: await initGitRecords(options) } };
  },
  env: () => ({ ...gitEnv, RUNNER_TEMP: writeProject({}) }),
  read: (folder) => Promise.resolve(`${git(bareOf(folder), "show", `${ref}:records`)}\n`),
  write(folder, text) {
    const blob = execFileSync("git", ["-C", bareOf(folder), "hash-object", "-w", "--stdin"], { input: text, encoding: "utf8" }).trim();
    const tree = execFileSync("git", ["-C", bareOf(folder), "mktree"], {
      input: `100644 blob ${blob}\trecords\n`,
      encoding: "utf8",
    }).trim();
    git(bareOf(folder), "update-ref", ref, git(bareOf(folder), "commit-tree", tree, "-p", ref, "-m", "tidy"));
    return Promise.resolve();
  },
};

const postgres = postgresOfSuite();
const databases = new Map<string, string>();

/** Whoever may write the table changes the row. */
const inPostgres: Store = {
  async records(folder) {
    const url = await postgres.database();
    databases.set(folder, url);
    const { id } = await initPostgresRecords({ target: "test", url, schema: "dimsync" });
    return { postgres: { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, id } };
  },
  env: (folder) => ({ DIMSYNC_DATABASE_URL: databases.get(folder) ?? "" }),
  read: async (folder) => String((await query(folder, "select content from dimsync.records", []))[0]?.["content"]),
  write: async (folder, text) => void (await query(folder, "update dimsync.records set content = $1, version = version + 1", [text])),
};

async function query(folder: string, text: string, parameters: readonly string[]) {
  const database = openDatabase(databases.get(folder) ?? "");
  try {
    return (await database.query(text, parameters)).rows;
  } finally {
    await database.close();
  }
}

/** Fewer for stores whose every run takes longer: what is read from them is the same text. */
const stores = [
  ["a folder", inFolder, 15],
  ["git", inGit, 8],
  ["PostgreSQL", inPostgres, 8],
] as const;

describe.each(stores)("with records in %s", (where, store, sampled) => {
  const title = "no alteration of them turns a difference into exit 0, or keeps apply from hashing the column";
  test(title, where === "PostgreSQL" ? needs("postgresql") : {}, async () => {
    const service = await startEmbeddedService({});
    onTestFinished(service.close);
    const folder = writeProject({ ".gitignore": ".dimsync/\n", "manifests/orders.yaml": rules, "manifests/tag.yaml": tag });
    const records = await store.records(folder);
    const target = { baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, ...(records === undefined ? {} : { records }) };
    const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: { test: target } };
    writeFileSync(join(folder, "dimsync.yaml"), stringify({ ...config, client: { concurrency: 1, retries: 0 } }));
    const commit = repositoryIn(folder)("rev-parse", "HEAD");
    const env = { [keyVariable]: service.apiKey, ...store.env?.(folder) };
    const run = (...argv: readonly string[]) => runCommand([...argv, "-q"], folder, env);
    const first = await run("apply", "--yes");
    expect(first.code, first.stderr).toBe(0);
    const text = await store.read(folder);
    const [state, copy] = [join(folder, ".dimsync"), writeProject({})];
    if (existsSync(state)) cpSync(state, copy, { recursive: true });
    const all = forgeries(text, commit);
    // What an attacker would write comes last.
    const random = randomOf(sampleSeed);
    const sample = all.filter((_, index) => isAll || index > all.length - 7 || random() < sampled / all.length);
    const silent: string[] = [];
    for (const forged of sample) {
      cpSync(copy, state, { recursive: true });
      await store.write(folder, forged);
      service.mutate((account) => void Object.assign(email(account) ?? {}, { hashed: false }));
      const codes = [(await run("plan", "--detailed-exitcode")).code, (await run("drift")).code];
      const applied = await run("apply", "--yes", "--lock-timeout", "0s");
      const isSilent = codes.includes(0) || (applied.code === 0 && email(service.state())?.hashed !== true);
      if (isSilent) silent.push(`${codes} ${applied.code}: ${forged}`);
    }
    expect(silent).toEqual([]);
  });
});
