import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CompareFlags, SnapshotFlags } from "../../src/cli/flags.ts";
import { runCompare } from "../../src/commands/adopt/compare.ts";
import { runSnapshot } from "../../src/commands/adopt/snapshot.ts";
import type { Comparison } from "../../src/operations/adopt/compare.ts";
import { type AccountProject, openAccountProject } from "../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

const json = { output: ["json"] };

describe("compare", () => {
  const compare = async (from: string, to: string): Promise<Comparison> =>
    JSON.parse((await project.run<CompareFlags>(runCompare, { ...json, from, to })).out) as Comparison;

  test("a target equals its snapshot; later changes are listed leaf by leaf", async () => {
    await project.run<SnapshotFlags>(runSnapshot, { out: "before.json" });
    expect(await compare("before.json", "prod")).toMatchObject({ differences: [], exit: { code: 0 } });
    project.service.mutate((account) => {
      const [orders, billing] = account.integrations;
      const email = orders?.schemas["public"]?.tables["users"]?.columns["email"];
      if (email !== undefined) email.hashed = true;
      if (billing !== undefined) billing.paused = true;
      const [pii, finance] = account.tags;
      if (pii !== undefined) pii.owner = "u-1";
      if (finance !== undefined) finance.name = "Money";
      pii?.relations.splice(0, 1);
    });
    const { differences, exit } = await compare("before.json", "prod");
    expect(exit.code).toBe(2);
    expect(differences).toEqual([
      { object: "Integration Billing", path: "/paused", from: false, to: true },
      { object: "Integration Orders", path: "/schemas/public/tables/users/columns/email/hashed", from: false, to: true },
      { object: "Tag Finance", path: "", from: "t-2" },
      { object: "Tag Money", path: "", to: "t-2" },
      { object: "Tag PII", path: "/owner", from: "privacy@example.com", to: "dana@example.com" },
      { object: "Tag PII", path: "/resources/Orders", from: true },
    ]);
    const { out } = await project.run<CompareFlags>(runCompare, { from: "before.json", to: "prod" });
    expect(out).toMatch(/ {2}schemas\/public\/tables\/users\/columns\/email\/hashed +false → true\n/u);
    expect(out).toContain("6 differences in 5 objects.");
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
      const { differences } = await compare("prod", file);
      expect(differences).toEqual([
        { object: "Integration Orders", path: "/schemas/public/tables/users/columns/email/hashed", from: false, to: true },
      ]);
      expect((await compare(file, "prod")).differences).toHaveLength(1);
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
