// git uses the credentials of the checkout, and never shows them.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnv } from "../../../support/git/env.ts";
import { git } from "../../../support/git/remote.ts";
import { begun, type HttpStore, httpStore } from "./git-store.ts";

const credentials = "x-access-token:canary-job-token";
const header = `AUTHORIZATION: basic ${Buffer.from(credentials).toString("base64")}`;

/** A store whose server requires credentials, and a clone without any. */
async function guarded(): Promise<HttpStore & { readonly folder: string }> {
  const store = await httpStore();
  const folder = store.remote.clone(store.http.url);
  store.http.requireUser(credentials);
  return { ...store, folder };
}

async function expectWorking(store: HttpStore & { readonly folder: string }, env: NodeJS.ProcessEnv = gitEnv): Promise<void> {
  const records = store.open({ folder: store.folder, env });
  expect((await records.read()).bindings.size).toBe(0);
  const run = await begun(records);
  await run.bind("Asset/a", { id: "d-1" });
  await run.release();
  expect((await records.read()).bindings.size).toBe(1);
}

describe("the credentials of the checkout are used, as", () => {
  it("actions/checkout v4 leaves them: a header in the configuration of the clone", async () => {
    const store = await guarded();
    git(store.folder, "config", "--local", `http.${new URL(store.http.url).origin}/.extraheader`, header);
    await expectWorking(store);
  });

  it("actions/checkout v6 leaves them: a header in a file that the clone includes", async () => {
    const store = await guarded();
    const file = join(store.folder, "..", "git-credentials-1.config");
    writeFileSync(file, `[http "${new URL(store.http.url).origin}/"]\n\textraheader = ${header}\n`);
    appendFileSync(join(store.folder, ".git", "config"), `[includeIf "gitdir:${join(store.folder, ".git")}"]\n\tpath = ${file}\n`);
    await expectWorking(store);
  });

  it("a credential helper of the clone", async () => {
    const store = await guarded();
    const [user, password] = credentials.split(":");
    git(store.folder, "config", "--local", "credential.helper", `!f() { echo username=${user}; echo password=${password}; }; f`);
    await expectWorking(store);
  });

  it("a token in the URL of the remote, as in GitLab", async () => {
    const store = await guarded();
    git(store.folder, "remote", "set-url", "origin", store.http.url.replace("http://", `http://${credentials}@`));
    await expectWorking(store);
  });

  it("a URL that the clone replaces", async () => {
    const store = await guarded();
    git(store.folder, "remote", "set-url", "origin", "example:repository");
    const url = new URL(store.http.url);
    git(store.folder, "config", "--local", `url.http://${credentials}@${url.host}${url.pathname}.insteadOf`, "example:repository");
    await expectWorking(store);
  });

  it("a proxy of the clone", async () => {
    const store = await httpStore();
    const { origin, pathname } = new URL(store.http.url);
    // The server takes whole addresses, as a proxy does.
    const folder = store.remote.clone(`http://git.example.com${pathname}`);
    git(folder, "config", "--local", "http.proxy", origin);
    await expectWorking({ ...store, folder });
  });

  it("GIT_CONFIG_COUNT of the job", async () => {
    const store = await guarded();
    const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.extraHeader", GIT_CONFIG_VALUE_0: header };
    await expectWorking(store, { ...gitEnv, ...env });
  });
});

it("reports missing credentials after persist-credentials: false, without a prompt", async () => {
  const store = await guarded();
  const error = await store
    .open({ folder: store.folder })
    .read()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "E_RECORDS_READ", exit: 1 });
  expect(String(error)).toContain("terminal prompts disabled");
});

it("never shows a token that git repeats", async () => {
  const store = await guarded();
  store.http.requireUser("another:user");
  git(store.folder, "remote", "set-url", "origin", store.http.url.replace("http://", `http://${credentials}@`));
  const error = await store
    .open({ folder: store.folder, env: { ...gitEnv, GIT_TRACE: "1", GIT_TRACE_CURL: "1", GIT_CURL_VERBOSE: "1" } })
    .read()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "E_RECORDS_READ" });
  expect(String(error)).not.toContain("canary-job-token");
});

it("reads without permission to write", async () => {
  const store = await httpStore();
  store.http.setFault(({ service }) => (service === "receive-pack" ? 403 : undefined));
  const before = store.http.requests.length;
  const records = store.open({ ttlMs: 6_000 });
  await records.read();
  await records.lease();
  await records.wasApplied("plan-1");
  expect(store.http.requests.slice(before).filter(({ service }) => service === "receive-pack")).toEqual([]);
});

it("reads from the fetch URL, and writes to the push URL", async () => {
  const store = await httpStore();
  const folder = store.remote.clone(store.http.url);
  git(folder, "remote", "set-url", "origin", join(store.remote.bare, "..", "remote.git"));
  git(folder, "remote", "set-url", "--push", "origin", store.http.url);
  const before = store.http.requests.length;
  await store.open({ folder }).read();
  expect(store.http.requests.length).toBe(before);
  const run = await begun(store.open({ folder }));
  await run.take();
  await run.release();
  expect(store.http.requests.slice(before).map(({ service }) => service)).toContain("receive-pack");
});
