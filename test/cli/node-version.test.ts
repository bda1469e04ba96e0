// A Node.js that is too old is refused with the version that is needed.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtCli, emptyFolder } from "./built-cli.ts";

const run = (version: string) => {
  const text = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const folder = emptyFolder({ "version.cjs": text });
  return spawnSync(process.execPath, ["--require", join(folder, "version.cjs"), builtCli, "--version"], { encoding: "utf8" });
};

test.each(["18.20.8", "20.18.3", "14.21.3"])("Node.js %s is refused with a message", (version) => {
  const { status, stdout, stderr } = run(version);
  expect([status, stdout, stderr]).toEqual([1, "", `dimsync needs Node.js 20.19 or later; this is ${version}.\n`]);
});

test.each(["20.19.0", "22.0.0", "24.1.0"])("Node.js %s is accepted", (version) => {
  const { status, stdout, stderr } = run(version);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
});
