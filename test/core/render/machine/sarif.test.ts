import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import type { Log } from "sarif";
import { describe, expect, test } from "vitest";
import type { Document } from "../../../../src/core/render/document.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { renderSarif } from "../../../../src/core/render/machine/sarif.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { invalid } from "../diagnostics.ts";
import { documents } from "../documents.ts";
import { fullPlan } from "../full-plan.ts";
import { protectResult } from "../held.ts";
import { withName } from "../hostile.ts";
import { item, plan } from "../plans.ts";

const plain = { color: false, verbose: false };
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
// The official schema (json.schemastore.org/sarif-2.1.0-rtm.5, of the OASIS committee). It is draft-04, and except for the name of `id`
// it means the same in draft-07.
const { $schema: _, id: __, ...schema } = JSON.parse(readFileSync(new URL("./sarif-2.1.0.schema.json", import.meta.url), "utf8"));
const validate = ajv.compile(schema);

function faults(text: string): readonly string[] {
  return validate(JSON.parse(text)) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
const log = (text: string): Log => JSON.parse(text) as Log;
const resultsOf = (document: Document) => log(renderers.sarif(document, plain)).runs[0]?.results ?? [];

describe.each(Object.entries(documents))("%s", (_, document) => {
  test("is valid according to the official schema", () => {
    expect(faults(renderers.sarif(document, plain))).toEqual([]);
  });

  test("is valid whatever its names contain, and has no control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint, maxLength: 12 }), (name) => {
        const text = renderers.sarif(withName(document, name), plain);
        expect(faults(text)).toEqual([]);
        expect(JSON.stringify(JSON.parse(text)).replaceAll("\\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
      { numRuns: 15 },
    );
  });

  test("has a file for each result, since code scanning refuses results without one", () => {
    for (const { locations } of resultsOf(document)) expect(locations?.[0]?.physicalLocation?.artifactLocation?.uri).toMatch(/./u);
  });
});

test("the schema check finds errors", () => {
  expect(faults('{"version":"2.1.0","runs":[{"tool":{"driver":{}},"results":[{"level":"fatal"}]}]}')).not.toEqual([]);
});

test("a diagnostic has its line and column, with its code as rule", () => {
  const [first] = resultsOf(invalid);
  expect(first).toMatchObject({
    ruleId: "E_UNKNOWN_REFERENCE",
    level: "error",
    locations: [{ physicalLocation: { artifactLocation: { uri: "manifests/orders.yaml" }, region: { startLine: 14, startColumn: 22 } } }],
  });
});

test("files are relative to the repository's root, absolute ones are unchanged", () => {
  const uri = (file: string, filePrefix: string) =>
    log(
      renderers.sarif(
        { ...invalid, diagnostics: [{ code: "E_USAGE", severity: "error", summary: "x", message: "y", file }] },
        { ...plain, filePrefix },
      ),
    ).runs[0]?.results?.[0]?.locations?.[0]?.physicalLocation?.artifactLocation?.uri;
  expect(uri("manifests/a b#c%.yaml", "deploy/eu/")).toBe("deploy/eu/manifests/a%20b%23c%25.yaml");
  expect(uri("/elsewhere/x.yaml", "deploy/")).toBe("file:///elsewhere/x.yaml");
});

test("each object that --protect-only holds is a note", () => {
  expect(resultsOf(protectResult).map(({ ruleId, level }) => [ruleId, level])).toEqual([
    ["held", "note"],
    ["held", "note"],
    ["held", "note"],
  ]);
});

test("ruleIndex is the index of the rule", () => {
  const [run] = log(renderers.sarif(fullPlan, plain)).runs;
  for (const { ruleId, ruleIndex } of run?.results ?? []) expect(run?.tool.driver.rules?.[ruleIndex ?? -1]?.id).toBe(ruleId);
});

test("fingerprints do not change if lines move, and differ between findings of one rule", () => {
  const moved = { ...invalid, diagnostics: invalid.diagnostics.map((one) => ({ ...one, line: 99 })) };
  const prints = (document: Document) => resultsOf(document).map(({ partialFingerprints }) => partialFingerprints?.["dimsync/v1"]);
  expect(prints(moved)).toEqual(prints(invalid));
  expect(new Set(prints(fullPlan)).size).toBe(prints(fullPlan).length);
});

test("10 000 findings are cut to the limit of code scanning, with a note", () => {
  const blocked = Array.from({ length: 10_000 }, (_, index) => ({
    address: `Tag/t${index}`,
    code: "E_UNBOUND" as const,
    message: "It does not exist.",
  }));
  const [run] = log(renderers.sarif(plan({ blocked, items: [item()] }), plain)).runs;
  expect(run?.results).toHaveLength(5_000);
  expect(run?.invocations?.[0]?.toolExecutionNotifications?.[0]?.message.text).toContain("5000 more");
});

test("several targets are several runs of one log, each with its own category", () => {
  const both = log(renderSarif([plan({ target: "a" }), plan({ target: "b" })], plain));
  expect(both.runs.map(({ automationDetails }) => automationDetails?.id)).toEqual(["dimsync/plan/a/", "dimsync/plan/b/"]);
});
