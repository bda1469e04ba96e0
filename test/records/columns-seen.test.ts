import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readColumnsSeen, recordColumnsSeen } from "../../src/records/columns-seen.ts";
import { tempFolder } from "./child.ts";

const seen = { at: "2026-03-01T09:00:00.000Z", groups: [] };
const deep = `{"prod":${JSON.stringify(seen)},"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

for (const text of ["", "{", "[]", '{"prod":3}', deep])
  it(`treats a file with ${JSON.stringify(text.slice(0, 40))} as absent, and replaces it`, async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, ".dimsync"));
    await writeFile(join(folder, ".dimsync", "columns.json"), text);
    expect(await readColumnsSeen(folder, "prod")).toBeUndefined();
    await recordColumnsSeen(folder, "prod", seen);
    expect(await readColumnsSeen(folder, "prod")).toEqual(seen);
  });
