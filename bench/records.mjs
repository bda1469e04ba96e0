// W8: W1 with the records in a folder, in git (a bare repository on this disk) and, if DIMSYNC_DATABASE_URL is set, in PostgreSQL.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { integrationName } from "./account.mjs";
import { literalProject, shape } from "./literal.mjs";
import { roundRobin, runOnce } from "./measure.mjs";
import { ms, table, times } from "./table.mjs";

const git = (folder, ...args) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });

/** Puts a program named git before the real one, which writes each command line to a file. Returns PATH and a function that counts pushes and reads. */
function countingGit(folder) {
  const bin = join(folder, "bin");
  const log = join(folder, "git.log");
  mkdirSync(bin);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  return {
    path: `${bin}:${process.env.PATH}`,
    counts() {
      const lines = readFileSync(log, "utf8").trim().split("\n");
      rmSync(log);
      const count = (word) => lines.filter((line) => line.split(" ").includes(word)).length;
      return { pushes: count("push"), reads: count("fetch") + count("ls-remote") };
    },
  };
}

export async function w8(bench) {
  await bench.begin({ shape, warm: true });
  const project = (name) => {
    const { folder } = literalProject(bench, name, integrationName);
    return { name, folder, env: { DIMSYNC_API_KEY: bench.key } };
  };
  const dimsync = ({ folder, env }, ...args) => ({ command: [process.execPath, bench.bin, ...args, "-C", folder], env });

  const plain = project("w8-folder");
  const shared = project("w8-git");
  const bare = join(bench.folder, "w8.git");
  git(bench.folder, "init", "--quiet", "--bare", bare);
  git(shared.folder, "init", "--quiet");
  git(shared.folder, "remote", "add", "origin", bare);
  await runOnce(dimsync(shared, "records", "init"));
  const stores = [
    { ...plain, name: "folder" },
    { ...shared, name: "git" },
  ];
  if (process.env.DIMSYNC_DATABASE_URL) {
    const database = project("w8-postgres");
    await runOnce(dimsync(database, "records", "init", "--to", "postgres"));
    stores.push({ ...database, name: "PostgreSQL" });
  }

  const counter = countingGit(bench.folder);
  const used = [];
  for (const args of [
    ["plan", "--detailed-exitcode"],
    ["apply", "--yes"],
  ]) {
    await runOnce({ ...dimsync(shared, ...args), env: { ...shared.env, PATH: counter.path } });
    const { pushes, reads } = counter.counts();
    if (pushes !== 0 || reads > 2) throw new Error(`${args[0]} without changes: ${pushes} pushes, ${reads} reads of the ref`);
    used.push(`${args[0]} ${reads}`);
  }

  const wall = await roundRobin(
    stores.map((store) => ({ name: store.name, ...dimsync(store, "plan", "--detailed-exitcode") })),
    bench.runs,
  );
  const rows = [["W8: W1 with records in", "wall ms", "to folder"]];
  for (const { name } of stores) rows.push([name, ms(wall[name]), name === "folder" ? "" : times(wall[name], wall.folder)]);
  return `${table(rows)}\n\nReads of the ref without changes: ${used.join(", ")}; no push (checked).`;
}
