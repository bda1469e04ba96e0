import { readdirSync, readFileSync } from "node:fs";
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
  test("it explains every code that this folder reports, and no other", () => {
    const sources = ["manifests", "yaml"].flatMap((name) => {
      const folder = new URL(`../../src/${name}/`, import.meta.url);
      // Reading a base ref is described in docs/drift.md.
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts") && file !== "git.ts");
      return files.filter((file) => !file.includes("generated")).map((file) => readFileSync(new URL(file, folder), "utf8"));
    });
    const given = sources.flatMap((text) => [...text.matchAll(/"([EW]_[A-Z0-9_]+)"/gu)].map(([, code]) => code));
    const explained = [...docs.matchAll(/`([EW]_[A-Z0-9_]+)`/gu)].map(([, code]) => code);
    expect([...new Set(explained)].sort()).toEqual([...new Set(given)].sort());
  });
});
