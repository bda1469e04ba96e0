import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readListLengths, recordListLengths } from "../../src/records/list-lengths.ts";
import { tempFolder } from "./child.ts";

const fileOf = (folder: string): string => join(folder, ".dimsync", "lists.json");

it("is empty without a file", async () => {
  expect(await readListLengths(await tempFolder(), "prod")).toEqual({});
});

it("keeps the longest per list and target, also for names such as __proto__", async () => {
  const folder = await tempFolder();
  await recordListLengths(folder, "prod", { integrations: 12, tags: 3 });
  await recordListLengths(folder, "prod", { integrations: 7, users: 5 });
  await recordListLengths(folder, "__proto__", { integrations: 1 });
  expect(await readListLengths(folder, "prod")).toEqual({ integrations: 12, tags: 3, users: 5 });
  expect(await readListLengths(folder, "__proto__")).toEqual({ integrations: 1 });
  expect(await readListLengths(folder, "constructor")).toEqual({});
});

it("writes nothing without a change", async () => {
  const folder = await tempFolder();
  await recordListLengths(folder, "prod", { integrations: 12 });
  await writeFile(fileOf(folder), ` ${await readFile(fileOf(folder), "utf8")}`);
  await recordListLengths(folder, "prod", { integrations: 12 });
  expect(await readFile(fileOf(folder), "utf8")).toMatch(/^ /u);
});

const deep = `{"prod":{"integrations":3},"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

for (const text of ["", "{", "[]", '"x"', '{"prod":3}', '{"prod":{"integrations":"many"}}', deep])
  it(`treats a file with ${JSON.stringify(text.slice(0, 40))} as empty`, async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, ".dimsync"));
    await writeFile(fileOf(folder), text);
    expect(await readListLengths(folder, "prod")).toEqual({});
  });
