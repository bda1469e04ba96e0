// After the import of any account the plan is empty, and a second import changes nothing.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanFlags } from "../../src/cli/flags.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import type { AccountState } from "../../src/embedded/data/account.ts";
import { runPlan } from "../../src/features/plan/command.ts";
import { accountState, liveChange, makeChange } from "../features/import/random-account.ts";
import { type AccountProject, openAccountProject } from "../support/accounts/project.ts";
import fc from "../support/fast-check.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { runs } from "../support/sample.ts";
import { inForm, serviceForms } from "../support/service.ts";

const usual = { numRuns: runs(2, 300) };

async function withProject<T>(project: Promise<AccountProject>, work: (project: AccountProject) => Promise<T>): Promise<T> {
  const opened = await project;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

test.each(serviceForms)("after import of any account (%s), the plan is empty, and a second import changes nothing", async (form) => {
  await fc.assert(
    fc.asyncProperty(accountState, (state) =>
      withProject(openAccountProject(state, inForm(form)), async (project) => {
        const report = await project.importJson();
        expect(report.failures).toEqual([]);
        expect(report.remaining).toEqual([]);
        expect(report.exit.code).toBe(0);
        expect(await warnings(project)).toEqual([]);
        expect(Object.keys(project.service.counts()).filter((method) => method !== "GET")).toEqual([]);
        const before = await project.files();
        const again = await project.importJson();
        expect(again.files).toEqual([]);
        expect(await project.files()).toEqual(before);
      }),
    ),
    usual,
  );
});

test("a second import keeps every comment whatever changed in the account, and a third one changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      accountState,
      fc.array(liveChange, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...serviceForms),
      (state, changes, form) =>
        withProject(openAccountProject(state, inForm(form)), async (project) => {
          await project.importJson();
          const commented = await comment(project);
          project.service.mutate((account) => {
            for (const change of changes) makeChange(account, change);
          });
          expect((await project.importJson()).failures).toEqual([]);
          const after = await project.files();
          for (const [path, text] of Object.entries(commented)) {
            const kept = new Set((after[path] ?? "").split("\n"));
            expect(text.split("\n").filter((line) => line.includes("# kept") && !kept.has(line))).toEqual([]);
          }
          expect((await project.importJson()).files).toEqual([]);
          expect(await project.files()).toEqual(after);
        }),
    ),
    usual,
  );
});

test("a change of what manifests cover changes no file", async () => {
  const leaf = liveChange.map((change) => ({ ...change, what: leaves[change.at % leaves.length] ?? "paused" }));
  await fc.assert(
    fc.asyncProperty(accountState, leaf, fc.constantFrom(...serviceForms), (state, change, form) =>
      withProject(openAccountProject(state, inForm(form)), async (project) => {
        await project.importJson();
        const before = await project.files();
        let isCovered = true;
        project.service.mutate((account) => {
          const protectedBefore = protectedColumns(account);
          makeChange(account, change);
          isCovered = [...protectedColumns(account)].every((column) => protectedBefore.has(column));
        });
        if (!isCovered) return;
        expect((await project.importJson()).files).toEqual([]);
        expect(await project.files()).toEqual(before);
      }),
    ),
    usual,
  );
});

/** What makes columns unreadable: import writes it into manifests, and nothing else of schemas. */
const protectedColumns = (account: AccountState): ReadonlySet<string> =>
  new Set(
    account.integrations.flatMap(({ id, schemas }) =>
      Object.entries(schemas).flatMap(([schema, { tables }]) =>
        Object.entries(tables).flatMap(([table, { columns }]) =>
          Object.entries(columns).flatMap(([column, { enabled, hashed }]) => [
            ...(enabled ? [] : [JSON.stringify([id, schema, table, column, "disabled"])]),
            ...(hashed ? [JSON.stringify([id, schema, table, column, "hashed"])] : []),
          ]),
        ),
      ),
    ),
  );

const leaves = ["column-enabled", "column-hashed", "paused", "description", "owner"] as const;

/**
 * The warnings of a plan: an import writes nothing that causes a warning, except that an empty
 * account is empty, and that names are written as they are.
 */
async function warnings(project: AccountProject): Promise<readonly string[]> {
  const { out, err } = await project.run<PlanFlags>(runPlan, { output: ["json"], failOn: [], allow: [] });
  if (out === "") throw new Error(err);
  const diagnostics = diagnosticsOf(JSON.parse(out) as Plan);
  const tables = project.service
    .state()
    .integrations.flatMap(({ schemas }) => Object.values(schemas).flatMap((schema) => Object.values(schema.tables)));
  const expected = [
    ...["W_NO_MANIFESTS", "W_HIDDEN_CHARACTER"],
    ...(tables.some(({ columns }) => Object.keys(columns).length === 0) ? ["W_COLUMNS_UNKNOWN"] : []),
  ];
  return diagnostics.flatMap(({ severity, code, message }) =>
    severity === "info" || expected.includes(code ?? "") ? [] : [`${code} ${message}`],
  );
}

/** Puts a comment line above every third line of the manifests. */
async function comment(project: AccountProject): Promise<Readonly<Record<string, string>>> {
  const commented: Record<string, string> = {};
  let number = 0;
  for (const [path, text] of Object.entries(await project.files())) {
    if (!path.startsWith("manifests/")) continue;
    const lines = text.split("\n").flatMap((line, index) => {
      // Inside a wrapped list, a comment belongs to the list, and is removed if the list becomes
      // empty.
      const isSafe = index % 3 === 0 && /^ *(?:- )?[a-z"']/iu.test(line);
      return isSafe ? [`${/^ */u.exec(line)?.[0] ?? ""}# kept ${number++}`, line] : [line];
    });
    commented[path] = lines.join("\n");
    await writeFile(join(project.folder, path), lines.join("\n"));
  }
  return commented;
}
