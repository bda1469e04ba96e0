// The schemas describe every property, under the addresses that editors use.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isObject } from "../../../../src/core/base/model/json/json.ts";
import { manifestKinds } from "../../../../src/core/kinds/index.ts";
import { schemaNames, schemaText } from "../../../../src/core/manifests/schema/lookup.ts";

type Schema = Readonly<Record<string, unknown>>;
const read = (name: string): Schema => JSON.parse(readFileSync(fileOf(name), "utf8"));
const fileOf = (name: string) => new URL(`../../../../schema/${name}.schema.json`, import.meta.url);
const kinds = Object.fromEntries(manifestKinds.map(({ name }) => [name, name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()]));
const files = [...Object.values(kinds), "manifest", "config", "plan", "result", "drift", "validation"];

test("manifest.schema.json has all kinds", () => {
  expect(read("manifest")).toMatchObject({ properties: { kind: { enum: Object.keys(kinds).sort() } } });
});

test("definitions with the same name are equal in all schemas of kinds", () => {
  const seen = new Map<string, unknown>();
  for (const file of Object.values(kinds)) {
    for (const [name, definition] of Object.entries(read(file)["definitions"] as Schema)) {
      if (seen.has(name)) expect([file, name, definition]).toEqual([file, name, seen.get(name)]);
      seen.set(name, definition);
    }
  }
});

test("the entry for SchemaStore in .github/RELEASING.md has the address of the schema of dimsync.yaml", () => {
  const [, entry = ""] = /```json\n([\s\S]*?)```/u.exec(readFileSync(".github/RELEASING.md", "utf8")) ?? [];
  expect(JSON.parse(entry)).toMatchObject({ fileMatch: ["dimsync.yaml"], url: read("config")["$id"] });
});

describe.each(files)("%s.schema.json", (file) => {
  test("is draft-07 with an address that the npm package has, a title and a description", () => {
    expect(read(file)).toMatchObject({
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: `https://unpkg.com/dimsync@0/schema/${file}.schema.json`,
      title: expect.any(String),
      description: expect.any(String),
    });
  });
  test("describes every property", () => {
    const undescribed: string[] = [];
    const definitions = (read(file)["definitions"] ?? {}) as Schema;
    const isDescribed = (property: unknown): boolean =>
      isObject(property) &&
      (typeof property["description"] === "string" || isDescribed(definitions[String(property["$ref"]).replace("#/definitions/", "")]));
    const visit = (node: unknown, path: string, isCondition: boolean): void => {
      if (Array.isArray(node)) for (const [index, item] of node.entries()) visit(item, `${path}/${index}`, isCondition);
      if (!isObject(node)) return;
      for (const [key, value] of Object.entries(node)) {
        const condition = isCondition || key === "if" || key === "not" || key === "then";
        if (key === "properties" && !condition && isObject(value)) {
          for (const [name, property] of Object.entries(value)) if (!isDescribed(property)) undescribed.push(`${path}/${name}`);
        }
        visit(value, `${path}/${key}`, condition);
      }
    };
    visit(read(file), "", false);
    expect(undescribed).toEqual([]);
  });
});

describe("schemaText", () => {
  test.each(schemaNames)("%s has a schema, in any case, singular or plural", (name) => {
    const text = schemaText(name);
    expect(JSON.parse(text ?? "")).toMatchObject({ $schema: expect.any(String) });
    expect([schemaText(name.toLowerCase()), schemaText(`${name.toUpperCase()}S`)]).toEqual([text, text]);
  });
  test("schema-config is SchemaConfig, nothing is all manifests, and an unknown name is undefined", () => {
    expect(schemaText("schema-config")).toBe(schemaText("SchemaConfig"));
    expect(schemaText()).toBe(schemaText("Manifest"));
    expect(schemaText("../package")).toBeUndefined();
  });
});
