// Several processes with the records of one folder.
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openBindings } from "../../../../src/core/records/folder/bindings.ts";
import { runs } from "../../../support/sample.ts";
import { compileProgram, start, tempFolder } from "../child.ts";
import { leasedFolder, leaseIn, openAddresses, recordsIn } from "./store.ts";

/** A program's beginning: `records(folder, target)` opens the records. */
const programWithRecords = `
import { join } from "node:path";
import { openFolderRecords } from "./folder/index.ts";
const records = (folder, target) => openFolderRecords({ folder, target, bindingsFile: join(folder, "dimsync.bindings.yaml") });`;

const appender = `${programWithRecords}
  const [folder, target, count, pad] = process.argv.slice(2);
  const run = await records(folder, target).begin({ runId: "r", waitMs: 0 });
  const base = { runId: "r", kind: "Asset", method: "POST", path: "/v1/assets", bodyDigest: "x".repeat(Number(pad)), at: "now" };
  for (let i = 0; i < Number(count); i++) {
    const [id] = await run.intend([{ ...base, address: \`Asset/\${target}\${i}\` }]);
    process.stdout.write(\`\${i}\\n\`);
    if (i % 2 === 0) await run.settle(id, { outcome: "created", id: \`\${target}\${i}\` });
    await run.bind(\`Asset/\${target}\${i}\`, { id: \`\${target}\${i}\` });
  }
  await run.release();`;

it("loses nothing if runs of two targets write at the same time", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(folder, appender);
  await Promise.all([start(program, [folder, "a", "12", "5000"]).ended, start(program, [folder, "b", "12", "5000"]).ended]);
  for (const target of ["a", "b"]) {
    expect(await openAddresses(folder, target)).toEqual(Array.from({ length: 6 }, (_, index) => `Asset/${target}${index * 2 + 1}`));
    expect((await recordsIn(folder, target).read()).bindings.size).toBe(12);
  }
});

const rounds = runs(3, 12);

it("is readable after kill -9 at any moment, and contains every acknowledged intent", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(folder, appender);
  for (let round = 0; round < rounds; round++) {
    const target = `t${round}`;
    const { process: child, ended } = start(program, [folder, target, "100000", "200000"]);
    let seen = "";
    child.stdout?.on("data", (chunk: string) => {
      seen += chunk;
      // At a different moment of the next append in each round.
      if (seen.split("\n").length > 3) setTimeout(() => child.kill("SIGKILL"), round);
    });
    await once(child, "close");
    const acknowledged = (await ended).trimEnd().split("\n").length;
    const open = await openAddresses(folder, target);
    const odd = Array.from({ length: acknowledged }, (_, index) => index).filter((index) => index % 2 === 1);
    expect(open.filter((address) => odd.includes(Number(address.slice(`Asset/${target}`.length))))).toEqual(
      odd.map((index) => `Asset/${target}${index}`),
    );
  }
});

it("lets only one of several processes apply a plan", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `${programWithRecords}
     const run = await records(process.argv[2], process.argv[3]).begin({ runId: "r", waitMs: 20_000 });
     const mark = async () => { await run.markApplied("p1"); await run.take(); };
     await mark().then(() => console.log("ok"), (error) => console.log(error.code));
     await run.release();`,
  );
  const outcomes = await Promise.all(["prod", "prod", "prod"].map((target) => start(program, [folder, target]).ended));
  expect(outcomes.filter((text) => text === "ok\n")).toHaveLength(1);
  expect(outcomes.filter((text) => text !== "ok\n").every((text) => /^E_(?:PLAN_APPLIED|RECORDS_CHANGED)\n$/u.test(text))).toBe(true);
});

it("two processes that write at the same time lose nothing", async () => {
  const folder = await tempFolder();
  const file = join(folder, "b.yaml");
  const program = await compileProgram(
    folder,
    `import { openBindings } from "./folder/bindings.ts"; 
     const [file, target, prefix] = process.argv.slice(2);
     const bindings = openBindings(file, target);
     for (let i = 0; i < 10; i++) await bindings.write(new Map([0, 1, 2].map((j) => [\`Asset/\${prefix}\${i}-\${j}\`, { id: \`\${prefix}\${i}-\${j}\` }])));`,
  );
  await Promise.all(
    [
      ["prod", "a"],
      ["prod", "b"],
      ["dev", "c"],
    ].map((args) => start(program, [file, ...args]).ended),
  );
  expect((await openBindings(file, "prod").read()).size).toBe(60);
  expect((await openBindings(file, "dev").read()).size).toBe(30);
  expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore"]);
});

it("a lease is taken over by exactly one of two processes, twenty times", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `${programWithRecords}
     import { createInterface } from "node:readline";
     // One folder a line, so that both start each race at once, without the start of a process between.
     for await (const folder of createInterface({ input: process.stdin })) {
       const race = async () => (await records(folder, "prod").begin({ runId: String(process.pid), waitMs: 0 })).take();
       process.stdout.write((await race().then(() => "won", (error) => error.code)) + "\\n");
     }
     process.exit();`,
  );
  const racers = [start(program, []), start(program, [])];
  for (let race = 0; race < 20; race++) {
    const stale = await leasedFolder({ pid: 2 ** 30 });
    const answers = racers.map(async ({ process: child }) => String((await once(child.stdout ?? child, "data"))[0]).trim());
    for (const { process: child } of racers) child.stdin?.write(`${stale}\n`);
    expect((await Promise.all(answers)).sort()).toEqual(["E_LOCKED", "won"]);
    expect(racers.map(({ process: child }) => child.pid)).toContain(leaseIn(stale)?.process?.pid);
  }
  for (const { process: child, ended } of racers) {
    child.stdin?.end();
    await ended;
  }
});
