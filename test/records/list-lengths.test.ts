import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readListLengths, recordListLengths } from "../../src/records/list-lengths.ts";
import { tempFolder } from "./child.ts";

const fileOf = (folder: string): string => join(folder, ".dimsync", "lists.json");

it("knows nothing where nothing was kept", async () => {
  expect(await readListLengths(await tempFolder(), "prod")).toEqual({});
});

it("keeps the longest per list and target, names that JavaScript knows included", async () => {
  const folder = await tempFolder();
  await recordListLengths(folder, "prod", { integrations: 12, tags: 3 });
  await recordListLengths(folder, "prod", { integrations: 7, users: 5 });
  await recordListLengths(folder, "__proto__", { integrations: 1 });
  expect(await readListLengths(folder, "prod")).toEqual({ integrations: 12, tags: 3, users: 5 });
  expect(await readListLengths(folder, "__proto__")).toEqual({ integrations: 1 });
  expect(await readListLengths(folder, "constructor")).toEqual({});
});

it("writes nothing where nothing is new", async () => {
  const folder = await tempFolder();
  await recordListLengths(folder, "prod", { integrations: 12 });
  await writeFile(fileOf(folder), ` ${await readFile(fileOf(folder), "utf8")}`);
  await recordListLengths(folder, "prod", { integrations: 12 });
  expect(await readFile(fileOf(folder), "utf8")).toMatch(/^ /u);
});

for (const text of ["", "{", "[]", '"x"', '{"prod":3}', '{"prod":{"integrations":"many"}}'])
  it(`takes a file that holds ${JSON.stringify(text)} for nothing known`, async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, ".dimsync"));
    await writeFile(fileOf(folder), text);
    expect(await readListLengths(folder, "prod")).toEqual({});
  });
