import { appendFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { appliedPlans } from "../../src/records/applied-plans.ts";
import { compileProgram, start, tempFolder } from "./child.ts";

it("finds a marked plan, and reading creates no file", async () => {
  const folder = await tempFolder();
  expect(await appliedPlans(folder).wasApplied("p1")).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
  await appliedPlans(folder).markApplied("p1", "r1");
  expect(await appliedPlans(folder).wasApplied("p1")).toMatchObject({ planId: "p1", runId: "r1" });
  expect(await appliedPlans(folder).wasApplied("__proto__")).toBeUndefined();
});

it("refuses the second mark with exit 5, naming the first run", async () => {
  const folder = await tempFolder();
  await appliedPlans(folder).markApplied("p1", "r1");
  await expect(appliedPlans(folder).markApplied("p1", "r2")).rejects.toMatchObject({
    code: "E_PLAN_APPLIED",
    exit: 5,
    message: expect.stringContaining("r1"),
  });
});

it("only one of several processes may apply a plan", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `import { appliedPlans } from "./applied-plans.ts"; await appliedPlans(process.argv[2]).markApplied("p1", "r").then(() => console.log("ok"), (error) => console.log(error.code));`,
  );
  const outcomes = await Promise.all([1, 2, 3].map(() => start(program, [folder]).ended));
  expect(outcomes.sort()).toEqual(["E_PLAN_APPLIED\n", "E_PLAN_APPLIED\n", "ok\n"]);
});

it("moves an incomplete last mark away, since its run wrote nothing yet", async () => {
  const folder = await tempFolder();
  await appliedPlans(folder).markApplied("p1", "r1");
  await appendFile(join(folder, ".dimsync", "applied.ndjson"), '{"planId":"p2","ru');
  expect(await appliedPlans(folder).wasApplied("p2")).toBeUndefined();
  await appliedPlans(folder).markApplied("p2", "r2");
  expect(await appliedPlans(folder).wasApplied("p2")).toMatchObject({ runId: "r2" });
  expect(await appliedPlans(folder).wasApplied("p1")).toMatchObject({ runId: "r1" });
});

it("refuses a file that it can't read or write", async () => {
  for (const line of ["garbage\n", '{"plan":1}\n']) {
    const folder = await tempFolder();
    await mkdir(join(folder, ".dimsync"));
    await writeFile(join(folder, ".dimsync", "applied.ndjson"), line);
    await expect(appliedPlans(folder).wasApplied("p1")).rejects.toMatchObject({
      code: "E_APPLIED_FILE",
      exit: 5,
      message: expect.stringContaining("line 1"),
    });
    await expect(appliedPlans(folder).markApplied("p1", "r1")).rejects.toMatchObject({ code: "E_APPLIED_FILE" });
  }
  const folder = await tempFolder();
  await writeFile(join(folder, ".dimsync"), "");
  await expect(appliedPlans(folder).markApplied("p1", "r1")).rejects.toMatchObject({ code: "E_APPLIED_FILE", exit: 5 });
});
