import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { resolveAll } from "../../src/core/operations/account.ts";
import { openRecords } from "../../src/core/operations/open-records.ts";
import type { Database } from "../../src/core/records/postgres/connection.ts";
import { migrate } from "../../src/features/controller/database/migrate.ts";
import { type BundleContent, bundleDigest, pack } from "../../src/features/controller/projects/bundle.ts";
import { bundleProjects } from "../../src/features/controller/projects/load-bundle.ts";
import { startEmbeddedDatabase } from "../support/embedded-database.ts";
import { gitEnv } from "../support/git/env.ts";
import { writeProject } from "../support/project-folder.ts";

// The role of the push job writes bundles into the database. Workers check again everything that push checks.

let database: Database;
beforeAll(async () => {
  database = await startEmbeddedDatabase();
  await migrate(database);
  return () => database.close();
});

const config = (records: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod: { baseUrl: "https://prod.example.com", apiKey: { $secret: { env: KEY } }, controller: { every: 5m }${records} }
`;
const postgres = ", records: { postgres: { url: { $secret: { env: PG } }, id: one } }";
const content: BundleContent = {
  ...{ format: 1, source: "data", toolVersion: "0.1.0", configFile: "dimsync.yaml" },
  files: {
    "dimsync.yaml": config(postgres),
    "manifests/tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n",
  },
};

/** Stores what the role of the push job can store. */
const store = (digest: string, packed: Buffer) =>
  database.query(
    `insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, pushed_by, dirty)
      values ($1, 'data', null, '0.1.0', decode($2, 'base64'), 1, 'mallory', false) on conflict (digest) do update set content = excluded.content`,
    [digest, packed.toString("base64")],
  );

/** Stores it, and loads it as a worker with PostgreSQL does. */
async function loaded(digest: string, packed: Buffer): Promise<{ readonly names: readonly string[]; readonly folder: string }> {
  await store(digest, packed);
  const folder = writeProject({});
  const load = bundleProjects({ database, stateFolder: folder, env: {}, isLocal: false });
  try {
    const project = await load({ account: 1, digest, target: "prod", signal: new AbortController().signal });
    return { names: project.resources.map(({ name }) => name), folder };
  } catch (error) {
    expect(existsSync(join(folder, "bundles")) ? readdirSync(join(folder, "bundles")).filter((name) => name.includes(".")) : []).toEqual(
      [],
    );
    throw error;
  }
}
const stored = (changed: object) => {
  const bundle = { ...content, ...changed } as BundleContent;
  return loaded(bundleDigest(bundle), gzipSync(JSON.stringify(bundle)));
};
const withFile = (path: string) => ({ files: { ...content.files, [path]: "x" } });

test("what push stores is loaded", async () => {
  expect((await stored({})).names).toEqual(["pii"]);
});

test.each([
  ["a folder of another bundle (attack 3)", { folder: "/var/lib/dimsync/bundles/aaaa" }, /names a folder of this machine/u],
  [
    "records in git, which the worker would fetch (attack 3)",
    { files: { ...content.files, "dimsync.yaml": config(", records: { git: { ref: refs/dimsync/prod, id: one } }") } },
    /records of target prod are in git/u,
  ],
  ["a path outside the folder", withFile("../dimsync.yaml"), /path "..\/dimsync.yaml" is not allowed/u],
  ["an absolute path", withFile("/etc/cron.d/x"), /is not allowed/u],
  ["a path through the folder itself", withFile("a/./b.yaml"), /is not allowed/u],
  ["a file of git", withFile(".git/config"), /is not allowed/u],
  ["a file of git, whatever its case", withFile("a/.GIT/config"), /is not allowed/u],
  ["a file of dimsync", withFile(".dimsync/records"), /is not allowed/u],
  ["a backslash", withFile("..\\x"), /is not allowed/u],
  ["a file that is not a string", { files: { ...content.files, "a.yaml": { length: 1 } } }, /other types/u],
  ["a config outside the folder", { configFile: "../../etc/dimsync.yaml" }, /is missing/u],
  ["a file of variables outside the folder", { varFiles: ["/run/secrets/db"] }, /is missing/u],
  [
    "an environment variable that is not a variable of manifests",
    { env: { HTTPS_PROXY: "http://proxy.example.com" } },
    /not a variable of manifests/u,
  ],
])("%s is refused", async (_sentence, changed, message) => {
  await expect(stored(changed)).rejects.toThrow(message);
  await expect(stored(changed)).rejects.toMatchObject({ code: "E_BUNDLE" });
});

test("a secret in a file is read only from the directories for secrets", async () => {
  const [secrets, other] = [writeProject({ key: "of the worker" }), writeProject({ key: "of someone else" })];
  symlinkSync(join(other, "key"), join(secrets, "link"));
  const read = async (file: string, env: Readonly<Record<string, string>>) => {
    const text = config(postgres).replace("env: KEY", `file: ${file}`);
    const digest = await inserted({ files: { ...content.files, "dimsync.yaml": text } });
    const load = bundleProjects({ database, stateFolder: writeProject({}), env: {}, isLocal: false });
    const { settings } = await load({ account: 1, digest, target: "prod", signal: new AbortController().signal });
    const [value] = (await resolveAll([settings.apiKey ?? expect.fail()], settings, env, undefined)).values();
    return value?.reveal();
  };
  const refused = { problems: [{ code: "E_PATH_OUTSIDE", message: expect.stringContaining("DIMSYNC_SECRETS_DIR") }] };
  const env = { DIMSYNC_SECRETS_DIR: secrets };
  expect(await read(join(secrets, "key"), env)).toBe("of the worker");
  await expect(read(join(other, "key"), env)).rejects.toMatchObject(refused);
  await expect(read(join(secrets, "link"), env)).rejects.toMatchObject(refused);
  await expect(read("/proc/self/environ", env)).rejects.toMatchObject(refused);
  expect(await read(join(other, "key"), { DIMSYNC_ALLOW_PATH: other })).toBe("of someone else");
});

test("attack 15: a bundle that unpacks to 700 MB is not unpacked, at no try", async () => {
  // As many files in one, which gzip allows.
  const bomb = Buffer.concat(Array<Buffer>(10).fill(gzipSync(Buffer.alloc(70 * 2 ** 20, " "))));
  await store("sha256:bomb", bomb);
  // A query that reads the content is followed by unpacking it.
  let reads = 0;
  const counted: Database = {
    ...database,
    query(text, values) {
      if (/encode\(content/u.test(text)) reads += 1;
      return database.query(text, values);
    },
  };
  const load = bundleProjects({ database: counted, stateFolder: writeProject({}), isLocal: false, env: {} });
  const bundled = { account: 1, digest: "sha256:bomb", target: "prod", signal: new AbortController().signal };
  const before = process.memoryUsage().rss;
  for (const _try of [1, 2, 3]) await expect(load(bundled)).rejects.toThrow(/too large: it has more than 268435456 bytes/u);
  expect(process.memoryUsage().rss - before).toBeLessThan(450 * 2 ** 20);
  expect(reads).toBe(1);
  // What was pushed since then under the same digest is tried.
  await store("sha256:bomb", gzipSync(Buffer.alloc(2 ** 20, " ")));
  await expect(load(bundled)).rejects.toThrow(/not compressed JSON/u);
});

test("push refuses a bundle that a worker would refuse", () => {
  expect(() => pack({ ...content, files: { "a.yaml": " ".repeat(257 * 2 ** 20) } })).toThrow(/too large: it has 2694\d+ bytes/u);
});

test("something else than a bundle is refused", async () => {
  await expect(loaded("sha256:none", Buffer.from("x"))).rejects.toMatchObject({ code: "E_BUNDLE" });
});

/** Stores the bundle with these changes, and returns its digest. */
async function inserted(changed: Partial<BundleContent>): Promise<string> {
  const bundle = { ...content, ...changed };
  const digest = bundleDigest(bundle);
  await store(digest, gzipSync(JSON.stringify(bundle)));
  return digest;
}

const load = (stateFolder: string) => bundleProjects({ database, stateFolder, env: {}, isLocal: true });
const { signal } = new AbortController();

/** The files of a repository whose configuration names a program. */
const repository = (program: string): Readonly<Record<string, string>> => ({
  HEAD: "ref: refs/heads/main\n",
  "objects/x": "",
  "refs/x": "",
  config: `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tsshCommand = ${program}\n[remote "origin"]\n\turl = ssh://example.com/x\n`,
});

