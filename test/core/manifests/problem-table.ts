import { expect, test } from "vitest";
import { headings, load, manifest } from "./project-on-disk.ts";

/** A file, its problems as "line:column CODE", and words that their messages contain. */
export type Row = readonly [text: string, at: readonly string[], says?: RegExp];

/** One test per row: the problems have these places and codes, are errors with a summary, and quote neither secret nor environment. */
export function testProblems(rows: Readonly<Record<string, Row>>): void {
  test.each(Object.entries(rows))("%s", async (_name, [text, at, says]) => {
    const { diagnostics } = await load(
      { "m.yaml": text },
      { paths: ["m.yaml"], vars: { desc: "x", SET: "canary-4711" }, env: { SET: "canary-4711" } },
    );
    expect(headings(diagnostics)).toEqual(at.map((each) => `m.yaml:${each}`));
    if (says !== undefined) expect(diagnostics.map(({ message }) => message).join("\n")).toMatch(says);
    for (const { severity, summary } of diagnostics) expect([severity, /^[A-Z][A-Za-z' -]+$/u.test(summary)]).toEqual(["error", true]);
    expect(JSON.stringify(diagnostics)).not.toMatch(/hunter2|canary-4711/u);
  });
}

/** Line 6 is the first of the given lines. */
export const asset = (...lines: readonly string[]) => manifest("Asset", "wh", "spec:", "  name: W", ...lines);

/** Line 6 is the first of the given lines. */
export const shops = (...lines: readonly string[]) => manifest("SchemaConfig", "shops", "spec:", "  integration: orders", ...lines);

const create = ["  create:", "    destinationSchema: orders", "    replicationFrequency: '60'", "    onSchemaUpdate: enableColumnChanges"];

/** Line 10 is the first of the given lines, which are members of `create`. */
export const integration = (...lines: readonly string[]) =>
  manifest("Integration", "orders", "spec:", "  destination: { id: d-1 }", ...create, ...lines);

/** The rest of `create`, for a connector without a schema. */
export const mysql = ["    enabled: false", "    sourceConfig: { type: mysql, name: a }", "    sourceSettings: {}"];
