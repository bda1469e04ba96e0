// Programs are looked for only in folders of PATH that the user cannot be tricked into.
import { expect, test } from "vitest";
import { nodePath } from "../../src/cli/argument-values.ts";

test.each([
  ["names between dots", "public.users.email", ["public", "users", "email"]],
  ["a schema", "public", ["public"]],
  ["quotes around names with dots", '"a.b".c/d."e.f"', ["a.b", "c/d", "e.f"]],
  ["a doubled quote", 'a."b""."', ["a", 'b".']],
  ["names of JavaScript", "__proto__", ["__proto__"]],
])("a path has %s", (_, path, names) => {
  expect(nodePath("explain", path)).toEqual(names);
});

test.each([
  ["no path", undefined, /^explain needs a schema, table or column after the address, as SCHEMA, /u],
  ["a path of four names", "a.b.c.d", /^explain cannot read the path "a\.b\.c\.d"\. It takes one schema, table or column, as SCHEMA, /u],
  ["an empty name", "a..b", /^explain cannot read the path "a\.\.b"/u],
  ["a name that ends with a dot", "a.", /^explain cannot read/u],
  ["an empty quoted name", 'a.""', /^explain cannot read/u],
  ["a quote without its end", 'a."b', /^explain cannot read/u],
  ["text after a quoted name", 'a."b"c', /^explain cannot read/u],
  ["a quote within a name", 'a.b"c', /^explain cannot read/u],
])("%s is refused, with what is needed", (_, path, message) => {
  expect(() => nodePath("explain", path)).toThrow(message);
});
