// The source maps of a release lead from its bundles to the sources.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { builtCli } from "../cli/built-cli.ts";
import { writeProject } from "../support/project-folder.ts";
import { isAll } from "../support/sample.ts";

const sourceMaps = (dist: string, folder: string) =>
  spawnSync(process.execPath, ["build/source-maps.mjs", dist, folder], { encoding: "utf8" });

// Each builds all bundles.
test.runIf(isAll)("the source maps of a release lead from its bundles to the sources", () => {
  const [dist, folder] = [dirname(builtCli), writeProject({})];
  expect(sourceMaps(dist, folder)).toMatchObject({ status: 0, stderr: "" });
  const code = readFileSync(join(dist, "index.js"), "utf8");
  const before = code.slice(0, code.indexOf("async function loadProject(")).split("\n");
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, "index.js.map"), "utf8")) as SourceMapPayload);
  const found = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
  expect(found).toMatchObject({ originalSource: expect.stringMatching(/src\/index\.ts$/u) });
});

test.runIf(isAll)("maps of other bundles than those that are published are refused", () => {
  const dist = writeProject({ "bin.cjs": "// another build" });
  expect(sourceMaps(dist, writeProject({}))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("The sources make another bin.cjs than that in "),
  });
});
