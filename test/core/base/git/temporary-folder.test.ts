// Temporary folders of killed runs are removed, and no others.
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../src/core/base/git/temporary-folder.ts";
import { writeProject } from "../../../support/project-folder.ts";

const aDay = 24 * 3600;

/** A folder for temporary folders, and a function that adds one which was used last so many seconds ago. */
function temporary() {
  const parent = writeProject({});
  vi.stubEnv("TMPDIR", parent);
  const leave = (name: string, seconds: number): void => {
    mkdirSync(join(parent, name, "tree"), { recursive: true });
    writeFileSync(join(parent, name, "tree", "a"), "");
    const at = Date.now() / 1000 - seconds;
    utimesSync(join(parent, name), at, at);
  };
  return { parent, leave };
}

test("folders of the same kind that nobody has used for a day are removed, and nothing else", async () => {
  const { parent, leave } = temporary();
  leave("dimsync-base-old", 1.1 * aDay);
  leave("dimsync-base-new", 0.9 * aDay);
  leave("dimsync-other-old", 2 * aDay);
  leave("elsewhere", 2 * aDay);
  symlinkSync(join(parent, "elsewhere"), join(parent, "dimsync-base-link"));
  writeFileSync(join(parent, "dimsync-base-file"), "");
  utimesSync(join(parent, "dimsync-base-file"), 0, 0);
  const folder = await temporaryFolder("base");
  expect(dirname(folder)).toBe(parent);
  const expected = [basename(folder), "dimsync-base-file", "dimsync-base-link", "dimsync-base-new", "dimsync-other-old", "elsewhere"];
  expect(readdirSync(parent).sort()).toEqual(expected.sort());
  expect(readdirSync(join(parent, "elsewhere"))).toEqual(["tree"]);
});
