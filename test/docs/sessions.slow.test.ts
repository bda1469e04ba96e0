// The commands of the page are run as a reader would run them. UPDATE_GOLDEN=1 writes their output into the page.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { replayed } from "../support/document-session.ts";
import { needs } from "../support/programs.ts";

test.each(["docs/tutorial.md", "docs/recipes.md"])("%s shows what its commands print", needs("bash", "curl"), async (path) => {
  const page = readFileSync(path, "utf8");
  const made = await replayed(page);
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, made);
  expect(readFileSync(path, "utf8")).toBe(made);
});

test("the picture in README.md shows what its commands print", () => {
  const made = execFileSync(process.execPath, ["docs/generate/picture.mjs"], { encoding: "utf8" });
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync("docs/plan-comment-drift.svg", made);
  expect(readFileSync("docs/plan-comment-drift.svg", "utf8")).toBe(made);
});
