import { expect, test } from "vitest";
import { createResponses } from "../../../src/operations/memo/responses.ts";

const response = (bytes: number) => ({ type: "response", status: 200, headers: {}, body: Buffer.alloc(bytes) }) as const;

test("responses that are too large together are not kept", () => {
  const responses = createResponses(() => true, 100);
  responses.ofPlan.add("/a", response(60));
  expect(responses.areTooLarge()).toBe(false);
  expect(responses.reads({ GET: 1 })).toHaveLength(1);
  responses.ofPlan.add("/b", response(60));
  expect(responses.areTooLarge()).toBe(true);
  expect(responses.reads({ GET: 2 })).toBeUndefined();
});

test("a request that was repeated, and one of another kind, are not kept", () => {
  const responses = createResponses(() => true);
  responses.ofPlan.add("/a", response(1));
  expect(responses.reads({ GET: 2 })).toBeUndefined();
  expect(responses.reads({ GET: 1, POST: 1 })).toBeUndefined();
  responses.ofPlan.add("/a", response(2));
  expect(responses.reads({ GET: 2 })).toBeUndefined();
});
