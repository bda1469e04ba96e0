// The manifests of the documents are a valid project.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { guardNames } from "../../src/core/base/model/findings.ts";
import { load } from "../core/manifests/project-on-disk.ts";

const examplesOf = (page: string): readonly string[] =>
  [...readFileSync(`docs/${page}`, "utf8").matchAll(/```yaml\n(.*?)```/gsu)].map(([, text = ""]) => text);

test("the manifests of docs/manifests.md and docs/schema-config.md are a valid project", async () => {
  const examples = [...examplesOf("manifests.md"), ...examplesOf("schema-config.md")];
  const files = Object.fromEntries(
    examples.map((text) => [text.includes("kind: Config") ? "dimsync.yaml" : `manifests/${/kind: (\w+)/u.exec(text)?.[1]}.yaml`, text]),
  );
  const { problems, manifests } = await load(files, { target: "prod" });
  expect(problems).toEqual([]);
  expect(manifests.map(({ kind }) => kind).sort()).toEqual(["Asset", "Integration", "RuleSet", "SchemaConfig", "Tag"]);
});

test("docs/manifests.md explains every guard", () => {
  const page = readFileSync("docs/manifests.md", "utf8");
  expect(guardNames.filter((name) => !page.includes(`\n| \`${name}\``))).toEqual([]);
});
