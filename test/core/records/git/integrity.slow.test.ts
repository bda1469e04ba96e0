// Records that were deleted, moved back, forged or damaged are refused, and nothing is created.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Records } from "../../../../src/core/records/records.ts";
import { git, gitRemote } from "../../../support/git/remote.ts";
import { intentOf } from "../suite.ts";
import { begun, diskStore, ref, rewrite, writeText } from "./git-store.ts";

type DiskStore = Awaited<ReturnType<typeof diskStore>>;

/** The remote of a store that is not empty, by its key: written once, and removed after all tests. */
const templates = new Map<string | undefined, string>();

/** A store that is not empty. */
async function used(key?: string): Promise<DiskStore> {
  const store = await diskStore({ key });
  const template = templates.get(key);
  if (template !== undefined) {
    rmSync(store.remote.bare, { recursive: true });
    cpSync(template, store.remote.bare, { recursive: true });
    return store;
  }
  const run = await begun(store.open());
  const [entryId = ""] = await run.intend([intentOf("Asset/a")]);
  await run.settle(entryId, { outcome: "created", id: "d-1" });
  await run.bind("Asset/a", { id: "d-1" });
  await run.release();
  const made = mkdtempSync(join(tmpdir(), "template-"));
  cpSync(store.remote.bare, made, { recursive: true });
  templates.set(key, made);
  return store;
}

const head = '["dimsync records",1,{"id":"","target":"prod"}]\n';

async function expectRefused(records: Records, code: string, words: string): Promise<void> {
  for (const read of [records.read, records.lease, () => records.wasApplied("p"), () => records.begin({ runId: "r", waitMs: 0 })]) {
    const error = await read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code, exit: 1 });
    expect(String(error)).toContain(words);
  }
}

