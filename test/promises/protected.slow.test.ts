// No run ends well while what was kept once is readable, also with PostgreSQL, the controller and ci drift (P).
import { test } from "vitest";
import fc from "../support/fast-check.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runs } from "../support/sample.ts";
import { holds, withLabelLost } from "./matrix.ts";

test("no run ends well while what was kept once is readable, with records in PostgreSQL", async () => {
  const server = await sharedPostgres();
  await fc.assert(
    holds(async () => ({ database: await server.database() })),
    { numRuns: runs(4, 100) },
  );
}, 3_600_000);

test("neither the check of the controller nor ci drift ends well while what was kept once is readable", async () => {
  const examples = ["ci drift", "check"].map((run) => [withLabelLost(run)] as [ReturnType<typeof withLabelLost>]);
  await fc.assert(
    holds(async () => "folder", "processes"),
    { numRuns: runs(2, 300), examples },
  );
}, 3_600_000);
