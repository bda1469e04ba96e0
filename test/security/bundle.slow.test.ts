import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRecords } from "../../src/core/operations/open-records.ts";
import type { Database } from "../../src/core/records/postgres/connection.ts";
import { migrate } from "../../src/features/controller/database/migrate.ts";
import { type BundleContent, bundleDigest } from "../../src/features/controller/projects/bundle.ts";
import { bundleProjects } from "../../src/features/controller/projects/load-bundle.ts";
import { startEmbeddedDatabase } from "../support/embedded-database.ts";
import { gitEnv } from "../support/git/env.ts";
import { writeProject } from "../support/project-folder.ts";

// What whoever has the database role of the job that pushes can try: it can insert any bundle.

let database: Database;
beforeAll(async () => {
  database = await startEmbeddedDatabase();
  await migrate(database);
});
afterAll(() => database.close());

/** Inserts a bundle with these files, and returns its digest. */
async function inserted(files: BundleContent["files"], more: Partial<BundleContent> = {}): Promise<string> {
  const content: BundleContent = { format: 1, source: "example/config", toolVersion: "0.1.0", configFile: "dimsync.yaml", files, ...more };
  const digest = bundleDigest(content);
  await database.query(
    `insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, pushed_by, dirty)
      values ($1, 'example/config', null, '0.1.0', decode($2, 'base64'), 1, 'mallory', false)`,
    [digest, gzipSync(JSON.stringify(content)).toString("base64")],
  );
  return digest;
}

const config = (parts = "", records = ""): string =>
  `apiVersion: dimsync/v1\nkind: Config\n${parts}targets:\n  prod: { baseUrl: "https://prod.example.com", apiKey: { $secret: { env: KEY } }, controller: { every: 5m }${records} }\n`;

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
  const first = await inserted({ "dimsync.yaml": config(), ...below("repo", repository(program)) });
  await load(stateFolder)({ digest: first, target: "prod", account: 1, signal });
  const folder = join(stateFolder, "bundles", first.replace("sha256:", "").slice(0, 40), "repo");
  expect(existsSync(join(folder, "HEAD"))).toBe(true);
  const records = ', records: { git: { ref: refs/dimsync/prod, id: "0123456789abcdef" } }';
  const second = await inserted({ "dimsync.yaml": config("", records) }, { folder });
  const read = async (): Promise<unknown> => {
    const { settings } = await load(stateFolder)({ digest: second, target: "prod", account: 2, signal });
    return (await openRecords(settings, gitEnv)).read();
  };
  await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/^E_(?:RECORDS_READ|BUNDLE)$/u) });
  expect(existsSync(heard)).toBe(false);
});

test.each([".git/config", "sub/.GIT/HEAD", ".dimsync/journal.ndjson"])("a bundle with the file %s is refused", async (path) => {
  const digest = await inserted({ "dimsync.yaml": config(), [path]: "" });
  const loaded = load(writeProject({}))({ digest, target: "prod", account: 1, signal });
  await expect(loaded).rejects.toMatchObject({ code: "E_BUNDLE", message: expect.stringContaining(path) });
});

test("a bundle names no file of the worker, whatever its environment allows", async () => {
  const outside = writeProject({ "token.yaml": "canary-outside: [\n" });
  const files = { "dimsync.yaml": config(`manifests: [${outside}/token.yaml]\n`) };
  const loaded = async (more: Partial<BundleContent>) =>
    load(writeProject({}))({ digest: await inserted(files, more), target: "prod", account: 1, signal });
  expect((await loaded({})).problems.map(({ code }) => code)).toEqual(["E_PATH_OUTSIDE"]);
  await expect(loaded({ env: { DIMSYNC_ALLOW_PATH: outside } })).rejects.toMatchObject({ code: "E_BUNDLE" });
});