describe("records are refused, and nothing is created, if", () => {
  it("the ref was deleted", async () => {
    const store = await used();
    const known = store.open();
    await known.read();
    git(store.remote.bare, "update-ref", "-d", ref);
    await expectRefused(store.open(), "E_RECORDS_GONE", "the ref does not exist");
    await expect(known.read()).rejects.toMatchObject({ code: "E_RECORDS_GONE" });
    await expect(known.begin({ runId: "r", waitMs: 0 })).rejects.toMatchObject({ code: "E_RECORDS_GONE" });
  });

  it("its text has 65 MiB", async () => {
    const store = await used();
    rewrite(store, (folder) => writeText(folder, "records", "x".repeat(65 * 1024 * 1024)));
    await expectRefused(store.open(), "E_RECORDS_READ", "a file of the commit has more than 67108864 bytes");
  });

  it("it has no text", async () => {
    const store = await used();
    rewrite(store, (folder) => git(folder, "rm", "--quiet", "records"));
    await expectRefused(store.open(), "E_RECORDS_READ", "has no file records");
  });

  it("the ref was deleted during a run", async () => {
    const store = await used();
    const run = await begun(store.open());
    await run.intend([intentOf("Asset/b")]);
    git(store.remote.bare, "update-ref", "-d", ref);
    const error = await run.intend([intentOf("Asset/c")]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_RECORDS_GONE", exit: 1 });
    expect(() => run.fence()).toThrow("no longer exist");
    expect(store.remote.tip(ref)).toBeUndefined();
  });

  it("the ref was moved back since this machine read it", async () => {
    const store = await used();
    const folder = store.remote.clone();
    await store.open({ folder }).read();
    git(store.remote.bare, "update-ref", ref, `${store.remote.tip(ref)}~1`);
    await expectRefused(store.open({ folder }), "E_RECORDS_GONE", "moved back");
  });

  it("it is another store", async () => {
    const store = await used();
    await expectRefused(store.open({ id: "another" }), "E_RECORDS_GONE", "and dimsync.yaml names another");
  });

  it("a commit was made without the key", async () => {
    const store = await used("key");
    const sealed = store.open();
    await sealed.read();
    rewrite(store, () => undefined);
    await expectRefused(store.open(), "E_RECORDS_UNSEALED", "its seal does not match");
  });

  it("a commit was made with another key", async () => {
    const store = await used("key");
    await expectRefused(store.open({ key: "other" }), "E_RECORDS_UNSEALED", "its seal does not match");
  });

  it("there is no seal, and DIMSYNC_DIGEST_KEY is set", async () => {
    const store = await used();
    await expectRefused(store.open({ key: "key" }), "E_RECORDS_UNSEALED", "it has no seal");
  });

  it.each([
    ["a newer format", '["dimsync records",2,{}]\n', "its format is 2"],
    ["another member", `${head}["other"]\n`, 'line 2 is "other"'],
    ["a line that is not JSON", `${head}not json\n`, "line 2 is not valid JSON"],
    ["a binding without an id", `${head}["bindings","Asset/a",{}]\n`, "line 2: nothing must be a string"],
    ["a line that is not a list", `${head}{}`, "line 2 is not a JSON list"],
    ["something else", "x", "line 1 is not valid JSON"],
  ])("its text has %s", async (_, text, words) => {
    const store = await used();
    rewrite(store, (folder) => writeText(folder, "records", text));
    await expectRefused(store.open(), "E_RECORDS_READ", words);
  });

  it("the remote can't be reached", async () => {
    const store = await used();
    const folder = store.remote.clone(join(store.remote.bare, "nowhere"));
    await expectRefused(store.open({ folder }), "E_RECORDS_READ", "does not appear to be a git repository");
  });

  it("the folder is in no repository", async () => {
    const store = await used();
    const folder = join(store.remote.bare, "..", "plain");
    mkdirSync(folder);
    await expectRefused(store.open({ folder }), "E_RECORDS_READ", "not a git repository");
  });
});

it("refuses to write to sealed records without the key", async () => {
  const store = await used("key");
  const before = store.remote.tip(ref);
  const run = await begun(store.open({ key: undefined }));
  await expect(run.take()).rejects.toMatchObject({ code: "E_DIGEST_KEY", exit: 1 });
  await run.release();
  expect(store.remote.tip(ref)).toBe(before);
  expect((await store.open({ key: undefined }).read()).bindings.size).toBe(1);
});

it("does not change the user's clone", async () => {
  const store = await used();
  const folder = store.remote.clone();
  const refs = git(folder, "for-each-ref");
  await store.open({ folder }).read();
  const run = await begun(store.open({ folder }));
  await run.take();
  await run.release();
  expect(git(folder, "rev-parse", "--is-shallow-repository")).toBe("false");
  expect(git(folder, "for-each-ref")).toBe(refs);
  expect(git(folder, "status", "--porcelain")).toBe("");
  expect(existsSync(join(folder, ".git", "shallow"))).toBe(false);
  expect(existsSync(join(folder, ".dimsync", "records.git"))).toBe(false);
});

it("works from a shallow clone", async () => {
  const store = await used();
  const folder = join(store.remote.clone(), "..", "shallow");
  git(store.remote.bare, "clone", "--quiet", "--depth=1", `file://${store.remote.bare}`, folder);
  const run = await begun(store.open({ folder }));
  await run.bind("Asset/b", { id: "d-2" });
  await run.release();
  expect([...(await store.open({ folder }).read()).bindings.keys()]).toEqual(["Asset/a", "Asset/b"]);
});

/** Where the machine of a clone keeps its copies of records. */
const keptBy = (folder: string): string => join(`${folder}-temp`, "dimsync", "records");

it("removes repositories that killed processes have left incomplete, but not those of processes that may still run", async () => {
  const { open, remote } = await diskStore();
  const folder = remote.clone();
  const [abandoned, recent] = ["incomplete-abc123", "incomplete-def456"].map((name) => join(keptBy(folder), name)) as [string, string];
  for (const path of [abandoned, recent]) mkdirSync(path, { recursive: true });
  chmodSync(keptBy(folder), 0o700);
  const anHourAgo = Date.now() / 1000 - 3600;
  utimesSync(abandoned, anHourAgo, anHourAgo);
  await open({ folder }).read();
  expect([existsSync(abandoned), existsSync(recent), readdirSync(keptBy(folder)).filter((name) => name.endsWith(".git")).length]).toEqual([
    false,
    true,
    1,
  ]);
});

it("writes the configuration of its own repository before each use", async () => {
  const store = await used();
  const folder = store.remote.clone();
  await store.open({ folder }).read();
  const [name = ""] = readdirSync(keptBy(folder));
  const config = join(keptBy(folder), name, "config");
  const before = readFileSync(config, "utf8");
  const heard = join(folder, "..", "heard");
  writeFileSync(config, `${before}[url "ext::touch ${heard} "]\n\tinsteadOf = ${store.remote.bare}\n[protocol "ext"]\n\tallow = always\n`);
  expect((await store.open({ folder }).read()).bindings.size).toBe(1);
  expect([readFileSync(config, "utf8"), existsSync(heard)]).toEqual([before, false]);
});

it("refuses a folder for its repository that others can write", async () => {
  const store = await used();
  const folder = store.remote.clone();
  mkdirSync(keptBy(folder), { recursive: true });
  chmodSync(keptBy(folder), 0o777);
  const error = await store
    .open({ folder })
    .read()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "E_RECORDS_READ", message: expect.stringContaining("XDG_CACHE_HOME") });
});

describe("the checkout is found in", () => {
  it("a linked worktree", async () => {
    const store = await used();
    const worktree = join(store.remote.clone(), "..", "worktree");
    git(store.remote.clone(), "worktree", "add", "--quiet", "--detach", worktree);
    expect((await store.open({ folder: worktree }).read()).bindings.size).toBe(1);
  });

  it("a submodule", async () => {
    const store = await used();
    const top = gitRemote().clone();
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", store.remote.bare, "sub");
    expect((await store.open({ folder: join(top, "sub") }).read()).bindings.size).toBe(1);
  });

  it("a subfolder of a monorepo that looks like a bare repository", async () => {
    const store = await used();
    const folder = join(store.remote.clone(), "team");
    for (const name of ["objects", "refs"]) mkdirSync(join(folder, name), { recursive: true });
    for (const [name, text] of [
      ["HEAD", "ref: refs/heads/main\n"],
      ["config", "[core]\n\tbare = true\n"],
    ] as const)
      writeFileSync(join(folder, name), text);
    expect((await store.open({ folder }).read()).bindings.size).toBe(1);
  });
});
