import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { cacheFolder } from "../../../../src/core/records/files/cache-folder.ts";

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = (folder: string): number => statSync(folder).mode & 0o777;

describe.skipIf(process.platform === "win32")("a cache", () => {
  test("is kept in a folder that only the user can read and write", () => {
    const HOME = home();
    const folder = cacheFolder("compiled", { HOME });
    expect(folder).toBe(join(HOME, ".cache", "dimsync", "compiled"));
    expect(modeOf(folder ?? "")).toBe(0o700);
    expect(cacheFolder("compiled", { HOME })).toBe(folder);
  });

  test("follows XDG_CACHE_HOME if it is absolute", () => {
    const HOME = home();
    expect(cacheFolder("compiled", { HOME, XDG_CACHE_HOME: join(HOME, "caches") })).toBe(join(HOME, "caches", "dimsync", "compiled"));
    expect(cacheFolder("compiled", { HOME, XDG_CACHE_HOME: "caches" })).toBe(join(HOME, ".cache", "dimsync", "compiled"));
  });

  const folders = [".cache", ".cache/dimsync", ".cache/dimsync/compiled"];
  test.each(folders)("is not kept if others can write %s", (folder) => {
    for (const mode of [0o777, 0o770, 0o707, 0o1777]) {
      const HOME = home();
      mkdirSync(join(HOME, folder), { recursive: true, mode: 0o700 });
      chmodSync(join(HOME, folder), mode);
      expect(cacheFolder("compiled", { HOME })).toBeUndefined();
    }
  });

  test.each(folders)("is not kept if %s is a link", (folder) => {
    const HOME = home();
    mkdirSync(join(HOME, folder, ".."), { recursive: true, mode: 0o700 });
    symlinkSync(home(), join(HOME, folder));
    expect(cacheFolder("compiled", { HOME })).toBeUndefined();
  });

  // Only root can give a folder away.
  test.skipIf(process.getuid?.() !== 0).each(folders)("is not kept if %s belongs to another user", (folder) => {
    const HOME = home();
    mkdirSync(join(HOME, folder), { recursive: true, mode: 0o700 });
    chownSync(join(HOME, folder), 65534, 65534);
    expect(cacheFolder("compiled", { HOME })).toBeUndefined();
  });

  test("is not kept if there is no folder for it", () => {
    expect([{ HOME: "/dev/null" }, { HOME: "" }, {}].map((env) => cacheFolder("compiled", env))).toEqual([undefined, undefined, undefined]);
  });
});
