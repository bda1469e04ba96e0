// Any name is one segment of a pointer, and comes back.
import { expect, test } from "vitest";
import { fromPointer, toPointer, urlPath } from "../../../../../src/core/base/model/json/pointer.ts";

test.each([
  ["a/b?c#d", "/v1/a%2Fb%3Fc%23d"],
  ["..", "/v1/%2E%2E"],
  ["", "/v1/"],
  ["ü😀", "/v1/%C3%BC%F0%9F%98%80"],
  ["half \ud800 a pair", "/v1/half%20%EF%BF%BD%20a%20pair"],
])("%j is one segment", (name, path) => {
  expect(urlPath(["v1", name])).toBe(path);
});

test.each([
  [[], ""],
  [[""], "/"],
  [["a", "b", 0], "/a/b/0"],
  [["a/b", "~", "~1", "m~n/o"], "/a~1b/~0/~01/m~0n~1o"],
])("%j is the pointer %j, and back", (path, pointer) => {
  expect(toPointer(path)).toBe(pointer);
  expect(fromPointer(pointer)).toEqual(path.map(String));
});
