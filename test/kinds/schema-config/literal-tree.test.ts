import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutLiteralTree } from "../../../src/kinds/schema-config/literal-tree.ts";
import { schemaConfig } from "../../../src/manifests/validators.generated.js";
import type { JsonValue } from "../../../src/model/json/json.ts";

const withTree = (schemas: JsonValue) => ({
  apiVersion: "dimsync/v1",
  kind: "SchemaConfig",
  metadata: { name: "orders" },
  spec: { integration: "orders", schemas },
});

const column = fc.record({ enabled: fc.boolean(), hashed: fc.boolean() }, { requiredKeys: [] });
const unusual = fc.oneof(
  fc.constant("yes"),
  fc.constant(null),
  fc.constant([]),
  fc.constant({ enabld: true }),
  fc.constant({ tables: true }),
);
const name = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("__proto__", "enabled", "toString"));
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: unusual });
const named = <T>(child: fc.Arbitrary<T>) => fc.dictionary(name, mostly(child), { maxKeys: 3 });
const node = <T>(children: string, child: fc.Arbitrary<T>) =>
  fc.record({ enabled: mostly(fc.boolean()), [children]: mostly(named(child)) }, { requiredKeys: [] });
const trees = named(node("tables", node("columns", column)));

describe("a literal tree that ajv need not check", () => {
  test("is one that it accepts", () => {
    let skipped = 0;
    fc.assert(
      fc.property(trees, (tree) => {
        const document = JSON.parse(JSON.stringify(withTree(tree as JsonValue)));
        const small = withoutLiteralTree(document);
        expect(small !== undefined).toBe(schemaConfig(document));
        if (small === undefined) return;
        skipped++;
        expect(schemaConfig(small)).toBe(true);
      }),
    );
    // A check that accepts nothing would agree, too.
    expect(skipped).toBeGreaterThan(20);
  });

  test("leaves the rest of the document as it is", () => {
    const document = { ...withTree({ public: { tables: { orders: { columns: { email: { hashed: true } } } } } }), extra: 1 };
    expect(withoutLiteralTree(document)).toEqual({ ...document, spec: { integration: "orders", schemas: {} } });
  });

  test.each([
    ["there is none", { kind: "SchemaConfig", spec: { rules: [] } }],
    ["the spec is a list", { kind: "SchemaConfig", spec: [] }],
    ["the document is a string", "text"],
  ])("is not assumed if %s", (_sentence, document) => {
    expect(withoutLiteralTree(document)).toBeUndefined();
  });
});
