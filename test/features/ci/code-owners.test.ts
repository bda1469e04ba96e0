import { expect, test } from "vitest";
import { codeOwners } from "../../../src/features/ci/code-owners.ts";

test.each<[string, string, readonly string[]]>([
  ["everything", "* @example/all", ["@example/all"]],
  ["the last line that matches counts", "* @example/all\n*.yaml @dana", ["@dana"]],
  ["a folder at any depth", "manifests/ @dana", ["@dana"]],
  ["a folder from the root", "/deploy/manifests/ dana@example.com", ["dana@example.com"]],
  ["a folder from the root that is elsewhere", "/manifests/ @dana", []],
  ["the name of a folder without a slash", "/deploy @dana @sam", ["@dana", "@sam"]],
  ["a wildcard in a folder is not for its subfolders", "deploy/* @dana", []],
  ["a double wildcard", "deploy/**/shops.yaml @dana", ["@dana"]],
  ["a line without owners takes them away", "* @example/all\n*.yaml", []],
  ["comments", "# deploy @x\n* @dana # the team @sam", ["@dana"]],
  ["words that are not names", "* @dana <script> @sam](x)", ["@dana"]],
  ["a folder by a pattern", "* @all\n/dep* @data", ["@data"]],
  ["a folder by a pattern at any depth", "man* @data", ["@data"]],
  ["a folder by a pattern with a slash at its end", "/dep*/ @data", ["@data"]],
  ["braces are ordinary characters", "* @all\n{deploy,x}/ @data", ["@all"]],
  ["a file that a section of GitLab excludes", "* @all\n[Data]\n*.yaml @data\n!/deploy/**", ["@all"]],
  ["a file that is excluded is not included again", "[Data] @data\n!/deploy/\n*.yaml", []],
  ["a file beside the excluded ones", "[Data]\n*.yaml @data\n!/deploy/generated/**", ["@data"]],
  ["sections of GitLab, with owners of their own", "* @all\n[Data][2] @data\n*.yaml\n^[Docs]\n*.md @docs", ["@all", "@data"]],
])("%s", (_what, text, names) => {
  const file = "deploy/manifests/shops.yaml";
  expect(codeOwners(text, [file])).toEqual(names.length === 0 ? [] : [{ file, names }]);
});
