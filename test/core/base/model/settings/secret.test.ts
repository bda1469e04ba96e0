// No text of a run contains a secret.
import { describe, expect, test } from "vitest";
import { masked, Secret } from "../../../../../src/core/base/model/settings/secret.ts";

// The secrets of a process are known to all its tests, so each of these is found in no other text.

describe("the text of a run", () => {
  test.each([
    ["a long secret as part of a word", "zq-Long-secret-1", "xzq-Long-secret-1y", "x***y"],
    ["a short one on its own", "zq7#p", '{"name":"zq7#p"} zq7#p, zq7#p', '{"name":"***"} ***, ***'],
    ["a short one beside other characters", "wq8.k", "user:wq8.k@db", "user:***@db"],
    ["a short one with signs of regular expressions", 'a-[1"/', 'is a-[1"/ or "a-[1\\"/"', 'is *** or "***"'],
  ])("has %s masked", (_, secret, text, expected) => {
    expect([new Secret(secret).toString(), masked(text)]).toEqual(["[secret]", expected]);
  });

  test.each([
    ["a short one as part of a word", "vq7#p", "xvq7#p and vq7#px"],
    ["a word, which can be a key or a literal of JSON", "folders", '{"folders":true}'],
    ["true", "true", '{"complete":true}'],
    ["a short number", "54321", '{"port":54321}'],
    ["three characters or fewer", "q1!", "q1!"],
    ["a short line of a longer one", "first line of it\nvq3#", "vq3#"],
  ])("does not have %s masked", (_, secret, text) => {
    expect([new Secret(secret).toString(), masked(text)]).toEqual(["[secret]", text]);
  });

  test("has the password of a URL masked", () => {
    expect(String(new Secret("postgres://ann:zq%23-database@db.example.com/x"))).toBe("[secret]");
    expect(masked("zq#-database zq%23-database of db.example.com")).toBe("*** *** of db.example.com");
  });
});
