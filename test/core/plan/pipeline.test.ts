// A drift report has everything that the account and the manifests say, and sends only GET.
import { expect, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { unmanagedObjects } from "../../../src/core/base/model/plan.ts";
import { openProject } from "../../support/open-project.ts";
import type { TestService } from "../../support/service.ts";
import { byHandSteps, readySteps } from "../../support/steps.ts";

const managed = `
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders, id: "8f1c" }
spec: { expect: { paused: false } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: orders, schemas: { public: { tables: { payments: { columns: { iban: { hashed: true } } } } } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii, id: t-1 }
spec: { name: PII, description: Contains personal data }
`;

/** The document that the command prints for an account after this change. */
async function documentOf(command: "plan" | "drift", change: Parameters<TestService["mutate"]>[0] = () => {}) {
  const { service, run } = await openProject({ "manifests/all.yaml": managed });
  service.mutate(change);
  const before = service.state();
  const { code, stdout } = await run(command, "-o", "json");
  expect([service.counts(), service.state()]).toEqual([{ GET: service.requests.length }, before]);
  return { code, document: JSON.parse(stdout) as Plan };
}

type Row = readonly [what: string, change: Parameters<TestService["mutate"]>[0], code: number, counts: object, byHand: number];

test.each<Row>([
  [
    "a column that was unhashed outside dimsync",
    ({ integrations: [orders] }) =>
      void Object.assign(orders?.schemas["public"]?.tables["payments"]?.columns["iban"] ?? {}, { hashed: false }),
    2,
    { update: 1, exposed: 1, stricter: 0 },
    0,
  ],
  [
    "an integration that was paused, which only a user can fix",
    ({ integrations: [orders] }) => void Object.assign(orders ?? {}, { paused: true }),
    2,
    { update: 0 },
    1,
  ],
  ["a tag that is gone", (account) => void account.tags.shift(), 2, {}, 1],
])("drift is %s", async (_, change, code, counts, byHand) => {
  const report = await documentOf("drift", change);
  expect(report).toMatchObject({ code, document: { kind: "DriftReport", counts } });
  expect(byHandSteps(report.document)).toHaveLength(byHand);
});

test("without drift, unmanaged objects are counted and listed by name, and ids that are not recorded yet are not drift", async () => {
  const { code, document } = await documentOf("drift");
  expect([code, document.counts]).toMatchObject([0, { bind: 2, equal: 1 }]);
  const named = (list: string) =>
    unmanagedObjects(document.unmanaged)
      .get(list)
      ?.map(({ name }) => name);
  expect(named("integrations")).toEqual(["Billing", "shop-shard-01", "shop-shard-02"]);
  expect(named("tags")).toEqual(["Finance", "Gold"]);
  expect(document.unmanaged.columns).toBe(46);
});

test("without a base, a report says that the origin of a change is unknown, and a plan does not mention it", async () => {
  const origins = async (command: "plan" | "drift") => {
    const { document } = await documentOf(command, ({ tags: [pii] }) => void Object.assign(pii ?? {}, { description: "x" }));
    return readySteps(document).flatMap(({ changes }) => changes.map(({ origin }) => origin));
  };
  expect([new Set(await origins("drift")), new Set(await origins("plan"))]).toEqual([new Set(["unknown"]), new Set([undefined])]);
});
