// The own repository is in a folder that only the user can write.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { recordsFolder } from "../../../../src/core/records/git/repository.ts";

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

beforeEach(() => vi.stubEnv("TMPDIR", home()));

/** Where records are kept if the folder for caches is not safe. */
const ofSystem = (): string => join(tmpdir(), `dimsync-${process.getuid?.()}-records`);

const modeOf = (folder: string): number => statSync(folder).mode & 0o777;

describe.skipIf(process.platform === "win32")("the folder for clones of records", () => {
  test("is one that only the user can read and write", () => {
    const HOME = home();
    const folder = recordsFolder({ HOME });
    expect(folder).toBe(join(HOME, ".cache", "dimsync", "records"));
    expect(modeOf(folder)).toBe(0o700);
    expect(recordsFolder({ HOME })).toBe(folder);
  });

  test("follows XDG_CACHE_HOME if it is absolute", () => {
    const HOME = home();
    expect(recordsFolder({ HOME, XDG_CACHE_HOME: join(HOME, "caches") })).toBe(join(HOME, "caches", "dimsync", "records"));
    expect(recordsFolder({ HOME, XDG_CACHE_HOME: "caches" })).toBe(join(HOME, ".cache", "dimsync", "records"));
  });

  const folders = [".cache", ".cache/dimsync", ".cache/dimsync/records"];
  test.each(folders)("is the one of the system if others can write %s", (folder) => {
    for (const mode of [0o777, 0o770, 0o707, 0o1777]) {
      const HOME = home();
      mkdirSync(join(HOME, folder), { recursive: true, mode: 0o700 });
      chmodSync(join(HOME, folder), mode);
      expect(recordsFolder({ HOME })).toBe(ofSystem());
    }
  });

  test.each(folders)("is the one of the system if %s is a link", (folder) => {
    const HOME = home();
    mkdirSync(join(HOME, folder, ".."), { recursive: true, mode: 0o700 });
    symlinkSync(home(), join(HOME, folder));
    expect(recordsFolder({ HOME })).toBe(ofSystem());
  });

  // Only root can give a folder away.
  test.skipIf(process.getuid?.() !== 0).each(folders)("is the one of the system if %s belongs to another user", (folder) => {
    const HOME = home();
    mkdirSync(join(HOME, folder), { recursive: true, mode: 0o700 });
    chownSync(join(HOME, folder), 65534, 65534);
    expect(recordsFolder({ HOME })).toBe(ofSystem());
  });

  test.each([{ HOME: "/dev/null" }, { HOME: "" }, {}])("is the one of the system with %j", (env) => {
    expect(recordsFolder(env)).toBe(ofSystem());
    chmodSync(ofSystem(), 0o777);
    expect(() => recordsFolder(env)).toThrow("others can write it");
  });
});
