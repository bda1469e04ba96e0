import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { pause } from "../../../src/core/service/connection/abort-listeners.ts";
import { createWatch, type InFlight, type Watch } from "../../../src/core/service/in-flight.ts";
import { manualTimeouts } from "../../support/clock.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** A request that records how it ended, and then has ended, like a real one. */
function request(watch: Watch, name: string, noted: string[], signal?: AbortSignal): InFlight {
  const ends = (how: string) => (): void => {
    noted.push(`${name}: ${how}`);
    watch.end(self);
  };
  const self: InFlight = { signal, expire: ends("expired"), interrupt: ends("interrupted") };
  watch.begin(self);
  return self;
}

test("each request expires at its own time, in the order in which they began", () => {
  const clock = manualTimeouts();
  const watch = createWatch(50, clock);
  const noted: string[] = [];
  request(watch, "first", noted);
  clock.pass(20);
  request(watch, "second", noted);
  clock.pass(29);
  expect(noted).toEqual([]);
  clock.pass(1);
  expect(noted).toEqual(["first: expired"]);
  clock.pass(20);
  expect(noted).toEqual(["first: expired", "second: expired"]);
});

test("a request that has ended does not expire, and one that began after it does", () => {
  const clock = manualTimeouts();
  const watch = createWatch(20, clock);
  const noted: string[] = [];
  const answered = request(watch, "answered", noted);
  request(watch, "silent", noted);
  watch.end(answered);
  clock.pass(50);
  expect(noted).toEqual(["silent: expired"]);
});

test("nothing keeps the process alive after the last request has ended", () => {
  const watch = createWatch(60_000);
  const before = timers();
  const requests = [request(watch, "a", []), request(watch, "b", [])];
  expect(timers()).toBe(before + 1);
  for (const one of requests) watch.end(one);
  expect(timers()).toBe(before);
});

test("an abort ends only the requests of that signal, with one listener that is removed afterwards", () => {
  const watch = createWatch(60_000);
  const noted: string[] = [];
  const [mine, other] = [new AbortController(), new AbortController()];
  const ended = request(watch, "ended", noted, mine.signal);
  const requests = [
    request(watch, "a", noted, mine.signal),
    request(watch, "b", noted, mine.signal),
    request(watch, "c", noted, other.signal),
    request(watch, "d", noted),
  ];
  watch.end(ended);
  expect(getEventListeners(mine.signal, "abort")).toHaveLength(1);
  mine.abort();
  expect(noted).toEqual(["a: interrupted", "b: interrupted"]);
  for (const one of requests) watch.end(one);
  expect([mine, other].map(({ signal }) => getEventListeners(signal, "abort").length)).toEqual([0, 0]);
});

describe("a pause", () => {
  test("ends after its time, without a signal and with one", async () => {
    const { signal } = new AbortController();
    await Promise.all([pause(1, undefined), pause(1, signal)]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("ends early by an abort, before or while it waits, and leaves no timer", async () => {
    const abort = new AbortController();
    const before = timers();
    const waiting = [pause(60_000, abort.signal), pause(60_000, abort.signal)];
    expect(timers()).toBe(before + 2);
    // Node warns of a leak from the eleventh one on.
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(1);
    abort.abort();
    await Promise.all([...waiting, pause(60_000, abort.signal)]);
    expect(timers()).toBe(before);
  });
});
