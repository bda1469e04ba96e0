// A repair of the running controller protects and exposes nothing, judged from the data of the account.
import { expect, test } from "vitest";
import { leavesOf, readableColumns, without } from "./account.ts";
import { repairByController } from "./run.ts";
import { changedBy, isKept, mirroredWorlds, wantedChanges } from "./world.ts";

test.each(
  mirroredWorlds.map(
    (given) => [Object.keys(given.account.integrations[0]?.schemas["public"]?.tables["customers"]?.columns ?? {}), given] as const,
  ),
)("columns %j: the controller sends what protects and nothing else", async (_, given) => {
  const before = leavesOf(given.account, "stored");
  const after = leavesOf(await repairByController(given), "stored");
  const wanted = [...wantedChanges(given).values()].filter(({ protects }) => protects);
  expect(wanted).toHaveLength(1);
  expect([...after.values()]).toEqual([...changedBy(before, wanted).values()]);
  expect(without(readableColumns(after), readableColumns(before))).toEqual([]);
  expect([...readableColumns(after)].filter((column) => isKept(given, column.split("/")))).toEqual([]);
});
