import { describe, expect, test } from "vitest";
import { dimsync, emptyFolder } from "../cli/built-cli.ts";

/*
 * Every input has a bound, with a clear error and its place. A repository and a service are data of
 * unknown authors.
 */

describe("nesting is counted before a parser sees it", () => {
  const brackets = "[".repeat(5_000);
  test.each([
    ["flow lists in a manifest", { "m.yaml": `a: ${brackets}\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["flow maps in a manifest", { "m.yaml": `a: ${"{a: ".repeat(1_000)}\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["blocks in a manifest", { "m.yaml": `a:\n  ${"- ".repeat(5_000)}b\n` }, ["validate", "m.yaml"], "m.yaml:2:"],
    ["keys in a manifest", { "m.yaml": `${"? ".repeat(5_000)}b\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["a manifest that is to be formatted", { "m.yaml": `a: ${brackets}\n` }, ["fmt", "m.yaml"], "m.yaml:1:"],
    ["dimsync.yaml", { "dimsync.yaml": `a: ${brackets}\n` }, ["validate"], "dimsync.yaml:1:"],
    ["bindings", { "dimsync.yaml": config(), "dimsync.bindings.yaml": `a: ${brackets}\n` }, ["plan"], "dimsync.bindings.yaml:1:"],
    [
      "variables in JSON",
      { "v.json": `{"a": ${brackets}`, "m.yaml": "a: 1\n" },
      ["validate", "m.yaml", "--var-file", "v.json"],
      "v.json:1:",
    ],
    [
      "a connector schema",
      { "dimsync.yaml": config("connectors: { shop: shop.json }\n"), "shop.json": `{"a": ${brackets}` },
      ["validate"],
      "shop.json:1:",
    ],
  ])("%s", async (_name, files, args, place) => {
    const { code, stdout, stderr } = await dimsync(args, { cwd: emptyFolder(files), env: { DIMSYNC_API_KEY: "k" } });
    expect(stdout + stderr).toContain(place);
    expect(stdout + stderr).toMatch(/E_TOO_DEEP|nested more than 200 levels/u);
    expect(code).toBe(1);
  });
});

function config(more = ""): string {
  return `apiVersion: dimsync/v1\nkind: Config\ntargets: { default: { baseUrl: http://127.0.0.1:9 } }\n${more}`;
}
