import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eachChange } from "../../../src/core/model/changes.ts";
import type { Comparison } from "../../../src/core/model/comparison.ts";
import { runCompare } from "../../../src/features/compare/command.ts";
import type { CompareFlags } from "../../../src/features/compare/index.ts";
import { runSnapshot } from "../../../src/features/snapshot/command.ts";
import type { SnapshotFlags } from "../../../src/features/snapshot/index.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

const json = { output: ["json"] };

describe("compare", () => {
  const compare = async (from: string, to: string): Promise<Comparison> =>
    JSON.parse((await project.run<CompareFlags>(runCompare, { ...json, from, to })).out) as Comparison;

  /** "Schemas/Orders /schemas/public/enabled true → false (exposes)" */
  const changesIn = ({ items }: Comparison): readonly string[] =>
    items.flatMap((item) =>
      [...eachChange(item)].map(({ path, before, after, risk }) => `${item.address} ${path} ${before} → ${after} (${risk})`),
    );

  test("a target equals its snapshot; later changes are listed, less protected ones first, in every format", async () => {
    const hashId = (hashed: boolean): void =>
      project.service.mutate(({ integrations: [orders] }) => {
        const id = orders?.schemas["public"]?.tables["users"]?.columns["id"];
        if (id !== undefined) id.hashed = hashed;
      });
    hashId(true);
    await project.run<SnapshotFlags>(runSnapshot, { out: "before.json" });
    expect(await compare("before.json", "prod")).toMatchObject({ items: [], onlyFrom: [], onlyTo: [], exit: { code: 0 } });
    project.service.mutate((account) => {
      const [orders, billing] = account.integrations;
      const users = orders?.schemas["public"]?.tables["users"];
      if (users?.columns["email"] !== undefined) users.columns["email"].hashed = true;
      if (orders?.schemas["public"] !== undefined)
        orders.schemas["public"].tables["new"] = { nameInDestination: "new", enabled: true, syncMode: "hard_delete", columns: {} };
      if (billing !== undefined) billing.paused = true;
      const [pii, finance] = account.tags;
      if (pii !== undefined) pii.owner = "u-1";
      if (finance !== undefined) finance.name = "Money";
      pii?.relations.splice(0, 1);
    });
    hashId(false);
    const comparison = await compare("before.json", "prod");
    expect(comparison.exit).toEqual({ code: 2, reasons: ["differences"] });
    expect(comparison.onlyFrom).toEqual([{ address: "Tag/Finance", id: "t-2" }]);
    expect(comparison.onlyTo).toEqual([{ address: "Tag/Money", id: "t-2" }]);
    expect(changesIn(comparison)).toEqual([
      "Schemas/Orders /schemas/public/tables/new/exists false → true (neutral)",
      "Schemas/Orders /schemas/public/tables/users/columns/email/hashed false → true (protects)",
      "Schemas/Orders /schemas/public/tables/users/columns/id/hashed true → false (exposes)",
      "Integration/Billing /paused false → true (neutral)",
      "Tag/PII /owner privacy@example.com → dana@example.com (neutral)",
      "Tag/PII /resources/Orders true → undefined (neutral)",
    ]);
    const { out } = await project.run<CompareFlags>(runCompare, { from: "before.json", to: "prod" });
    expect(out).toMatchInlineSnapshot(`
      "Comparison of before.json → prod

      ~ Schemas/Orders   (8f1c)
          public.users.id hashed      true → false   less protected
          public.users.email hashed   false → true   more protected
          public.new exists           false → true

      ~ Integration/Billing   (b27d)
          paused   false → true

      ~ Tag/PII   (t-1)
          owner              "privacy@example.com" → "dana@example.com"
          resources.Orders   true → (none)

      Only in prod (1):
          Tag/Money   t-2

      Only in before.json (1):
          Tag/Finance   t-2

      Comparison: 6 differences in 3 objects; 2 only in one of them; 1 less protected.
      Exit 2 (differences): the accounts differ.
      "
    `);
    const markdown = await project.run<CompareFlags>(runCompare, { from: "before.json", to: "prod", output: ["markdown"] });
    expect(markdown.out).toMatchInlineSnapshot(`
      "## Comparison of \`before.json → prod\`: 6 differences in 3 objects

      **2 only in one of them; 1 less protected.**

      ### Differences

      #### \`~\` \`Schemas/Orders\` (\`8f1c\`)

      | Path | From | To | Risk |
      | --- | --- | --- | --- |
      | \`public.users.id hashed\` | \`true\` | \`false\` | ⚠️ **less protected** |
      | \`public.new exists\` | \`false\` | \`true\` |  |
      | \`public.users.email hashed\` | \`false\` | \`true\` | more protected |

      #### \`~\` \`Integration/Billing\` (\`b27d\`)

      | Path | From | To |
      | --- | --- | --- |
      | \`paused\` | \`false\` | \`true\` |

      #### \`~\` \`Tag/PII\` (\`t-1\`)

      | Path | From | To |
      | --- | --- | --- |
      | \`owner\` | \`"privacy@example.com"\` | \`"dana@example.com"\` |
      | \`resources.Orders\` | \`true\` | \`(none)\` |

      ### Only in before.json (1)

      - \`Tag/Finance\` \`t-2\`

      ### Only in prod (1)

      - \`Tag/Money\` \`t-2\`

      ---

      Exit 2 (differences): the accounts differ.
      "
    `);
    const html = await project.run<CompareFlags>(runCompare, { from: "before.json", to: "prod", output: ["html"] });
    expect(html.out).toContain("Comparison of before.json → prod");
  });

  test("columns that one side did not return are unknown and not compared", async () => {
    const snake = await openAccountProject(undefined, { schemaForm: "snake" });
    try {
      const email = { schema: "public", table: "users", column: "email" };
      snake.service.mutate(({ integrations: [orders] }) => {
        const column = orders?.schemas[email.schema]?.tables[email.table]?.columns[email.column];
        if (column !== undefined) column.hashed = true;
      });
      const file = join(project.folder, "snake.json");
      await snake.run<SnapshotFlags>(runSnapshot, { out: file });
      expect(changesIn(await compare("prod", file))).toEqual([
        "Schemas/Orders /schemas/public/tables/users/columns/email/hashed false → true (protects)",
      ]);
      expect(changesIn(await compare(file, "prod"))).toHaveLength(1);
    } finally {
      await snake.close();
    }
  });

  test("a missing snapshot is reported as a file, not as a target", async () => {
    const { code, err } = await project.run<CompareFlags>(runCompare, { from: "gone.json", to: "prod" });
    expect(code).toBe(1);
    expect(err).toContain("E_SNAPSHOT");
  });
});
