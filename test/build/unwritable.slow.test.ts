// The first commands of a visitor, on a machine where a folder cannot be written: a sentence, and no stack.
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../cli/built-cli.ts";

const programs = ["build.mjs", "examples/quickstart/demo.mjs", "examples/controller/demo.mjs"];

test.each(programs)("%s says that the temporary folder does not exist", (path) => {
  const missing = join(tmpdir(), "none");
  const env = { PATH: process.env["PATH"], TMPDIR: missing, TEMP: missing, TMP: missing };
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(repository, path)], { encoding: "utf8", env });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr.trim()).toMatch(/^(?:build|demo): [^\n]*none\b[^\n]*TMPDIR[^\n]*\.$/u);
});

const readOnly = ["-rm", "sh", "-c", 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && exec "$2" "$3"', "sh"];
const isPermitted = spawnSync("unshare", [...readOnly, tmpdir(), process.execPath, "--version"]).status === 0;

test.skipIf(!isPermitted)(
  `build.mjs says that the checkout is read-only${isPermitted ? "" : " (skipped: unshare is not permitted)"}`,
  () => {
    const { status, stderr, stdout } = spawnSync("unshare", [...readOnly, repository, process.execPath, "build.mjs"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.trim()).toMatch(/^build: [^\n]* cannot be written \(EROFS\)\. [^\n]*\.$/u);
  },
);
