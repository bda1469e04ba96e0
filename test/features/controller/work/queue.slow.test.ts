import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { type DeliveryJob, openQueue } from "../../../../src/features/controller/work/queue.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";
import { waiting } from "../../../support/waiting.ts";

/** A queue whose statements that look for checks are counted. */
async function counting(database: Database) {
  const seen = { polls: 0 };
  const query: Database["query"] = (text, values) => {
    if (/active_group_count|j\.name = 'check'/u.test(text)) seen.polls++;
    return database.query(text, values);
  };
  return { seen, queue: await openQueue({ ...database, query }, () => {}) };
}

const nothing = async (): Promise<void> => {};

describeDatabases("the queue", (database) => {
  it("is polled by one worker, however many there are", async () => {
    const { seen, queue } = await counting(database());
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await queue.work({ check: nothing, cleanup: nothing }, { accountsAtOnce: 30, accountsPerHost: 4 });
    // Each worker polls once when it starts.
    while (seen.polls < 30) await sleep(20);
    for (const polls of [31, 32, 33]) {
      vi.advanceTimersByTime(1_000);
      while (seen.polls < polls) await sleep(20);
    }
    await queue.stop(5_000);
    expect(seen.polls).toBe(33);
  });

  it("runs all jobs that are ready without a pause between them, and several at once", async () => {
    const { queue } = await counting(database());
    const accounts = Array.from({ length: 40 }, (_, index) => index + 1);
    for (const account of accounts) await queue.request(account, `host-${account}`);
    const done: number[] = [];
    let running = 0;
    let most = 0;
    const check = async ({ account }: { readonly account: number }): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(account <= 3 ? 4_000 : 20);
      running--;
      done.push(account);
    };
    await queue.work({ check, cleanup: nothing }, { accountsAtOnce: 4, accountsPerHost: 4 });
    await vi.waitFor(() => expect(done).toHaveLength(40), waiting);
    expect(most).toBe(4);
    expect(new Set(done).size).toBe(40);
    await queue.stop(5_000);
  });

  it("starts late jobs on all idle workers after one poll", async () => {
    const { seen, queue } = await counting(database());
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const accounts = [1, 2, 3, 4, 5, 6];
    const events = new EventEmitter();
    const allRun = once(events, "all run");
    let running = 0;
    const check = async (): Promise<void> => {
      if (++running === accounts.length) events.emit("all run");
      await once(events, "end");
    };
    await queue.work({ check, cleanup: nothing }, { accountsAtOnce: accounts.length, accountsPerHost: 4 });
    // Each worker polls once when it starts.
    while (seen.polls < accounts.length) await sleep(20);
    for (const account of accounts) await queue.request(account, `host-${account}`, -60);
    vi.advanceTimersByTime(1_000);
    await allRun;
    events.emit("end");
    await queue.stop(5_000);
  });

  it("sends what waits for a receiver at once when it is back, most severe first", async () => {
    const { queue } = await counting(database());
    const [tried, sent]: [number[], number[]] = [[], []];
    let isDown = true;
    const handler = async ({ message, priority }: DeliveryJob): Promise<void> => {
      tried.push(priority);
      if (isDown) throw new Error("down");
      if (!sent.includes(Number(message))) sent.push(Number(message));
    };
    for (const priority of [0, 2, 1]) {
      const job = { source: "data", receiver: "chat", message: String(priority), priority };
      await queue.deliver({ ...job, id: randomUUID() });
    }
    await queue.workOnDeliveries(handler);
    while (new Set(tried).size < 3) await sleep(20);
    const jobs = "from dimsync_queue.job where name = 'notify' and state = 'retry'";
    const waits = async () => (await database().query(`select ${jobs}`, [])).rowCount;
    while ((await waits()) !== 3) await sleep(20);
    await database().query("update dimsync_queue.job set start_after = now() + priority * interval '1 day' where name = 'notify'", []);
    isDown = false;
    while (sent.length < 3) await sleep(20);
    expect(sent).toEqual([2, 1, 0]);
    await queue.stop(5_000);
  });

  it("keeps one waiting check for each account, at the time that was requested last", async () => {
    const { queue } = await counting(database());
    const startOf = async (account: number): Promise<number> => {
      const { rows } = await database().query(
        "select extract(epoch from start_after - now())::float8 as seconds from dimsync_queue.job_common where name = 'check' and singleton_key = $1 and state = 'created'",
        [String(account)],
      );
      expect(rows).toHaveLength(1);
      return Number(rows[0]?.seconds);
    };
    await queue.request(101, "h", 3_600);
    expect(await startOf(101)).toBeGreaterThan(3_000);
    await queue.request(101, "h");
    expect(await startOf(101)).toBeLessThanOrEqual(1);
    await queue.request(101, "h", 3_600);
    expect(await startOf(101)).toBeGreaterThan(3_000);
    await queue.stop(0);
  });
});
