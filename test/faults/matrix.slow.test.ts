// Whatever one request or write to the records does, a later run finishes, and nothing is created twice.
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { folderStore, gitStore } from "./machines.ts";
import { disturb } from "./matrix.ts";
import { kills, kindInFolder, matrixOfFile, tryStore, unheard, unsent } from "./matrix-suite.ts";

const matrix = matrixOfFile();

describe("the records are in the folder: a later run finishes", () => tryStore(matrix, "folder", async () => folderStore));
describe("the records are in git: a later run finishes", () => tryStore(matrix, "git", gitStore));

it("every kind of request and every fault is tried, and each kind of write to the records", () => {
  const kinds = new Set(matrix.sampled().map(({ kind }) => kind));
  const faults = [...unsent, ...unheard, ...kills.map((kill) => `SIGKILL ${kill}`)];
  const requests = [...new Set(matrix.requests().map(kindInFolder))];
  const tried = (some: readonly string[], kindsOfRequests: readonly string[]): number =>
    some.flatMap((fault) => kindsOfRequests.filter((request) => kinds.has(`folder ${fault} ${request}`))).length;
  for (const fault of faults) expect(tried([fault], requests)).toBeGreaterThanOrEqual(1);
  for (const request of requests)
    expect([unsent, unheard, faults.slice(-kills.length)].map((some) => tried(some, [request]) > 0)).toEqual([true, true, true]);
  expect([...kinds].filter((kind) => kind.includes("test.records")).length).toBeGreaterThan(2);
  // Two for early and late writes at each moment, and one for requests that read.
  expect([...kinds].filter((kind) => /^(?:git|postgres) /u.test(kind))).toHaveLength(
    2 * (unsent.length + unheard.length + 2 * kills.length + 1),
  );
});

it("a create is not sent again before the service allows it", async () => {
  const posts = matrix.requests().filter(({ method, nth }) => method === "POST" && nth === 1);
  const fault = "status:429;retry-after=1";
  const outcomes = await pLimit(3).map(posts, (at) => disturb(folderStore, { at, fault, retries: 1, form: matrix.form }, matrix.program()));
  expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(outcomes.filter(({ asked }) => asked)).toEqual([]);
  expect(posts.length).toBeGreaterThanOrEqual(3);
});