const below = (folder: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));

test("a bundle that uses the bare repository in another bundle for its records starts no program", async () => {
  const stateFolder = writeProject({});
  const [program, heard] = [join(stateFolder, "program.sh"), join(stateFolder, "heard.txt")];
  writeFileSync(program, `#!/bin/sh\necho started > ${heard}\nexit 1\n`, { mode: 0o755 });
  const first = await inserted({ files: { "dimsync.yaml": config(""), ...below("repo", repository(program)) } });
  await load(stateFolder)({ digest: first, target: "prod", account: 1, signal });
  const folder = join(stateFolder, "bundles", first.replace("sha256:", "").slice(0, 40), "repo");
  expect(existsSync(join(folder, "HEAD"))).toBe(true);
  const records = ', records: { git: { ref: refs/dimsync/prod, id: "0123456789abcdef" } }';
  const second = await inserted({ files: { "dimsync.yaml": config(records) }, folder });
  const read = async (): Promise<unknown> => {
    const { settings } = await load(stateFolder)({ digest: second, target: "prod", account: 2, signal });
    return (await openRecords(settings, gitEnv)).read();
  };
  await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/^E_(?:RECORDS_READ|BUNDLE)$/u) });
  expect(existsSync(heard)).toBe(false);
});

test("a bundle names no file of the worker, whatever its environment allows", async () => {
  const outside = writeProject({ "token.yaml": "canary-outside: [\n" });
  const files = { "dimsync.yaml": config("").replace("[manifests]", `[${outside}/token.yaml]`) };
  const loaded = async (more: Partial<BundleContent>) =>
    load(writeProject({}))({ digest: await inserted({ files, ...more }), target: "prod", account: 1, signal });
  expect((await loaded({})).problems.map(({ code }) => code)).toEqual(["E_PATH_OUTSIDE"]);
  await expect(loaded({ env: { DIMSYNC_ALLOW_PATH: outside } })).rejects.toMatchObject({ code: "E_BUNDLE" });
});
