import { describe, expect, test } from "vitest";
import { scopeOf, scopeOfAddresses } from "../../src/engine/scope.ts";
import { namesMatcher } from "../../src/kinds/patterns/names.ts";

const scope = (only: readonly string[], exclude: readonly string[] = []) => scopeOf(only, exclude, namesMatcher);

describe("what --only and --exclude mean", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, item: boolean][] = [
    ["everything, where neither is given", [], [], "Tag/pii", true],
    ["that address", ["Tag/pii"], [], "Tag/pii", true],
    ["not another one", ["Tag/pii"], [], "Tag/pi", false],
    ["all relations of a tag", ["Tag/pii"], [], "Tag/pii#8f1c", true],
    ["all integrations of a configuration", ["SchemaConfig/shops"], [], "SchemaConfig/shops@orders", true],
    ["one integration of a configuration", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shops@other", false],
    ["one relation, and not the tag itself", ["Tag/pii#8f1c"], [], "Tag/pii", false],
    ["a glob over names with dots and dashes", ["Tag/*"], [], "Tag/a.b-c", true],
    ["not what is excluded", ["Tag/*"], ["Tag/pii"], "Tag/pii", false],
    ["nor its parts", [], ["Tag/pii"], "Tag/pii#8f1c", false],
    ["nor the parts of what ! leaves out", ["Tag/*", "!Tag/pii"], [], "Tag/pii#8f1c", false],
    ["but the rest, where one part is excluded", [], ["Tag/pii#8f1c"], "Tag/pii#b27d", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, item) => {
    expect(scope(only, exclude).item(address)).toBe(item);
  });
});

describe("which manifests have to be compared", () => {
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], address: string, manifest: boolean][] = [
    ["the named one", ["SchemaConfig/shops"], [], "SchemaConfig/shops", true],
    ["the one that a unit's address begins with", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shops", true],
    ["none whose name only begins alike", ["SchemaConfig/shops@orders"], [], "SchemaConfig/shop", false],
    ["one that a glob may reach through its units", ["*@orders"], [], "SchemaConfig/shops", true],
    ["one that a glob may reach in the middle", ["SchemaConfig/s*s@orders"], [], "SchemaConfig/shops", true],
    ["none of another kind", ["Tag/*"], [], "SchemaConfig/shops", false],
    ["a tag, where one of its relations is named", ["Tag/pii#8f1c"], [], "Tag/pii", true],
    ["none that is excluded as a whole", [], ["SchemaConfig/shops"], "SchemaConfig/shops", false],
    ["one of which a part is excluded", [], ["SchemaConfig/shops@orders"], "SchemaConfig/shops", true],
  ];
  test.each(rows)("%s", (_, only, exclude, address, manifest) => {
    expect(scope(only, exclude).manifest(address)).toBe(manifest);
  });
});

describe("a part that there is none of", () => {
  const manifests = ["SchemaConfig/shops", "SchemaConfig/eu", "Tag/pii"];
  const parts = ["SchemaConfig/shops@shard-1", "SchemaConfig/eu@shard-2", "Tag/pii"];
  const rows: readonly [sentence: string, only: readonly string[], exclude: readonly string[], messages: readonly RegExp[]][] = [
    [
      "is a mistake where it is wanted",
      ["SchemaConfig/shops@shard-9"],
      [],
      [/^--only "SchemaConfig\/shops@shard-9" .* Did you mean .*shard-1\?$/u],
    ],
    ["is a mistake where it is to be spared", [], ["SchemaConfig/shops@shard-9"], [/^--exclude /u]],
    ["is a mistake of a glob", ["SchemaConfig/*@nothing-*"], [], [/^--only /u]],
    ["is told by the name that it goes by", ["SchemaConfig/shops@shard-2"], [], [/The one of shard-2 is SchemaConfig\/eu@shard-2: /u]],
    ["is each told", ["SchemaConfig/shops@a", "SchemaConfig/eu@b"], [], [/@a/u, /@b/u]],
    ["is nothing to tell of kinds that aren't compared", ["Tag/pii"], ["Policy/x@shard-9"], []],
    ["is not where there is one", ["SchemaConfig/shops@shard-1", "*@shard-?"], ["SchemaConfig/eu@*"], []],
    ["is not where a manifest is meant", ["SchemaConfig/shops", "Tag/pii#8f1c"], ["Tag/*"], []],
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
    ["has what waited", "SchemaConfig/c@new", true],
    ["has a relation that waited under its new address", "Tag/pii#a69f", true],
    ["has no relation that was made before", "Tag/pii#8f1c", false],
    ["has not the tag itself again", "Tag/pii", false],
    ["has nothing else", "SchemaConfig/c@orders", false],
  ];
  test.each(rows)("%s", (_, address, item) => {
    expect(round.item(address)).toBe(item);
  });

  test("compares the manifests of what waited", () => {
    expect(["Tag/pii", "SchemaConfig/c", "SchemaConfig/d"].map(round.manifest)).toEqual([true, true, false]);
  });
});
