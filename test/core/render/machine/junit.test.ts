import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import type { Document } from "../../../../src/core/render/document.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { renderJunit } from "../../../../src/core/render/machine/junit.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan, planOfColumns } from "../full-plan.ts";
import { protectResult } from "../held.ts";
import { withName } from "../hostile.ts";
import { plan } from "../plans.ts";
import { doneResult, fullResult } from "../results.ts";

const plain = { color: false, verbose: false };
const documents: Readonly<Record<string, Document>> = {
  "a plan with everything": fullPlan,
  "a plan that finds nothing": plan(),
  "a drift report": driftReport,
  "a result": fullResult,
  "a result without failures": doneResult,
  "a validation": invalid,
  "a plan of 400 columns": planOfColumns(400),
};

interface Case {
  readonly name: string;
  readonly classname: string;
  readonly file?: string;
  readonly line?: string;
  readonly failure?: unknown;
  readonly skipped?: unknown;
}
interface Suite {
  readonly name: string;
  readonly tests: string;
  readonly failures: string;
  readonly skipped: string;
  readonly testcase: readonly Case[];
}

function suitesOf(text: string): readonly Suite[] {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: (name) => name === "testsuite" || name === "testcase",
    processEntities: true,
  });
  return (parser.parse(text) as { testsuites: { testsuite: readonly Suite[] } }).testsuites.testsuite;
}
const casesOf = (document: Document) => suitesOf(renderers.junit(document, plain)).flatMap(({ testcase }) => testcase);

// The elements and attributes of the schema of Jenkins' xUnit plugin (junit-10.xsd), which refuses
// others.
const allowed: Readonly<Record<string, readonly string[]>> = {
  testsuites: ["name", "tests", "failures", "errors", "time"],
  testsuite: ["name", "timestamp", "tests", "failures", "errors", "skipped", "time"],
  properties: [],
  property: ["name", "value"],
  testcase: ["name", "classname", "time"],
  failure: ["message", "type"],
  skipped: ["message", "type"],
  "system-out": [],
};

function strangers(text: string): readonly string[] {
  return [...text.matchAll(/<([a-z-]+)((?:\s[\w-]+="[^"]*")*)\s*\/?>/gu)].flatMap(([, element = "", attributes = ""]) => {
    const known = allowed[element];
    if (known === undefined) return [element];
    return [...attributes.matchAll(/\s([\w-]+)=/gu)]
      .filter(([, name = ""]) => !known.includes(name))
      .map(([, name]) => `${element} ${name}`);
  });
}

describe.each(Object.entries(documents))("%s", (_, document) => {
  test("is well-formed, with known elements and attributes", () => {
    const text = renderers.junit(document, plain);
    expect(XMLValidator.validate(text)).toBe(true);
    expect(strangers(text)).toEqual([]);
  });

  test("counts its cases, and has at least one", () => {
    for (const { tests, failures, skipped, testcase } of suitesOf(renderers.junit(document, plain))) {
      expect(Number(tests)).toBe(testcase.length);
      expect(testcase.length).toBeGreaterThan(0);
      expect(Number(failures)).toBe(testcase.filter(({ failure }) => failure !== undefined).length);
      expect(Number(skipped)).toBe(testcase.filter((one) => one.skipped !== undefined).length);
    }
  });

  test("is well-formed whatever its names contain", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: anyCodePoint, maxLength: 12 }), fc.constantFrom("]]>", "<x>", '"&"', "\ufffe", "\u0000")),
        (name) => {
          const text = renderers.junit(withName(document, name), plain);
          expect(XMLValidator.validate(text)).toBe(true);
          expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/u);
        },
      ),
      { numRuns: 20 },
    );
  });
});

const results: readonly (readonly [string, Document, string, "failure" | "skipped" | "passed"])[] = [
  ["an error of a manifest fails", invalid, "E_UNKNOWN_REFERENCE", "failure"],
  ["a warning is skipped", invalid, "W_GLOB_NO_MATCH", "skipped"],
  ["a guard that refuses fails", fullPlan, "guard/policy", "failure"],
  ["a planned step passes", fullPlan, "create Integration/billing", "passed"],
  ["a manual step is skipped in a plan", fullPlan, "manual", "skipped"],
  ["and fails in a drift report", driftReport, "manual", "failure"],
  ["a difference fails in a drift report", driftReport, "drift", "failure"],
  ["a failed call fails", fullResult, "E_SERVICE", "failure"],
  ["a skipped item is skipped", fullResult, "outcome/skipped", "skipped"],
  ["what --protect-only holds is skipped", protectResult, "held", "skipped"],
  ["a finished item passes", fullResult, "update Asset/warehouse", "passed"],
];

test.each(results)("%s", (_, document, name, result) => {
  const found = casesOf(document).filter((one) => one.name.startsWith(name));
  expect(found.length).toBeGreaterThan(0);
  for (const { failure, skipped } of found)
    expect(failure !== undefined ? "failure" : skipped !== undefined ? "skipped" : "passed").toBe(result);
});

test("a case has the manifest's file and line in its text, and for GitLab in attributes", () => {
  const first = (caseFiles: boolean) => suitesOf(renderers.junit(invalid, { ...plain, filePrefix: "deploy/", caseFiles }))[0]?.testcase[0];
  expect(first(false)?.failure).toMatchObject({ "#text": expect.stringMatching(/^deploy\/manifests\/orders\.yaml:14\n/u) });
  expect(first(false)).not.toHaveProperty("file");
  expect(first(true)).toMatchObject({ file: "deploy/manifests/orders.yaml", line: "14" });
});

test("several targets are several suites of one document", () => {
  const text = renderJunit([plan({ target: "a" }), plan({ target: "b" })], plain);
  expect(XMLValidator.validate(text)).toBe(true);
  expect(suitesOf(text).map(({ name }) => name)).toEqual(["dimsync plan a", "dimsync plan b"]);
});
