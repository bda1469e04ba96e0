// explain prints rules, live state, change, request and audit log.
import { describe, expect, test } from "vitest";
import { sectionsText } from "../../../src/core/render/terminal/blocks.ts";
import { explainSections } from "../../../src/features/explain/command.ts";
import type { ExplainedNode } from "../../../src/features/explain/explain.ts";
import { testWidths } from "../../core/render/terminal/widths.ts";

const one: ExplainedNode = {
  address: "Schemas/orders",
  liveId: "8f1c",
  path: ["public", "users", "email"],
  said: [
    {
      rule: "everything",
      config: "SchemaConfig/shops",
      effect: "set",
      set: { enabled: true },
      wins: ["enabled"],
      file: "manifests/shops.yaml",
      line: 8,
    },
    {
      ...{ rule: "pii-email", reason: "GDPR register 12: e-mail addresses are hashed in every source" },
      ...{ config: "SchemaConfig/shops", effect: "set", set: { hashed: true }, wins: ["hashed"], file: "manifests/pii.yaml", line: 9 },
    },
  ],
  live: { enabled: true, hashed: false },
  state: "managed",
  outcome: { enabled: true, hashed: true },
  leftAlone: [],
  changes: [{ key: "hashed", before: false, after: true, risk: "protects", cause: { file: "manifests/pii.yaml", line: 9 } }],
  requests: [
    {
      method: "PATCH",
      path: "/v1/integrations/8f1c/schemas",
      body: { schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } } },
    },
  ],
  changesInAll: 2,
  refused: [],
  events: [
    {
      ...{ id: "a1", timestamp: "2026-03-01T09:00:00Z", event: "Updated schemas" },
      actor: { type: "user", email: "dana@example.com" },
      context: { ipAddress: undefined, userAgent: undefined },
    },
  ],
};

describe("explain", () => {
  testWidths((options) => sectionsText(explainSections({ ...one, requests: [] }), options));

  test("shows the rules, the live state, the change, its request and the audit log", () => {
    expect(sectionsText(explainSections(one), { color: false, verbose: false, width: 120 })).toBe(`Schemas/orders   public.users.email

everything   enabled: true   decides enabled   manifests/shops.yaml:8
pii-email    hashed: true    decides hashed    manifests/pii.yaml:9     GDPR register 12: e-mail addresses are hashed in
                                                                        every source

live      enabled: true, hashed: false
outcome   managed: enabled: true, hashed: true
change    hashed false → true   protects
request   PATCH /v1/integrations/8f1c/schemas, here without 1 other change of Schemas/orders
          {"schemas":{"public":{"tables":{"users":{"columns":{"email":{"hashed":true}}}}}}}
events    2026-03-01T09:00:00Z   dana@example.com   Updated schemas
`);
  });

  test("says so if no rule applies", () => {
    expect(sectionsText(explainSections({ ...one, said: [], state: "unmanaged" }), { color: false, verbose: false })).toContain(
      "\nNo rule or literal entry applies to it.\n",
    );
  });
});
