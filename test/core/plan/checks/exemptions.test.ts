// Every exemption that is used, unused or ends soon is in the plan.

import { describe, expect, test } from "vitest";
import { exemptionFindings, policyFindings } from "../../../../src/core/base/model/findings.ts";
import type { Plan } from "../../../../src/index.ts";
import { dayIn } from "../../../support/clock.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { openProject } from "../../../support/open-project.ts";

// Orders (8f1c) has public.customers.email and public.users.email, which are readable.

const policy = (...exemptions: readonly string[]): string => `apiVersion: dimsync/v1
kind: Policy
metadata: { name: pii }
spec:
  severity: error
  when: { column: { name: email, enabled: true } }
  require: { hashed: true }
  message: unhashed
  exemptions:
${exemptions.map((text) => `    - { ${text}, reason: DPIA-41 }\n`).join("")}`;
const orders = (rules: string): string => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders, id: "8f1c" }
spec: {}
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: orders, rules: [${rules}] }
`;
const id = "{ match: { column: id }, set: { hashed: false } }";

const start = (...exemptions: readonly string[]) =>
  openProject({ "manifests/p.yaml": policy(...exemptions), "manifests/o.yaml": orders(id) });

const all = `integration: orders, approvedBy: p@example.com, expires: ${dayIn(100)}`;
const users = `schema: public, table: users, expires: ${dayIn(100)}`;
const customers = `schema: public, table: customers, expires: ${dayIn(100)}`;

describe("an exemption", () => {
  test.each<[string, readonly string[], readonly string[], Partial<Plan["exit"]>]>([
    ["is used, and nothing else is reported", [all], [], { code: 0 }],
    ["covers nothing", [all, "integration: Billing, expires: 2020-01-01"], ["W_UNUSED 11"], { code: 0 }],
    ["ends within 14 days", [`integration: orders, expires: ${dayIn(14)}`], ["W_EXEMPTION_ENDS 10"], { code: 0 }],
    ["ends later", [`integration: orders, expires: ${dayIn(15)}`], [], { code: 0 }],
    ["ends soon and covers nothing", [all, `integration: Billing, expires: ${dayIn(3)}`], ["W_UNUSED 11"], { code: 0 }],
    ["ends in more than a year", [`integration: orders, expires: ${dayIn(367)}`], ["E_DATE_TOO_LATE 10"], { code: 1 }],
    ["names only a column", [`column: email, expires: ${dayIn(9)}`], ["E_EXEMPTION_TOO_WIDE 10"], { code: 1 }],
    ["names every integration", [`integration: '[!x]*', expires: ${dayIn(9)}`], ["E_EXEMPTION_TOO_WIDE 10"], { code: 1 }],
    ["names every schema", [`schema: '{public,*}', expires: ${dayIn(9)}`], ["E_EXEMPTION_TOO_WIDE 10"], { code: 1 }],
    ["has no end", ["integration: orders"], ["E_MISSING_KEY 10"], { code: 1 }],
  ])("that %s", async (_, exemptions, found, exit) => {
    const { made } = await start(...exemptions);
    const plan = await made("plan");
    expect(diagnosticsOf(plan).map(({ code, line }) => `${code} ${line}`)).toEqual(found);
    expect(plan.exit).toMatchObject(exit);
  });

  test("that is used is in the plan with what it covers, and the plan is not empty", async () => {
    const { made, run } = await start(users, customers);
    const planned = await made("plan");
    const of = (table: string, line: number) => ({
      ...{ rule: "Policy/pii", severity: "info", message: "DPIA-41", count: 1, file: "manifests/p.yaml", line },
      exemption: {
        until: dayIn(100),
        places: [{ address: "Schemas/orders", path: `/schemas/public/tables/${table}/columns/email/hashed` }],
      },
    });
    expect([exemptionFindings(planned), policyFindings(planned)]).toEqual([[of("users", 10), of("customers", 11)], []]);
    const { stdout } = await run("plan", "-v");
    expect(stdout).toContain(`Policy/pii   1 finding exempt until ${dayIn(100)}`);
    expect(stdout).toContain("public.users.email");
    expect(stdout).not.toContain("No changes");
    expect((await run("drift")).code).toBe(0);
    expect(exemptionFindings(await made("drift"))).toHaveLength(2);
  });

  test("is not called unused by a plan of a part, by validate or by a plan that could not read everything", async () => {
    const { service, made } = await start("integration: Billing, expires: 2020-01-01");
    const codes = async (...argv: readonly string[]) => diagnosticsOf(await made(...argv)).map(({ code }) => code);
    expect(await codes("plan")).toEqual(["W_UNUSED"]);
    expect([...(await codes("plan", "--only", "Integration/orders")), ...(await codes("validate"))]).toEqual([]);
    service.addFault("GET .*/schemas=status:403");
    expect(await codes("plan")).not.toContain("W_UNUSED");
  });

  test("that is not allowed, or ends soon, is reported by validate", async () => {
    const { made } = await start(`column: email, expires: ${dayIn(9)}`, `integration: orders, expires: ${dayIn(9)}`);
    expect(diagnosticsOf(await made("validate")).map(({ code }) => code)).toEqual(["E_EXEMPTION_TOO_WIDE", "W_EXEMPTION_ENDS"]);
  });
});
