import { describe, expect, test } from "vitest";
import { type ShownTest, testsText } from "../../../src/render/terminal/tests.ts";
import { testWidths } from "./widths.ts";

const place = { file: "dimsync.tests.yaml", line: 5 };
const tests: readonly ShownTest[] = [
  { ...place, name: "bank accounts are hashed", passed: true, checked: 12, failed: 0, failures: [] },
  {
    ...place,
    name: "no password hash leaves a source that holds personal data",
    ...{ passed: false, checked: 30, failed: 21 },
    failures: [
      { integration: "orders", node: "public.users.password", key: "enabled", expected: false, actual: true },
      { integration: "billing", node: "", key: "paused", expected: false },
    ],
  },
  { ...place, name: "nothing", passed: false, checked: 0, failed: 0, failures: [], message: "It checked nothing, but atLeast is 1." },
];

describe("test", () => {
  testWidths((options) => testsText(tests, options));

  test("shows each test, and why it failed", () => {
    expect(
      testsText(tests, { color: false, verbose: false, width: 120 }),
    ).toBe(`ok       bank accounts are hashed                                    12 checked
failed   no password hash leaves a source that holds personal data   30 checked   dimsync.tests.yaml:5
         orders public.users.password: enabled is true, not false
         billing: paused is unknown, not false
         and 19 more
failed   nothing                                                     0 checked    dimsync.tests.yaml:5
         It checked nothing, but atLeast is 1.

3 tests, 2 failed.
`);
  });
});
