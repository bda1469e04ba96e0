import { describe, expect, test } from "vitest";
import { scopeOf, scopeOfAddresses } from "../../src/engine/scope.ts";
import { namesMatcher } from "../../src/kinds/names.ts";

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
