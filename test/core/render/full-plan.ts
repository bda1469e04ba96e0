import { toPointer } from "../../../src/core/base/model/json/pointer.ts";
import type { Plan, ReadyStep } from "../../../src/core/base/model/plan.ts";
import { guard } from "../../support/findings.ts";
import { stepsFrom } from "../../support/steps.ts";
import { diagnostics } from "./diagnostics.ts";
import { change, item, plan } from "./plans.ts";

const column = (table: string, name: string, leaf: string) => toPointer(["schemas", "public", "tables", table, "columns", name, leaf]);

const items: readonly ReadyStep[] = [
  item({
    id: "s1",
    address: "Asset/warehouse",
    liveId: "d-12",
    liveName: "Warehouse",
    changes: [
      change({
        path: "/description",
        before: "Central warehouse",
        after: "Central warehouse of all business units, loaded hourly, kept by the data platform team",
        risk: "neutral",
        cause: { file: "manifests/assets.yaml", line: 8 },
      }),
      change({
        path: "/connection/private_key",
        after: { $secret: { file: "/run/secrets/sf.p8" } },
        risk: "neutral",
        cause: { file: "manifests/assets.yaml", line: 11 },
      }),
    ].map(({ before, ...rest }, index) => (index === 0 && before !== undefined ? { ...rest, before } : rest)),
    requests: [
      { method: "PATCH", path: "/v1/assets/d-12", body: { connection: { private_key: { $secret: { file: "/run/secrets/sf.p8" } } } } },
    ],
  }),
  {
    id: "s2",
    address: "Integration/billing",
    verb: "create",
    standing: "ready",
    changes: Object.entries({
      "/destinationId": "d-12",
      "/destinationSchema": "billing",
      "/replicationFrequency": "60",
      "/enabled": false,
      "/sourceConfig/name": "billing-pg",
      "/sourceConfig/owners": ["dana@example.com"],
      "/sourceConfig/connection/hostname": "db.internal",
      "/sourceConfig/connection/port": 5432,
      "/sourceConfig/connection/password": { $secret: { env: "BILLING_DB_PASSWORD" } },
    }).map(([path, after], index) => ({
      path,
      after,
      risk: "neutral" as const,
      cause: { file: "manifests/billing.yaml", line: 9 + index },
    })),
    requests: [
      {
        method: "POST",
        path: "/v1/integrations",
        body: { destinationId: "d-12", sourceConfig: { connection: { password: { $secret: { env: "BILLING_DB_PASSWORD" } } } } },
      },
    ],
    dependsOn: ["s1"],
  },
  item({
    id: "s3",
    exposedColumns: 1,
    changes: [
      change(),
      change({ path: column("users", "phone", "hashed") }),
      change({ path: column("users", "e.mail/2", "hashed") }),
      change({
        path: "/schemas/public/tables/audit_2019/enabled",
        before: true,
        after: false,
        cause: { rule: "rule 4", file: "manifests/shops.yaml", line: 22 },
      }),
      change({
        path: column("orders", "contact_email", "hashed"),
        before: true,
        after: false,
        risk: "exposes",
        cause: { rule: "contact-readable", reason: "needed by support, DPIA-41", file: "manifests/shops.yaml", line: 14 },
      }),
    ],
    requests: [
      { method: "PATCH", path: "/v1/integrations/8f1c/schemas", body: { schemas: { public: { enabled: true } } } },
      { method: "PATCH", path: "/v1/integrations/8f1c/schemas", body: { schemas: { public: { enabled: true } } } },
    ],
  }),
  item({
    id: "s4",
    address: "Tag/pii#8f1c",
    verb: "relate",
    liveId: "t-3",
    liveName: "PII",
    changes: [{ path: "/taggedResources/8f1c", after: "Integration", risk: "neutral", cause: { file: "manifests/tags.yaml", line: 10 } }],
    requests: [
      { method: "POST", path: "/v1/tags/t-3/relation", body: { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-7" } },
    ],
  }),
  item({ id: "s5", address: "Tag/finance", verb: "bind", liveId: "t-4", liveName: "Finance", requests: [] }),
];

/** A plan with content in every member. */
export const fullPlan: Plan = plan({
  git: { commit: "4f2c1ab09d3e77aa10b2c3d4e5f60718293a4b5c", dirty: true },
  executable: false,
  items,
  steps: stepsFrom({
    byHand: [
      {
        id: "h-3f2a91",
        address: "Integration/orders",
        path: "/paused",
        expected: false,
        actual: true,
        instruction: "Resume the integration in the service. If it should be paused, set expect.paused to true in manifests/orders.yaml.",
      },
      {
        id: "h-b07c11",
        address: "Integration/legacy",
        path: "",
        instruction: "It is gone from the account. Delete its manifest, or create it again with another name.",
      },
    ],
    blocked: [
      {
        address: "Asset/lake",
        code: "E_UNBOUND",
        message:
          "The manifest has no live id, and an asset can't be looked up. An integration writes to an asset of that name and type: d-44.",
        command: "dimsync bind Asset/lake=d-44",
      },
      {
        address: "Tag/gdpr",
        code: "E_TAG_MISSING",
        message:
          "The account has no tag named GDPR. Create it in the service, because dimsync has no request for it; the next run finds it by name. Until then its relations are skipped.",
      },
    ],
    waiting: [
      {
        verb: "update",
        address: "Schemas/billing",
        waitsFor: ["Integration/billing"],
        desired: {
          unmatched: { tables: "disable" },
          rules: [{ id: "core", match: { schema: "public", table: ["invoices", "invoice_*"] }, set: { enabled: true } }],
          schemas: { public: { enabled: true, tables: { customers: { columns: { "e.mail": { hashed: true } } } } } },
        },
      },
    ],
    notKept: [
      { address: "Schemas/orders", path: column("users", "id", "hashed"), wanted: true, live: false, since: "2026-07-01T08:00:00.000Z" },
      { address: "Schemas/orders", path: "/schemas/public/tables/users__tags/enabled", wanted: false, live: true },
      { address: "Schemas/shop-01", path: column("users", "id", "hashed"), wanted: true, live: null, since: "2026-07-01T08:00:00.000Z" },
    ],
    unseen: [
      {
        address: "Asset/archive",
        paths: ["/connection/account", "/connection/private_key"],
        reason: "the API never returns a connection, and dimsync has not sent one",
      },
    ],
  }),
  unmanaged: {
    integrations: [
      { id: "9a", name: "Old shop" },
      { id: "9b", name: "trial" },
    ],
    tags: [{ id: "t-9", name: "temp" }],
    columns: 612,
  },
  findings: [
    ...diagnostics.slice(1, 2),
    guard("policy", { message: "One finding of severity error.", actual: 1, limit: 0 }),
    guard("maxCreates", { message: "The plan creates more than the project allows.", actual: 7, limit: 5, allowed: "first import" }),
    {
      rule: "Policy/pii-must-be-hashed",
      severity: "error",
      state: "new",
      address: "Schemas/orders",
      path: column("orders", "contact_email", "hashed"),
      message: "personal data would be replicated unhashed",
      actual: false,
      required: true,
      file: "policies/pii.yaml",
      line: 4,
    },
    {
      rule: "Policy/exemptions-end",
      severity: "warning",
      state: "existing",
      address: "Schemas/orders",
      path: column("orders", "contact_email", "hashed"),
      message: "The exemption ends on 2026-03-31.",
    },
    {
      rule: "Policy/pii-must-be-hashed",
      severity: "error",
      state: "fixed",
      address: "Schemas/orders",
      path: column("users", "email", "hashed"),
      message: "personal data would be replicated unhashed",
      actual: false,
      required: true,
      file: "policies/pii.yaml",
      line: 4,
    },
    {
      rule: "Policy/pii-must-be-hashed",
      severity: "info",
      message: "needed by support, DPIA-41",
      count: 2,
      exemption: {
        approvedBy: "privacy@example.com",
        until: "2027-01-31",
        places: ["phone", "e.mail/2"].map((name) => ({ address: "Schemas/shop-01", path: column("customers", name, "hashed") })),
      },
      file: "manifests/policies.yaml",
      line: 14,
    },
  ],
  exit: { code: 3, reasons: ["policy"] },
});

const { steps, unmanaged, findings } = fullPlan;

export const driftReport: Plan = plan({
  kind: "DriftReport",
  items: items.slice(2),
  steps: steps.filter(({ standing }) => standing === "byHand" || standing === "blocked" || standing === "unseen"),
  unmanaged,
  findings: findings.flatMap((finding) =>
    finding.state === undefined || finding.state === "fixed" ? [] : [{ ...finding, state: "existing" as const }],
  ),
  exit: { code: 2, reasons: ["drift", "byHand"] },
});

/** `count` columns of one rule, two that expose, one literal, 12 relations of one tag. */
export const planOfColumns = (count: number): Plan =>
  plan({
    items: [
      item({
        changes: [
          ...Array.from({ length: count }, (_, index) => change({ path: column(`t${index % 20}`, `email_${index}`, "hashed") })),
          ...["contact", "fax"].map((name) =>
            change({
              path: column("orders", name, "enabled"),
              before: false,
              after: true,
              risk: "exposes",
              cause: { rule: "support", reason: "DPIA-41", file: "manifests/shops.yaml", line: 14 },
            }),
          ),
          change({ path: column("users", "phone", "hashed"), cause: { file: "manifests/shops.yaml", line: 40 } }),
        ],
      }),
      ...Array.from({ length: 12 }, (_, index) =>
        item({
          id: `r${index}`,
          address: `Tag/pii#in-${index}`,
          verb: "relate",
          liveId: "t-3",
          liveName: "PII",
          requests: [
            {
              method: "POST",
              path: "/v1/tags/t-3/relation",
              body: { resourceId: `in-${index}`, resourceType: "Integration", taggedBy: "u-7" },
            },
          ],
        }),
      ),
    ],
  });
