import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { collectLiveNames, type NamedIntegration } from "../../../../src/core/manifests/schema/live-names.ts";
import { type Schema, schemaText } from "../../../../src/core/manifests/schema/lookup.ts";
import type { LiveSchemas } from "../../../../src/core/model/live.ts";

const configSchema: Schema = JSON.parse(schemaText("SchemaConfig") ?? "");
const isConfig = { schemaConfig: "" };

/** Schemas with one schema `public` that has these tables and columns. */
function schemasOf(tables: Readonly<Record<string, readonly string[] | undefined>>): LiveSchemas {
  const tableOf = (columns: readonly string[] | undefined) => ({
    enabled: true,
    ...(columns === undefined ? {} : { columns: Object.fromEntries(columns.map((name) => [name, { enabled: true, hashed: false }])) }),
  });
  return {
    public: { enabled: true, tables: Object.fromEntries(Object.entries(tables).map(([name, columns]) => [name, tableOf(columns)])) },
  };
}

const shop = (id: string, schemas = schemasOf({ orders: ["id", "email"], users: ["id", "phone"] })) => ({
  id,
  names: [`shop-${id}`],
  schemas,
});
const named = (id: string, name: string, schemas = schemasOf({ orders: ["id"] })): NamedIntegration => ({ id, names: [name], schemas });
const liveDefinitions = (schema: Schema): readonly string[] =>
  Object.keys(schema["definitions"] as object).filter((name) => name.startsWith("live-"));

describe("the names of an account in a JSON Schema", () => {
  it("adds nothing but a condition for another integration with the same names", () => {
    const [one, many] = [collectLiveNames(100), collectLiveNames(100)];
    one.add(shop("0"));
    for (let index = 0; index < 500; index++) expect(many.add(shop(String(index)))).toBe("whole");
    expect(liveDefinitions(many.extend(configSchema, isConfig))).toEqual(liveDefinitions(one.extend(configSchema, isConfig)));
  });

  it("is the same text whatever the order of the names", () => {
    const [one, other] = [collectLiveNames(100), collectLiveNames(100)];
    one.add(shop("0", schemasOf({ a: ["x", "y"], b: ["z"] })));
    other.add(shop("0", schemasOf({ b: ["z"], a: ["y", "x"] })));
    expect(JSON.stringify(other.extend(configSchema, isConfig))).toBe(JSON.stringify(one.extend(configSchema, isConfig)));
  });

  it("leaves out columns, then whole integrations, if there are too many names", () => {
    const names = collectLiveNames(20);
    const columns = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const tables = Object.fromEntries(columns.map((name) => [name, undefined]));
    expect(names.add(shop("wide", schemasOf({ t: columns })))).toBe("withoutColumns");
    expect(names.add(shop("large", schemasOf(tables)))).toBe("nothing");
    expect(names.add(shop("small", schemasOf({ a: ["b"] })))).toBe("whole");
    const text = JSON.stringify(names.extend(configSchema, isConfig));
    expect(text).not.toContain('"c7"');
    expect(text).not.toContain("shop-large");
    expect(text).toContain("shop-small");
  });

  it.each<[string, readonly NamedIntegration[]]>([
    ["two integrations of one name, with the same tables", [named("1", "Shop"), named("2", "Shop")]],
    ["two integrations of one name, with other tables", [named("1", "Shop"), named("2", "Shop", schemasOf({ other: ["x"] }))]],
    ["no integration", []],
    ["no table", [named("1", "Shop", schemasOf({}))]],
    ["no columns", [named("1", "Shop", schemasOf({ t: undefined }))]],
  ])("is a valid JSON Schema with %s", (_, integrations) => {
    const names = collectLiveNames(100);
    for (const one of integrations) names.add(one);
    const ajv = new Ajv({ strict: false });
    for (const [kind, kinds] of [
      ["SchemaConfig", isConfig],
      ["RuleSet", { ruleSet: "" }],
      [undefined, { schemaConfig: "SchemaConfig", ruleSet: "RuleSet" }],
    ] as const) {
      void ajv.validateSchema(names.extend(JSON.parse(schemaText(kind) ?? ""), kinds));
      expect(ajv.errors).toBeNull();
    }
  });

  it("keeps names of objects apart from members of JavaScript objects", () => {
    const names = collectLiveNames(100);
    names.add(shop("0", schemasOf(JSON.parse('{"__proto__":["constructor"],"toString":["__proto__"]}'))));
    const text = JSON.stringify(names.extend(configSchema, isConfig));
    expect(text).toContain('"__proto__":{"type":"object","properties":{"columns"');
    expect(text).toContain('"examples":["__proto__","toString"]');
  });

  const manifest = (spec: unknown) => ({ apiVersion: "dimsync/v1", kind: "SchemaConfig", metadata: { name: "x" }, spec });
  const tree = (columns: unknown) => ({ public: { tables: { orders: { columns } } } });

  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validator = ajv.compile(configSchema);
  const names = collectLiveNames(100);
  names.add(shop("0"));
  const extendedValidator = ajv.compile({ ...names.extend(configSchema, isConfig), $id: "extended" });

  it.each([
    ["a live column", { integration: "shop-0", schemas: tree({ email: { hashed: true } }) }],
    ["a column that is not live yet", { integration: "shop-0", schemas: tree({ soon: { hashed: true } }) }],
    ["an integration that does not exist yet", { integration: "soon", schemas: tree({ email: { hashed: true } }) }],
    ["a pattern", { integrations: { names: ["shop-*"] }, rules: [{ match: { column: ["*mail", "phone"] }, set: { hashed: true } }] }],
    ["an unknown field", { integration: "shop-0", schemas: tree({ email: { masked: true } }) }],
    ["an unknown field of a selector's tree", { integrations: { names: ["x"] }, schemas: tree({ email: { masked: true } }) }],
    ["a wrong type", { integration: { id: "0" }, schemas: tree({ email: true }) }],
  ])("accepts or refuses as before: %s", (_, spec) => {
    expect(extendedValidator(manifest(spec))).toBe(validator(manifest(spec)));
  });

  it("changes nothing but the definitions of the kinds in the schema of all manifests", () => {
    const schema: Schema = JSON.parse(schemaText() ?? "");
    const names = collectLiveNames(100);
    names.add(shop("0"));
    const extended = names.extend(schema, { schemaConfig: "SchemaConfig", ruleSet: "RuleSet" });
    const definitions = extended["definitions"] as Readonly<Record<string, Schema>>;
    const changed = Object.entries(schema["definitions"] as Readonly<Record<string, Schema>>).filter(
      ([key, one]) => definitions[key] !== one,
    );
    expect(changed.map(([key]) => key)).toEqual(["RuleSet", "SchemaConfig"]);
    expect(Object.keys(extended)).toEqual(Object.keys(schema));
  });
});
