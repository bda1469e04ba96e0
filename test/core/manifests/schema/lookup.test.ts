import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { manifestKinds } from "../../../../src/core/kinds/index.ts";
import { schemaNames, schemaText } from "../../../../src/core/manifests/schema/lookup.ts";
import { isObject } from "../../../../src/core/model/json/json.ts";

type Schema = Readonly<Record<string, unknown>>;
const read = (name: string): Schema => JSON.parse(readFileSync(fileOf(name), "utf8"));
const fileOf = (name: string) => new URL(`../../../../schema/${name}.schema.json`, import.meta.url);
const kinds = Object.fromEntries(manifestKinds.map(({ name }) => [name, name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()]));
const files = [...Object.values(kinds), "manifest", "config", "plan", "result", "drift", "validation"];

/**
 * manifest.schema.json contains the schemas of all kinds, so that an editor needs one file. Run
 * with UPDATE_SCHEMAS=1 to update it.
 */
function bundle(): Schema {
  const bodies = Object.entries(kinds).map(([kind, file]) => {
    const { $schema: _dialect, $id: _id, definitions, ...body } = read(file);
    return { kind, body, definitions: definitions as Schema };
  });
  return {
    ...read("manifest"),
    properties: {
      ...(read("manifest")["properties"] as Schema),
      kind: { type: "string", enum: Object.keys(kinds), description: "Kind of the manifest." },
    },
    allOf: Object.keys(kinds).map((kind) => ({
      if: { properties: { kind: { const: kind } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise
      then: { $ref: `#/definitions/${kind}` },
    })),
    definitions: Object.assign(
      {},
      ...bodies.map(({ definitions }) => definitions),
      Object.fromEntries(bodies.map(({ kind, body }) => [kind, body])),
    ),
  };
}

test("manifest.schema.json consists of the schemas of the kinds", () => {
  if (process.env["UPDATE_SCHEMAS"] === "1") writeFileSync(fileOf("manifest"), `${JSON.stringify(bundle(), null, 2)}\n`);
  expect(read("manifest")).toEqual(bundle());
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

test("the entry for SchemaStore in docs/releasing.md has the address of the schema of dimsync.yaml", () => {
  const [, entry = ""] = /```json\n([\s\S]*?)```/u.exec(readFileSync("docs/releasing.md", "utf8")) ?? [];
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
