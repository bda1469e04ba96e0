// --only and --exclude select items, and what these need is compared too.
import { describe, expect, test } from "vitest";
import { objectAddress } from "../../../src/core/base/model/address.ts";
import { kindNamed } from "../../../src/core/kinds/index.ts";
import { namesMatcher } from "../../../src/core/kinds/patterns/names.ts";
import { scopeOf, scopeOfAddresses } from "../../../src/core/plan/scope.ts";

const scope = (only: readonly string[], exclude: readonly string[] = []) => scopeOf(only, exclude, namesMatcher);

/** Two SchemaConfigs select orders, one selects other. */
const selecting: Readonly<Record<string, readonly string[]>> = {
  "Schemas/orders": ["SchemaConfig/shops", "SchemaConfig/pii"],
  "Schemas/other": ["SchemaConfig/shops"],
};
const account = { addressesOf: (address: string) => [address, objectAddress(address), ...(selecting[address] ?? [])] };
const kindOf = (address: string) => {
  const kind = kindNamed(address.slice(0, address.indexOf("/")));
  if (kind === undefined) throw new Error(`${address} has no kind.`);
  return kind;
};

describe("--only and --exclude select", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, item: boolean][] = [
    ["all relations of a tag", ["Tag/pii"], [], "Tag/pii#8f1c", true],
    ["the schemas of one integration", ["Schemas/orders"], [], "Schemas/orders", true],
    ["not the schemas of an integration that is named", ["Integration/orders"], [], "Schemas/orders", false],
    ["the schemas of every integration that a SchemaConfig selects", ["SchemaConfig/shops"], [], "Schemas/other", true],
    ["also by a SchemaConfig that another one overrides", ["SchemaConfig/pii"], [], "Schemas/orders", true],
    ["not the schemas of an excluded SchemaConfig", ["Schemas/*"], ["SchemaConfig/pii"], "Schemas/orders", false],
    ["one relation, and not the tag itself", ["Tag/pii#8f1c"], [], "Tag/pii", false],
    ["nor its parts", [], ["Tag/pii"], "Tag/pii#8f1c", false],
    ["nor the parts of an address that ! excludes", ["Tag/*", "!Tag/pii"], [], "Tag/pii#8f1c", false],
    ["but the other parts, if one part is excluded", [], ["Tag/pii#8f1c"], "Tag/pii#b27d", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, item) => {
    expect(scope(only, exclude).item(address, account)).toBe(item);
  });
});

describe("the manifests that must be compared", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, manifest: boolean][] = [
    ["every SchemaConfig, because each may select the integration", ["Schemas/orders"], [], "SchemaConfig/shops", true],
    ["a SchemaConfig whose schemas a glob may match", ["*/orders"], [], "SchemaConfig/shops", true],
    ["none of another kind", ["Tag/*"], [], "SchemaConfig/shops", false],
    ["a tag, if one of its relations is selected", ["Tag/pii#8f1c"], [], "Tag/pii", true],
    ["not one that is excluded as a whole", [], ["SchemaConfig/shops"], "SchemaConfig/shops", false],
    ["one with an excluded part", [], ["Schemas/orders"], "SchemaConfig/shops", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, manifest) => {
    expect(scope(only, exclude).manifest(address, kindOf(address))).toBe(manifest);
  });
});

describe("a pattern that matches nothing", () => {
  const addresses = ["SchemaConfig/shops", "SchemaConfig/eu", "Tag/pii", "Schemas/shard-1", "Schemas/a#b"];
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], messages: readonly RegExp[]][] = [
    ["is an error in --only", ["Schemas/shard-9"], [], [/^--only "Schemas\/shard-9" .* Did you mean .*shard-1\?$/u]],
    ["is an error in --exclude", [], ["Schemas/shard-9"], [/^--exclude /u]],
    ["is not reported if there are such schemas", ["Schemas/shard-1", "*/shard-?"], ["Schemas/shard*"], []],
    ["is not reported if a live name contains #", ["Schemas/a#b"], [], []],
    ["is not reported if a manifest has the address", ["SchemaConfig/shops", "Tag/pii#8f1c"], ["Tag/*"], []],
  ];
  test.each(rows)("%s", (_, only, exclude, messages) => {
    const problems = scope(only, exclude).problems(addresses);
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual(messages.map(() => ["E_UNKNOWN_ADDRESS", "error"]));
    for (const [index, message] of messages.entries()) expect(problems[index]?.message).toMatch(message);
  });
});

describe("a later round", () => {
  const round = scopeOfAddresses(new Set(["Tag/pii#Integration/new", "Schemas/new"]), new Set(["Tag/pii#8f1c", "Tag/pii"]));
  const rows: readonly [sentence: string, address: string, item: boolean][] = [
    ["includes an address that waited", "Schemas/new", true],
    ["includes a relation that waited, under its new address", "Tag/pii#a69f", true],
    ["excludes a relation that was created before", "Tag/pii#8f1c", false],
    ["excludes everything else", "Schemas/orders", false],
  ];
  test.each(rows)("%s", (_, address, item) => {
    expect(round.item(address)).toBe(item);
  });

  test("compares the manifests of addresses that waited", () => {
    const manifests = ["Tag/pii", "SchemaConfig/c", "Integration/new", "Tag/other"];
    expect(manifests.filter((address) => round.manifest(address, kindOf(address)))).toEqual(["Tag/pii", "SchemaConfig/c"]);
  });
});
