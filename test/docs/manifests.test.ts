import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { load } from "../manifests/project-on-disk.ts";

const docs = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
const examples = [...docs.matchAll(/```yaml\n(.*?)```/gsu)].map(([, text = ""]) => text);

describe("docs/manifests.md", () => {
  test("its examples are a valid project", async () => {
    const files = Object.fromEntries(
      examples.map((text) => [text.includes("kind: Config") ? "dimsync.yaml" : `manifests/${/kind: (\w+)/u.exec(text)?.[1]}.yaml`, text]),
    );
    const { problems, resources } = await load(files, { target: "prod" });
    expect(problems).toEqual([]);
    expect(resources.map(({ kind }) => kind).sort()).toEqual(["Asset", "Integration", "RuleSet", "SchemaConfig", "Tag"]);
  });
});
