import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { load } from "./project-on-disk.ts";

const docs = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
const examples = [...docs.matchAll(/```yaml\n(.*?)```/gsu)].map(([, text = ""]) => text);

describe("docs/manifests.md", () => {
  test("its examples make a project without a problem", async () => {
    const files = Object.fromEntries(
      examples.map((text) => [text.includes("kind: Config") ? "dimsync.yaml" : `manifests/${/kind: (\w+)/u.exec(text)?.[1]}.yaml`, text]),
    );
    const { problems, resources } = await load(files, { target: "prod" });
    expect(problems).toEqual([]);
    expect(resources.map(({ kind }) => kind).sort()).toEqual(["Asset", "Integration", "RuleSet", "SchemaConfig", "Tag"]);
  });
  test("it explains every code that this folder gives, and no other", () => {
    const folder = new URL("../../src/manifests/", import.meta.url);
    const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes("generated"));
    const given = sources.flatMap((name) =>
      [...readFileSync(new URL(name, folder), "utf8").matchAll(/"([EW]_[A-Z0-9_]+)"/gu)].map(([, code]) => code),
    );
    const explained = [...docs.matchAll(/`([EW]_[A-Z0-9_]+)`/gu)].map(([, code]) => code);
    expect([...new Set(explained)].sort()).toEqual([...new Set(given)].sort());
  });
});
