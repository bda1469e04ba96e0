import { expect, test } from "vitest";
import { nodePath } from "../../src/cli/node-path.ts";

test.each([
  ["no path", undefined, undefined, /^explain needs a schema, table or column after the address, as SCHEMA, /u],
  ["a path of four names", "a.b.c.d", undefined, /^explain takes one schema, table or column, as SCHEMA, /u],
  ["a pointer without a slash", undefined, "a/b", /^explain takes one schema/u],
])("%s is refused, with what is needed", (_, path, pointer, message) => {
  expect(() => nodePath("explain", path, pointer)).toThrow(message);
});
