// import prints each file, id, note and failure.
import { describe, expect, test } from "vitest";
import { sectionsText } from "../../../src/core/render/terminal/blocks.ts";
import { importSections } from "../../../src/features/import/command.ts";
import type { ImportReport } from "../../../src/features/import/report.ts";
import { testWidths } from "../../core/render/terminal/widths.ts";

const report: ImportReport = {
  ...{ kind: "Import", target: "prod", exit: { code: 2, reasons: ["changes"] } },
  dryRun: false,
  files: [
    { path: "manifests/integrations/orders.yaml", action: "created", lines: 90 },
    { path: "manifests/tags.yaml", action: "changed", lines: 30, diff: "@@ -1,2 +1,2 @@\n-  a: 1\n+  a: 2\n" },
  ],
  bindings: { "Integration/orders": "8f1c", "Tag/pii": "t-3" },
  notices: ["Creating a tag relation needs the user who tags. Before you add resources to a tag, set defaults.taggedBy."],
  failures: [{ address: "Integration/old", message: "GET /v1/integrations/9 was answered with 500. Run import again later." }],
  remaining: ["Integration/orders: update /paused, because the manifest declares another value than the account has"],
};

describe("import", () => {
  testWidths((options) => sectionsText(importSections(report, 3), options));

  test("lists each file with its diff, the ids, the notes and the failures", () => {
    expect(
      sectionsText(importSections(report, 3), { color: false, verbose: false, width: 80 }),
    ).toBe(`created   manifests/integrations/orders.yaml   90 lines

changed   manifests/tags.yaml
    @@ -1,2 +1,2 @@
    -  a: 1
    +  a: 2

bound     2 objects
note      Creating a tag relation needs the user who tags. Before you add
          resources to a tag, set defaults.taggedBy.
failed    Integration/old: GET /v1/integrations/9 was answered with 500. Run
          import again later.

The plan after the import is not empty:
    Integration/orders: update /paused, because the manifest declares another
    value than the account has
`);
  });

  test("a dry run says what it would do", () => {
    const { remaining: _, ...dry } = report;
    const text = sectionsText(importSections({ ...dry, dryRun: true, failures: [], notices: [] }, 3), {
      color: false,
      verbose: false,
      width: 80,
    });
    expect(text).toMatch(/^would create {3}manifests\/integrations\/orders\.yaml/u);
    expect(text).toMatch(/\nThis was a dry run: nothing was written\.\n$/u);
  });

  test("an import of everything ends with an empty plan", () => {
    const text = sectionsText(importSections({ ...report, failures: [], remaining: [] }, 3), { color: false, verbose: false });
    expect(text).toContain("3 manifests for the account. The plan after the import is empty.\n");
  });

  test.each([
    [1, "1 change, which protects"],
    [12, "12 changes, all protect"],
  ])("rules that are stricter than the account leave changes that protect: %i", (stricter, changes) => {
    const text = sectionsText(importSections({ ...report, failures: [], remaining: [], stricter }, 3), { color: false, verbose: false });
    expect(text).toContain(`The plan after the import has only ${changes}.\n`);
  });
});
