// Records are shared over every transport of git.
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { initGitRecords, openGitRecords } from "../../../../src/core/records/git/index.ts";
import type { Records } from "../../../../src/core/records/records.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { gitHttp } from "../../../support/git/http.ts";
import { type GitRemote, git, gitRemote } from "../../../support/git/remote.ts";
import { sshServer } from "../../../support/git/ssh-server.ts";
import { needs } from "../../../support/programs.ts";
import { sampleOf } from "../../../support/sample.ts";
import { intentOf } from "../suite.ts";
import { begun, ref } from "./git-store.ts";

const options = { target: "prod", remote: "origin", ref, ttlMs: 45_000, key: "digest-key", env: gitEnv };

interface Reached {
  readonly url: string;
  /** core.sshCommand of the clones. */
  readonly sshCommand?: string;
}

const transports: Readonly<Record<"a path" | "HTTP" | "SSH", (bare: string) => Promise<Reached>>> = {
  "a path": async (bare) => ({ url: bare }),
  HTTP: async (bare) => {
    const http = await gitHttp(bare);
    onTestFinished(() => http.close());
    return { url: http.url };
  },
  SSH: async (bare) => {
    const server = await sshServer();
    return { url: server.urlOf(bare), sshCommand: server.command };
  },
};

function clone(remote: GitRemote, { url, sshCommand }: Reached): string {
  const folder = remote.clone(url);
  if (sshCommand !== undefined) git(folder, "config", "--local", "core.sshCommand", sshCommand);
  return folder;
}

/**
 * Two runs on two machines: the second one finds the lease of the first one, and later its records.
 */
async function expectShared(open: () => Records): Promise<void> {
  const first = await begun(open());
  const [entryId = ""] = await first.intend([intentOf("Asset/a", { kind: "Asset" })]);
  first.fence();
  await expect(open().begin({ runId: "run-2", waitMs: 0 })).rejects.toMatchObject({ code: "E_LOCKED", exit: 6 });
  await first.settle(entryId, { outcome: "answered", id: "d-1" });
  await first.bind("Asset/a", { id: "d-1" });
  await first.settle(entryId, { outcome: "created", id: "d-1" });
  await first.release();
  const second = await begun(open(), "run-2");
  expect([...second.state().bindings]).toEqual([["Asset/a", { id: "d-1" }]]);
  await second.intend([intentOf("Asset/b", { kind: "Asset" })]);
  await second.release();
  const { open: unknown, created } = await open().read();
  expect([unknown.map(({ address }) => address), [...created.keys()]]).toEqual([["Asset/b"], ["Asset/a"]]);
}

// The suite for all stores uses SHA-1 and a path, and the tests with faults SHA-1 and HTTP.
const pairs = [
  ["SSH", "sha1"],
  ["HTTP", "sha256"],
  ["a path", "sha256"],
] as const;
for (const [name, format] of sampleOf(pairs, {
  name: "transports",
  kindOf: ([transport, hash]) => (transport === "SSH" ? transport : hash),
}))
  it(`shares the records over ${name} in a repository with ${format} objects`, name === "SSH" ? needs("sshd") : {}, async () => {
    const remote = gitRemote(format);
    const reached = await transports[name](remote.bare);
    const id = await initGitRecords({ ...options, folder: clone(remote, reached) });
    const open = (): Records => openGitRecords({ ...options, id, folder: clone(remote, reached) });
    await expectShared(open);
    const folder = clone(remote, reached);
    await openGitRecords({ ...options, id, folder }).read();
    expect(remote.tip(ref)).toHaveLength(format === "sha1" ? 40 : 64);
    git(remote.bare, "update-ref", ref, `${remote.tip(ref)}~1`);
    await expect(openGitRecords({ ...options, id, folder }).read()).rejects.toMatchObject({ code: "E_RECORDS_GONE", exit: 1 });
  });

describe("over SSH", needs("sshd"), () => {
  async function overSsh() {
    const remote = gitRemote();
    const server = await sshServer();
    const url = server.urlOf(remote.bare);
    const id = await initGitRecords({ ...options, folder: clone(remote, { url, sshCommand: server.command }) });
    const open = (sshCommand: string): Records => openGitRecords({ ...options, id, folder: clone(remote, { url, sshCommand }) });
    return { remote, server, url, id, open };
  }

  it("GIT_SSH_COMMAND of the job is used", async () => {
    const { remote, server, url, id } = await overSsh();
    const env = { ...gitEnv, GIT_SSH_COMMAND: server.command };
    const records = openGitRecords({ ...options, id, env, folder: remote.clone(url) });
    const run = await begun(records);
    await run.take();
    await run.release();
    expect(await records.lease()).toBeUndefined();
  });

  it("a key that may only read can plan, and apply is refused with the message of the server", async () => {
    const { remote, server, open } = await overSsh();
    const before = remote.tip(ref);
    const records = open(server.readOnlyCommand);
    expect((await records.read()).open).toEqual([]);
    const run = await begun(records);
    const error = await run.intend([intentOf("Asset/a")]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_RECORDS_REFUSED", exit: 4 });
    expect(String(error)).toContain("marked as read only");
    expect(() => run.fence()).toThrow(/cannot be written/u);
    await run.release();
    expect(remote.tip(ref)).toBe(before);
  });

  it.each(["strangerCommand", "unknownHostCommand"] as const)("there is no prompt with %s", async (command) => {
    const { server, open } = await overSsh();
    const error = await open(server[command])
      .read()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_RECORDS_READ", exit: 1 });
    expect(String(error)).toContain(command === "strangerCommand" ? "Permission denied (publickey)" : "Host key verification failed");
  });

  it("a repository that does not exist is an error", async () => {
    const { remote, server, id } = await overSsh();
    const folder = clone(remote, { url: server.urlOf(join(remote.bare, "nowhere")), sshCommand: server.command });
    await expect(openGitRecords({ ...options, id, folder }).read()).rejects.toMatchObject({ code: "E_RECORDS_READ", exit: 1 });
  });
});
