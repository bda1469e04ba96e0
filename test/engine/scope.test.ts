import { describe, expect, test } from "vitest";
import { scopeOf, scopeOfAddresses } from "../../src/engine/scope.ts";
import { namesMatcher } from "../../src/kinds/patterns/names.ts";

const scope = (only: readonly string[], exclude: readonly string[] = []) => scopeOf(only, exclude, namesMatcher);

describe("--only and --exclude select", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, item: boolean][] = [
    ["everything, without either", [], [], "Tag/pii", true],
    ["that address", ["Tag/pii"], [], "Tag/pii", true],
    ["not another one", ["Tag/pii"], [], "Tag/pi", false],
    ["all relations of a tag", ["Tag/pii"], [], "Tag/pii#8f1c", true],
    ["all integrations of a configuration", ["SchemaConfig/shops"], [], "SchemaConfig/shops@orders", true],
    ["one integration of a configuration", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shops@other", false],
    ["one relation, and not the tag itself", ["Tag/pii#8f1c"], [], "Tag/pii", false],
    ["a glob over names with dots and dashes", ["Tag/*"], [], "Tag/a.b-c", true],
    ["not the excluded address", ["Tag/*"], ["Tag/pii"], "Tag/pii", false],
    ["nor its parts", [], ["Tag/pii"], "Tag/pii#8f1c", false],
    ["nor the parts of an address that ! excludes", ["Tag/*", "!Tag/pii"], [], "Tag/pii#8f1c", false],
    ["but the other parts, if one part is excluded", [], ["Tag/pii#8f1c"], "Tag/pii#b27d", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, item) => {
    expect(scope(only, exclude).item(address)).toBe(item);
  });
});

describe("the manifests that must be compared", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, manifest: boolean][] = [
    ["the named one", ["SchemaConfig/shops"], [], "SchemaConfig/shops", true],
    ["the manifest that a unit's address begins with", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shops", true],
    ["not one whose name only has the same prefix", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shop", false],
    ["one that a glob may match through its units", ["*@orders"], [], "SchemaConfig/shops", true],
    ["one that a glob may match in the middle", ["SchemaConfig/s*s@orders"], [], "SchemaConfig/shops", true],
    ["none of another kind", ["Tag/*"], [], "SchemaConfig/shops", false],
    ["a tag, if one of its relations is selected", ["Tag/pii#8f1c"], [], "Tag/pii", true],
    ["not one that is excluded as a whole", [], ["SchemaConfig/shops"], "SchemaConfig/shops", false],
    ["one with an excluded part", [], ["SchemaConfig/shops@orders"], "SchemaConfig/shops", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, manifest) => {
    expect(scope(only, exclude).manifest(address)).toBe(manifest);
  });
});

describe("a pattern for a part that does not exist", () => {
  const manifests = ["SchemaConfig/shops", "SchemaConfig/eu", "Tag/pii"];
  const parts = ["SchemaConfig/shops@shard-1", "SchemaConfig/eu@shard-2", "Tag/pii"];
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], messages: readonly RegExp[]][] = [
    ["is an error in --only", ["SchemaConfig/shops@shard-9"], [], [/^--only "SchemaConfig\/shops@shard-9" .* Did you mean .*shard-1\?$/u]],
    ["is an error in --exclude", [], ["SchemaConfig/shops@shard-9"], [/^--exclude /u]],
    ["is an error if it is a glob", ["SchemaConfig/*@nothing-*"], [], [/^--only /u]],
    [
      "is an error with the address to use instead",
      ["SchemaConfig/shops@shard-2"],
      [],
      [/The address for shard-2 is SchemaConfig\/eu@shard-2: /u],
    ],
    ["is reported for each pattern", ["SchemaConfig/shops@a", "SchemaConfig/eu@b"], [], [/@a/u, /@b/u]],
    ["is not an error for kinds that are not compared", ["Tag/pii"], ["Policy/x@shard-9"], []],
    ["is not reported if the part exists", ["SchemaConfig/shops@shard-1", "*@shard-?"], ["SchemaConfig/eu@*"], []],
    ["is not reported if a manifest has the address", ["SchemaConfig/shops", "Tag/pii#8f1c"], ["Tag/*"], []],
  ];
  test.each(rows)("%s", (_, only, exclude, messages) => {
    const problems = scope(only, exclude).problems(manifests, parts);
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual(messages.map(() => ["E_UNKNOWN_ADDRESS", "error"]));
    for (const [index, message] of messages.entries()) expect(problems[index]?.message).toMatch(message);
  });
});

describe("a later round", () => {
  const round = scopeOfAddresses(new Set(["Tag/pii#Integration/new", "SchemaConfig/c@new"]), new Set(["Tag/pii#8f1c", "Tag/pii"]));
  const rows: readonly [sentence: string, address: string, item: boolean][] = [
    ["includes an address that waited", "SchemaConfig/c@new", true],
    ["includes a relation that waited, under its new address", "Tag/pii#a69f", true],
    ["excludes a relation that was created before", "Tag/pii#8f1c", false],
    ["excludes the tag itself", "Tag/pii", false],
    ["excludes everything else", "SchemaConfig/c@orders", false],
  ];
  test.each(rows)("%s", (_, address, item) => {
    expect(round.item(address)).toBe(item);
  });

  test("compares the manifests of addresses that waited", () => {
    expect(["Tag/pii", "SchemaConfig/c", "SchemaConfig/d"].map(round.manifest)).toEqual([true, true, false]);
  });
});
