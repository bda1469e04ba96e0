// W1 with the records in a folder, in git (a bare repository on this disk) and, if DIMSYNC_DATABASE_URL is set, in PostgreSQL.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { literalProject, shape } from "./literal.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync } from "./project.mjs";
import { mib, table, times, wall } from "./table.mjs";

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

export async function records(bench) {
  await bench.begin({ shape, warm: true });
  const plain = literalProject(bench, "records-folder").folder;
  const shared = literalProject(bench, "records-git").folder;
  const bare = join(bench.folder, "records.git");
  git(bench.folder, "init", "--quiet", "--bare", bare);
  git(shared, "init", "--quiet");
  git(shared, "remote", "add", "origin", bare);
  await runOnce(dimsync(bench, shared, "records", "init"));
  // The first apply records what is kept.
  await runOnce(dimsync(bench, shared, "apply", "--yes"));
  const stores = [
    { name: "folder", folder: plain },
    { name: "git", folder: shared },
  ];
  if (process.env.DIMSYNC_DATABASE_URL) {
    const { folder } = literalProject(bench, "records-postgres");
    await runOnce(dimsync(bench, folder, "records", "init", "--to", "postgres"));
    stores.push({ name: "PostgreSQL", folder });
  }

  const counter = countingGit(bench.folder);
  const used = [];
  for (const args of [
    ["plan", "--detailed-exitcode"],
    ["apply", "--yes"],
  ]) {
    const run = dimsync(bench, shared, ...args);
    await runOnce({ ...run, env: { ...run.env, PATH: counter.path } });
    const { pushes, reads } = counter.counts();
    if (pushes !== 0 || reads > 2) throw new Error(`${args[0]} without changes: ${pushes} pushes, ${reads} reads of the ref`);
    used.push(`${args[0]} ${reads}`);
  }

  const contestants = stores.map(({ name, folder }) => ({ name, ...dimsync(bench, folder, "plan", "--detailed-exitcode") }));
  const walls = await roundRobin(contestants, bench.runs);
  const rows = [["W1 with records in", "wall ms", "to folder", "peak MiB"]];
  for (const contestant of contestants) {
    const own = walls[contestant.name];
    rows.push([contestant.name, wall(own), times(own, walls.folder), mib(await peakMemory(contestant))]);
  }
  return `${table(rows)}\n\nReads of the ref without changes: ${used.join(", ")}; no push (checked).`;
}
