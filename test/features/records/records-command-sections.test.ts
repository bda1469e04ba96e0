// records show prints the store, the lease, unknown creates and ids.
import { describe, expect, test } from "vitest";
import { sectionsText } from "../../../src/core/render/terminal/blocks.ts";
import { recordsSections, type ShownRecords } from "../../../src/features/records/records-command.ts";
import { testWidths } from "../../core/render/terminal/widths.ts";

const records: ShownRecords = {
  ...{ target: "prod", store: "git", place: "refs/dimsync/prod at origin", version: "4f2c1ab" },
  holder: "a user on host ci-1 since 2026-03-01T09:00:00Z: warehouse migration",
  open: [{ address: "Integration/orders", runId: "6f1e5b2c", at: "2026-03-01T09:00:00Z", answeredId: "8f1c" }],
  bindings: [
    { address: "Asset/warehouse", id: "d-12" },
    { address: "Integration/billing", id: "b-77" },
  ],
  givenUp: [{ what: "Schemas/orders public.users.email", reason: "dropped in the source", at: "2026-11-28T10:12:00Z" }],
};

describe("records show", () => {
  testWidths((options) => sectionsText(recordsSections(records), options));

  test("shows the store, the lease, unknown creates and recorded ids", () => {
    expect(sectionsText(recordsSections(records), { color: false, verbose: false, width: 100 })).toBe(`target    prod
store     git: refs/dimsync/prod at origin
version   4f2c1ab
lease     a user on host ci-1 since 2026-03-01T09:00:00Z: warehouse migration

1 create with an unknown outcome:
    Integration/orders   id 8f1c   run 6f1e5b2c   2026-03-01T09:00:00Z

2 recorded ids:
    Asset/warehouse       d-12
    Integration/billing   b-77

Given up with dimsync resolve:
    Schemas/orders public.users.email   2026-11-28T10:12:00Z   dropped in the source
`);
  });

  test("a target without records", () => {
    const text = sectionsText(
      recordsSections({ ...records, store: "folder", version: "", holder: undefined, open: [], bindings: [], givenUp: [] }),
      {
        color: false,
        verbose: false,
        width: 100,
      },
    );
    expect(text).toContain("\nlease    free\n\nNo creates with an unknown outcome.\n\nNo ids are recorded.\n");
  });
});
