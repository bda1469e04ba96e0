import { test } from "vitest";
import fc from "../support/fast-check.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runs } from "../support/sample.ts";
import { holds } from "./matrix.ts";

test("no run ends well while what was kept once is readable, with records in PostgreSQL", async () => {
  const server = await sharedPostgres();
  await fc.assert(
    holds(async () => ({ database: await server.database() })),
    { numRuns: runs(4, 100) },
  );
}, 3_600_000);
