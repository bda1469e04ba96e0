import { expect, test } from "vitest";
import type { Impact, Reader } from "../../../../src/core/model/plan.ts";
import { markupOf } from "../../../../src/core/render/html/html.ts";
import { pageOf } from "../../../../src/core/render/html/index.ts";
import { page } from "../../../../src/core/render/html/page.ts";
import { drawMarkdown } from "../../../../src/core/render/markdown/index.ts";
import { reportOf } from "../../../../src/core/render/report.ts";
import { drawHuman } from "../../../../src/core/render/terminal/index.ts";
import { fullPlan } from "../full-plan.ts";

const reader = (name: string, more: Partial<Reader> = {}): Reader => ({
  ...{ kind: "model", name, path: `models/${name}.sql`, via: "shop.customers", certainty: "mentions" },
  ...more,
});
const email: Impact = {
  ...{ addresses: ["Schemas/orders"], schema: "public", table: "customers", column: "email" },
  readers: [
    reader("not_null_customers_email", { kind: "test", certainty: "certain" }),
    reader("stg_customers"),
    reader("dim_customer"),
    reader("fct_churn", { certainty: "mayRead" }),
    reader("revenue_dashboard", { kind: "exposure", certainty: "mayRead", owner: "finance@example.com" }),
  ],
  tableReaders: 1,
};
const options = { color: false, verbose: false };
const drawn = (impact: readonly Impact[]) => {
  const report = reportOf({ ...fullPlan, impact }, options);
  return {
    terminal: drawHuman(report, options),
    markdown: drawMarkdown(report, "full"),
    html: markupOf(page(pageOf(report))),
  };
};

test("a plan says who reads a column that changes, and how certain that is", () => {
  const { terminal, markdown, html } = drawn([email]);
  expect(terminal).toContain(`Who reads what changes (1):
! Schemas/orders   public.customers.email   read by 3 models, 1 test, 1 exposure
    1 more model reads the table.
    Owners: finance@example.com
    tests that can fail:   not_null_customers_email
    mention it:            stg_customers, dim_customer
    may read it:           fct_churn, exposure revenue_dashboard
`);
  // Code: the comment mentions nobody.
  expect(markdown).toContain("Owners: `finance@example.com`");
  expect(markdown).toMatch(/<details>\s*<summary>.*Who reads what changes/su);
  expect(html.replaceAll("<wbr>", "")).toContain("finance@example.com</code>");
});

test("a column that nobody reads, of a table that a model reads, has no other models", () => {
  expect(drawn([{ ...email, readers: [] }]).terminal).toContain(
    "! Schemas/orders   public.customers.email\n    1 model reads the table.\n",
  );
});

test("several columns are summed up, and each reader and owner counts once", () => {
  const { terminal } = drawn([email, { ...email, column: "phone" }, { ...email, column: "fax", readers: [], tableReaders: 0 }]);
  expect(terminal).toContain("Who reads what changes (2):");
  expect(terminal).toContain("All of them: read by 3 models, 1 test, 1 exposure.");
  expect(terminal.match(/Owners:/gu)).toHaveLength(1);
  expect(drawn([{ ...email, moreReaders: 7 }, email]).terminal).toContain("All of them: read by at least 3 models, 1 test, 1 exposure.");
});

test("the columns of equal integrations are one entry, and each counts", () => {
  const { terminal, markdown } = drawn([{ ...email, addresses: ["Schemas/shop-01", "Schemas/shop-02", "Schemas/shop-03"] }]);
  expect(terminal).toContain(`Who reads what changes (3):
! Schemas/shop-01 and 2 more integrations   public.customers.email
`);
  expect(markdown).toContain("Who reads what changes (3)");
});

test("names of dbt are hostile", () => {
  const { terminal, markdown, html } = drawn([{ ...email, readers: [reader("<img src=x>\u001b[31m\n@org/team", { owner: "`@org`" })] }]);
  expect(terminal).not.toMatch(/\n@org/u);
  expect(markdown).not.toMatch(/<img|\n@org|[^`]`?@org\/team/u);
  expect(html).not.toContain("<img src=x>");
});
