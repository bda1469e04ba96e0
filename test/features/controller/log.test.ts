// A reason is in the log once a minute, however often it occurs, and what a check found each time.
import { expect, test } from "vitest";
import { makeLog } from "../../../src/features/controller/log.ts";

test("the same warning is written once a minute for each account; other messages always", () => {
  const lines: string[] = [];
  let now = Date.parse("2026-03-01T09:00:00Z");
  const log = makeLog(
    "text",
    (line) => void lines.push(line),
    () => now,
  );
  for (let second = 0; second < 120; second++) {
    log("The queue: the connection to the database failed", { level: "error" });
    now += 1_000;
  }
  for (const account of ["prod", "eu", "prod"]) log("It is behind.", { level: "warn", account });
  for (const _ of [1, 2]) log("0 exposed", { account: "prod" });
  expect(lines.map((line) => line.trimEnd())).toEqual([
    "2026-03-01T09:00:00.000Z The queue: the connection to the database failed",
    "2026-03-01T09:01:00.000Z The queue: the connection to the database failed",
    "2026-03-01T09:02:00.000Z prod: It is behind.",
    "2026-03-01T09:02:00.000Z eu: It is behind.",
    "2026-03-01T09:02:00.000Z prod: 0 exposed",
    "2026-03-01T09:02:00.000Z prod: 0 exposed",
  ]);
});
