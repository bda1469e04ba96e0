import { describe, expect, test } from "vitest";
import { comparisonText, type ShownComparison } from "../../../src/render/terminal/comparison.ts";
import { testWidths } from "./widths.ts";

const comparison: ShownComparison = {
  from: "before.json",
  to: "prod",
  differences: [
    { object: "Integration Orders", path: "/schemas/public/tables/users/columns/email/hashed", from: false, to: true },
    { object: "Integration Orders", path: "/paused", to: true },
    { object: "Tag Finance", path: "", from: "t-2" },
    { object: "Tag PII", path: "/owner", from: "privacy@example.com", to: "dana@example.com" },
  ],
};
const many: ShownComparison = {
  ...comparison,
  differences: Array.from({ length: 25 }, (_, index) => ({ object: "Integration Orders", path: `/t${index}`, from: 1, to: 2 })),
};

describe("compare", () => {
  testWidths((options) => comparisonText(comparison, options));

  test("lists the differences of each object", () => {
    expect(comparisonText(comparison, { color: false, verbose: false, width: 100 })).toBe(`from   before.json
to     prod

Integration Orders
  schemas/public/tables/users/columns/email/hashed   false → true
  paused                                             (none) → true
Tag Finance
  only in before.json                                id "t-2"
Tag PII
  owner                                              "privacy@example.com" → "dana@example.com"

4 differences in 3 objects.
`);
  });

  test("shows 20 differences of an object, and all with --verbose", () => {
    expect(comparisonText(many, { color: false, verbose: false })).toContain("\n  and 5 more; --verbose shows all\n");
    expect(comparisonText(many, { color: false, verbose: true })).toContain("\n  t24   1 → 2\n");
  });

  test("says so if there are none", () => {
    expect(comparisonText({ ...comparison, differences: [] }, { color: false, verbose: false })).toBe(
      "No differences between before.json and prod.\n",
    );
  });
});
