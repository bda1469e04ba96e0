import { expect, test } from "vitest";
import { urlPath } from "../../src/model/pointer.ts";

test.each([
  ["a/b?c#d", "/v1/a%2Fb%3Fc%23d"],
  ["..", "/v1/%2E%2E"],
  ["", "/v1/"],
  ["ü😀", "/v1/%C3%BC%F0%9F%98%80"],
  ["half \ud800 a pair", "/v1/half%20%EF%BF%BD%20a%20pair"],
])("%j is one segment", (name, path) => {
  expect(urlPath(["v1", name])).toBe(path);
});
