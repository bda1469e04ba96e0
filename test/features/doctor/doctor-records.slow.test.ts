// doctor finds what is wrong with the records, and writes nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DoctorReport } from "../../../src/features/doctor/doctor.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitHttp } from "../../support/git/http.ts";
import { git, gitRemote } from "../../support/git/remote.ts";
import { pgbouncerOfSuite, postgresOfSuite } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";

const config = `apiVersion: dimsync/v1
kind: Config
targets:
  prod: { baseUrl: "embedded:.dimsync/account.json" }
`;

/** A project in a clone whose records are in the store. */
async function projectIn(store: string, more: Readonly<Record<string, string>> = {}) {
  const remote = gitRemote();
  const folder = remote.clone();
  const env = { ...gitEnv, ...more };
  writeFileSync(join(folder, "dimsync.yaml"), config);
  if (store !== "folder") {
    const { code, stderr } = await runCommand(["records", "init", "--to", store], folder, env);
    expect(code, stderr).toBe(0);
  }
  const edit = (from: string | RegExp, to: string): void => {
    const file = join(folder, "dimsync.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  };
  /** The checks of the store as lines, and the exit code. */
  const doctor = async (variables: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await runCommand(["doctor", "-o", "json"], folder, { ...env, ...variables });
    expect(stdout, stderr).not.toBe("");
    const { checks } = JSON.parse(stdout) as DoctorReport;
    const lines = checks
      .filter(({ check }) => check.startsWith("records"))
      .map(({ check, state, found, advice }) => `${state} ${check}: ${found}${advice === undefined ? "" : ` ${advice}`}`);
    return [`exit ${code}`, ...lines];
  };
  return { remote, folder, doctor, edit };
}

const like = (...parts: readonly string[]): string => expect.stringMatching(new RegExp(`^${parts.join(".*")}`, "u")) as unknown as string;

describe("files", () => {
  test("are fine on a machine, and not in CI", async () => {
    const { doctor } = await projectIn("folder");
    expect(await doctor()).toEqual(["exit 0", "ok records: Files on this machine. Other machines do not see them."]);
    expect((await doctor({ GITHUB_ACTIONS: "true" }))[2]).toEqual(like("warn records: ", "dimsync records migrate --to git"));
  });
});

describe("git", () => {
  test("records that can be read and written, and nothing is written", async () => {
    const { doctor, remote } = await projectIn("git");
    const tip = remote.tip("refs/dimsync/prod");
    expect(await doctor()).toEqual(["exit 0", like("ok records: refs/dimsync/prod was read at [0-9a-f]{12}, and has the id")]);
    expect(remote.tip("refs/dimsync/prod")).toBe(tip);
  });

  test("records that are missing, foreign or unreachable are one failed check", async () => {
    const { doctor, remote, folder, edit } = await projectIn("git");
    edit(/\bid: "?[0-9a-f]{32}"?/u, "id: abc");
    expect(await doctor()).toEqual(["exit 1", like("fail records: ", "abc")]);
    git(remote.bare, "update-ref", "-d", "refs/dimsync/prod");
    expect(await doctor()).toEqual(["exit 1", like("fail records: ", "dimsync records restore FILE")]);
    git(folder, "remote", "set-url", "origin", "/nonexistent/remote.git");
    expect(await doctor()).toEqual(["exit 1", like("fail records: ", "the credentials of this machine")]);
  });

  test("a seal is checked with the key, and without one apply is said not to work", async () => {
    const { doctor } = await projectIn("git", { DIMSYNC_DIGEST_KEY: "k" });
    expect(await doctor()).toHaveLength(2);
    expect((await doctor({ DIMSYNC_DIGEST_KEY: "" }))[2]).toEqual(like("warn records: ", "set DIMSYNC_DIGEST_KEY"));
    expect(await doctor({ DIMSYNC_DIGEST_KEY: "other" })).toEqual(["exit 1", like("fail records: ", "its seal does not match")]);
  });

  test("a token that may only read, and a ref that the server hides from those who push", async () => {
    const { doctor, remote, folder } = await projectIn("git");
    const http = await gitHttp(remote.bare);
    onTestFinished(() => http.close());
    http.requireUser("writer:token");
    git(folder, "remote", "set-url", "--push", "origin", http.url);
    expect((await doctor()).slice(2)).toEqual([
      like("warn records: A dry run of a push to refs/dimsync/prod was refused: ", "contents: write"),
    ]);
    git(folder, "remote", "set-url", "--push", "origin", remote.bare);
    git(remote.bare, "config", "receive.hideRefs", "refs/dimsync");
    expect((await doctor()).slice(2)).toEqual([like("warn records: The server hides ", "--to git:refs/heads/dimsync/prod")]);
  });
});

describe("PostgreSQL", needs("postgresql", "pgbouncer"), () => {
  const postgres = postgresOfSuite();
  const bouncer = pgbouncerOfSuite(postgres);
  test("records that can be read and written, also through a pooler in transaction mode", async () => {
    const url = await postgres.database();
    const { doctor } = await projectIn("postgres", { DIMSYNC_DATABASE_URL: url });
    expect(await doctor()).toEqual([
      "exit 0",
      like("ok records: The schema dimsync in PostgreSQL \\d+\\.\\d+ was read at version 0, and has the id"),
    ]);
    expect(await doctor({ DIMSYNC_DATABASE_URL: bouncer.through(url) })).toHaveLength(2);
  });

  test("each problem of the server is a check of its own that says what to do", async () => {
    const url = await postgres.database();
    const { doctor, edit } = await projectIn("postgres", { DIMSYNC_DATABASE_URL: url });
    const name = new URL(url).pathname.slice(1);
    postgres.sql(
      url,
      `create role reader login; grant usage on schema dimsync to reader; grant select on all tables in schema dimsync to reader`,
    );
    postgres.sql(url, `alter database ${name} set synchronous_commit = off`);
    const reader = await doctor({ DIMSYNC_DATABASE_URL: url.replace("postgres@", "reader@") });
    expect(reader[0]).toBe("exit 0");
    expect(reader[2]).toEqual(like("warn records: ", "synchronous_commit = off"));
    expect(reader[3]).toEqual(like("warn records: The role reader lacks insert on records, ", "grant select, insert"));
    postgres.sql(url, `alter role reader set default_transaction_read_only = on`);
    expect((await doctor({ DIMSYNC_DATABASE_URL: url.replace("postgres@", "reader@") }))[3]).toEqual(
      like("warn records: This server only accepts reads."),
    );
    edit(/\bid: "?[0-9a-f]{32}"?/u, "id: abc");
    expect(await doctor()).toEqual(["exit 1", like("fail records: ", "abc")]);
    expect(await doctor({ DIMSYNC_DATABASE_URL: "postgres://127.0.0.1:1/x" })).toEqual([
      "exit 1",
      like("fail records: ", "the connection was refused"),
    ]);
  });
});
