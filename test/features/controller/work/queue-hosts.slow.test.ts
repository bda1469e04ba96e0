import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { openQueue } from "../../../../src/features/controller/work/queue.ts";
import { newDatabase } from "../../../support/postgres/controller-database.ts";
import { sharedPostgres } from "../../../support/postgres/shared.ts";
import { needs } from "../../../support/programs.ts";
import { waiting } from "../../../support/waiting.ts";

/** Checks 8 accounts of one host and 4 of another one, with at most 2 of a host at once. Resolves with the most at once of each host, and of all. */
async function mostAtOnce(processes: number): Promise<ReadonlyMap<string, number>> {
  const url = processes > 1 ? await (await sharedPostgres()).database() : undefined;
  const worker = async () => {
    const database = url === undefined ? await newDatabase() : openDatabase(url, 6);
    const queue = await openQueue(database, () => undefined);
    onTestFinished(async () => {
      await queue.stop(10_000);
      await database.close();
    });
    return queue;
  };
  const workers = await Promise.all(Array.from({ length: processes }, worker));
  // Accounts 1 to 8 are of one host, 101 to 104 of another one.
  const accounts = [...Array.from({ length: 8 }, (_, index) => index + 1), 101, 102, 103, 104];
  const hostOf = (account: number): string => (account > 100 ? "small.example.com" : "large.example.com");
  for (const account of accounts) await workers[0]?.request(account, hostOf(account));
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const count = (host: string, by: number): void => {
    running.set(host, (running.get(host) ?? 0) + by);
    most.set(host, Math.max(most.get(host) ?? 0, running.get(host) ?? 0));
  };
  const checked: number[] = [];
  const check = async ({ account }: { readonly account: number }): Promise<void> => {
    for (const host of [hostOf(account), "all"]) count(host, 1);
    await sleep(500);
    for (const host of [hostOf(account), "all"]) count(host, -1);
    checked.push(account);
  };
  const others = { cleanup: async () => undefined };
  for (const queue of workers) await queue.work({ check, ...others }, { accountsAtOnce: 8, accountsPerHost: 2 });
  await vi.waitFor(() => expect(checked.toSorted((a, b) => a - b)).toEqual(accounts), waiting);
  return most;
}

test("a worker checks no more accounts of a host at once than --accounts-per-host, and others meanwhile", async () => {
  const most = await mostAtOnce(1);
  for (const host of ["large.example.com", "small.example.com"]) expect(most.get(host)).toBeLessThanOrEqual(2);
  expect(most.get("all")).toBeGreaterThan(2);
});

test("so do two workers together, but for one that both take at the same time", needs("postgresql"), async () => {
  const most = await mostAtOnce(2);
  for (const host of ["large.example.com", "small.example.com"]) expect(most.get(host)).toBeLessThanOrEqual(3);
});
