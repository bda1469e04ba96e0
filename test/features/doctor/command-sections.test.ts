// doctor shows each check with what to do.
import { describe, expect, test } from "vitest";
import { sectionsText } from "../../../src/core/render/terminal/blocks.ts";
import { doctorSections } from "../../../src/features/doctor/command.ts";
import type { DoctorReport } from "../../../src/features/doctor/doctor.ts";
import { testWidths } from "../../core/render/terminal/widths.ts";

const checks: DoctorReport["checks"] = [
  { check: "config", state: "ok", found: "dimsync.yaml, target prod." },
  { check: "audit log", state: "warn", found: "GET /v1/audit-logs was refused.", advice: "Give the key the permission to read it." },
  {
    check: "key",
    state: "fail",
    found: "The service refused the API key with status 401. It comes from secret env:DIMSYNC_API_KEY.",
    advice: "Put a valid key of this account there.",
  },
];

describe("doctor", () => {
  testWidths((options) => sectionsText(doctorSections({ checks }), options));

  test("shows each check with what to do, aligned", () => {
    expect(
      sectionsText(doctorSections({ checks }), { color: false, verbose: false, width: 80 }),
    ).toBe(`ok     config      dimsync.yaml, target prod.
warn   audit log   GET /v1/audit-logs was refused.
                   Give the key the permission to read it.
fail   key         The service refused the API key with status 401. It comes
                   from secret env:DIMSYNC_API_KEY.
                   Put a valid key of this account there.

Fix the failed checks first. 1 ok, 1 warning, 1 failed.
`);
  });

  test("without a failed check, a plan can be made", () => {
    expect(sectionsText(doctorSections({ checks: checks.slice(0, 2) }), { color: false, verbose: false })).toMatch(
      /\nReady to plan\. 1 ok, 1 warning, 0 failed\.\n$/u,
    );
  });
});
