import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAppliedCommit, parseListLengths, parseSeenColumns } from "../../src/records/stored-values.ts";
import { readOfTarget, writeOfTarget } from "../../src/records/target-file.ts";
import { tempFolder } from "./child.ts";

const seen = { at: "2026-03-01T09:00:00.000Z", groups: [] };

it("keeps one value for each target, also for names such as __proto__", async () => {
  const folder = await tempFolder();
  expect(await readOfTarget(folder, "lists.json", "prod")).toBeUndefined();
  await writeOfTarget(folder, "lists.json", { target: "prod", value: { integrations: 12 } });
  await writeOfTarget(folder, "lists.json", { target: "__proto__", value: { integrations: 1 } });
  await writeOfTarget(folder, "lists.json", { target: "prod", value: { integrations: 13 } });
  expect(await readOfTarget(folder, "lists.json", "prod")).toEqual({ integrations: 13 });
  expect(await readOfTarget(folder, "lists.json", "__proto__")).toEqual({ integrations: 1 });
  expect(await readOfTarget(folder, "lists.json", "constructor")).toBeUndefined();
});

it("keeps the values of targets that are written at the same time", async () => {
  const folder = await tempFolder();
  const targets = Array.from({ length: 20 }, (_, index) => `target-${index}`);
  await Promise.all(targets.map((target) => writeOfTarget(folder, "lists.json", { target, value: { integrations: 1 } })));
  const kept = await Promise.all(targets.map((target) => readOfTarget(folder, "lists.json", target)));
  expect(kept).toEqual(targets.map(() => ({ integrations: 1 })));
});

const deep = `{"prod":{"integrations":3},"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

for (const text of ["", "{", "[]", '"x"', '{"prod":3}', '{"prod":{"integrations":"many"}}', deep])
  it(`treats a file with ${JSON.stringify(text.slice(0, 40))} as absent, and replaces it`, async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, ".dimsync"));
    await writeFile(join(folder, ".dimsync", "columns.json"), text);
    const value = await readOfTarget(folder, "columns.json", "prod");
    expect([parseListLengths(value), parseSeenColumns(value), parseAppliedCommit(value)]).toEqual([{}, undefined, undefined]);
    await writeOfTarget(folder, "columns.json", { target: "prod", value: seen });
    expect(parseSeenColumns(await readOfTarget(folder, "columns.json", "prod"))).toEqual(seen);
  });

const applied = { commit: "ab".repeat(20), manifestDigest: "sha256:0", runId: "run-1", at: "2026-03-01T09:00:00.000Z" };

for (const commit of ["", "main", "--upload-pack=x", "AB".repeat(20), `${applied.commit}\n`, 3])
  it(`does not use ${JSON.stringify(commit)} as the applied commit`, () => {
    expect(parseAppliedCommit({ ...applied, commit })).toBeUndefined();
    expect(parseAppliedCommit(applied)).toEqual(applied);
  });
