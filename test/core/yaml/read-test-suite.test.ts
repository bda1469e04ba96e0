import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { read } from "../../../src/core/yaml/read.ts";
import { byLibraryAlone } from "./library-alone.ts";

/*
 * The public yaml-test-suite, from a checkout of its main branch:
 *
 *     YAML_TEST_SUITE=DIR npx vitest run test/core/yaml/read-test-suite.test.ts
 *
 * It shows that dimsync reads each text as the YAML library does, or refuses it as the library does,
 * alone and between other documents. The cases that found something are in read.test.ts.
 */

const folder = process.env["YAML_TEST_SUITE"];

/** The suite writes characters that cannot be seen as others. */
const plainText = (text: string): string =>
  text
    .replaceAll("␣", " ")
    .replaceAll(/—*»/gu, "\t")
    .replaceAll("←", "\r")
    .replaceAll("⇔", "\ufeff")
    .replaceAll("↵", "")
    .replace(/∎\n?$/u, "");

function casesOf(suite: string): readonly (readonly [name: string, text: string])[] {
  return readdirSync(join(suite, "src"))
    .filter((name) => name.endsWith(".yaml"))
    .flatMap((name) => {
      const cases = parse(readFileSync(join(suite, "src", name), "utf8")) as readonly { readonly yaml?: string }[];
      return cases.flatMap(({ yaml }, index) => (yaml === undefined ? [] : [[`${name} ${index}`, plainText(yaml)] as const]));
    });
}

describe.skipIf(folder === undefined)("the public test suite", () => {
  test.each(folder === undefined ? [] : casesOf(folder))("%s", (_name, text) => {
    for (const whole of [text, `a: 1\n---\n${text}`, `${text}\n---\nb: 0x1\n`, `%YAML 1.2\n---\n${text}`]) {
      const { documents, problems } = read(whole);
      const own = problems.length > 0 ? undefined : documents.map(({ index, value }) => ({ index, value }));
      expect(own).toEqual(byLibraryAlone(whole));
    }
  });
});
