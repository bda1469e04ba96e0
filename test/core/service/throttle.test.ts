// Requests in flight follow what the service can take.
import { expect, test } from "vitest";
import { type Backpressure, createThrottle, type Throttle } from "../../../src/core/service/throttle.ts";

interface Limits {
  readonly concurrency: number;
  readonly smallConcurrency?: number;
  readonly rate?: number;
  readonly now?: () => number;
}

const throttleOf = ({ concurrency, smallConcurrency = concurrency, rate, now = () => 0 }: Limits): Throttle =>
  createThrottle({ concurrency, smallConcurrency, rate, now });

const turn = { isSmall: false, loadOf: (load: Backpressure) => load, wait: async () => {} };

/** Requests `count` turns, and returns how many of the tasks run before the first of them ends with `load`. */
async function atOnce(
  throttle: Throttle,
  count: number,
  { load, isSmall = false }: { readonly load: Backpressure; readonly isSmall?: boolean },
): Promise<number> {
  let started = 0;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const task = async (): Promise<Backpressure> => {
    started += 1;
    await ended;
    return load;
  };
  const all = Array.from({ length: count }, () => throttle.run(task, { ...turn, isSmall }));
  await new Promise(setImmediate);
  const first = started;
  end();
  await Promise.all(all);
  return first;
}

test("concurrency starts with 4 and grows to the limit with good responses only", async () => {
  const throttle = throttleOf({ concurrency: 16 });
  expect(await atOnce(throttle, 20, { load: "unknown" })).toBe(4);
  expect(await atOnce(throttle, 60, { load: "fine" })).toBe(4);
  expect(await atOnce(throttle, 60, { load: "fine" })).toBe(16);
  expect(await atOnce(throttleOf({ concurrency: 2 }), 10, { load: "fine" })).toBe(2);
});

test("it is halved once for all that were in flight together, never below 1", async () => {
  const throttle = throttleOf({ concurrency: 16 });
  await atOnce(throttle, 60, { load: "fine" });
  expect(await atOnce(throttle, 16, { load: "overloaded" })).toBe(16);
  expect(await atOnce(throttle, 20, { load: "unknown" })).toBe(8);
  for (let i = 0; i < 8; i += 1) await atOnce(throttle, 1, { load: "overloaded" });
  expect(await atOnce(throttle, 5, { load: "unknown" })).toBe(1);
});

test("it grows further while responses are small, and other requests do not use the rest", async () => {
  const throttle = throttleOf({ concurrency: 8, smallConcurrency: 128 });
  await atOnce(throttle, 200, { load: "fine", isSmall: true });
  expect(await atOnce(throttle, 200, { load: "fine" })).toBe(8);
  expect(await atOnce(throttle, 200, { load: "fine", isSmall: true })).toBe(128);
});

test("above the usual concurrency, every failure counts as overload", async () => {
  const throttle = throttleOf({ concurrency: 8, smallConcurrency: 128 });
  await atOnce(throttle, 200, { load: "fine", isSmall: true });
  expect(await atOnce(throttle, 128, { load: "unknown", isSmall: true })).toBe(128);
  expect(await atOnce(throttle, 64, { load: "unknown", isSmall: true })).toBe(64);
  for (let i = 0; i < 8; i += 1) await atOnce(throttle, 1, { load: "unknown", isSmall: true });
  expect(await atOnce(throttle, 64, { load: "unknown", isSmall: true })).toBe(8);
});

test("tasks run first in, first out, whatever their size", async () => {
  const throttle = throttleOf({ concurrency: 1, smallConcurrency: 4 });
  const order: number[] = [];
  const task = async (index: number): Promise<Backpressure> => {
    order.push(index);
    return "fine";
  };
  const indexes = Array.from({ length: 60 }, (_, index) => index);
  await Promise.all(indexes.map((index) => throttle.run(() => task(index), { ...turn, isSmall: index % 3 !== 0 })));
  expect(order).toEqual(indexes);
});

test("as many requests per second start as the rate allows, and no more", async () => {
  let now = 0;
  const throttle = throttleOf({ concurrency: 1, rate: 10, now: () => now });
  const wait = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
  };
  const begun: number[] = [];
  const task = async (): Promise<Backpressure> => {
    begun.push(now);
    return "fine";
  };
  for (let i = 0; i < 4; i += 1) await throttle.run(task, { ...turn, wait });
  now = 1_000;
  await throttle.run(task, { ...turn, wait });
  await throttle.run(task, { ...turn, wait });
  expect(begun).toEqual([0, 100, 200, 300, 1_000, 1_100]);
});
