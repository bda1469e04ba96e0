import { describe, expect, test } from "vitest";
import { addChunk, newBody, takeBody } from "../../../src/service/connection/body.ts";

const mebibyte = 1024 * 1024;
const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(65_536, index));
const text = Buffer.concat(chunks);

describe("a body is all of its chunks", () => {
  test.each<readonly [string, number]>([
    ["of the announced length", text.length],
    ["if no length is announced", Number.NaN],
    ["if it ends too early", text.length + mebibyte],
  ])("%s", (_sentence, length) => {
    const body = newBody(length);
    for (const chunk of chunks) addChunk(body, chunk);
    expect(body.bytes).toBe(text.length);
    expect(takeBody(body).equals(text)).toBe(true);
  });

  test("none, or one", () => {
    expect(takeBody(newBody(0)).length).toBe(0);
    const body = newBody(5);
    addChunk(body, Buffer.from("short"));
    expect(takeBody(body).toString()).toBe("short");
  });
});

test("chunks of a long body can be used for something else once they are added", () => {
  const body = newBody(2 * mebibyte);
  const chunk = Buffer.alloc(mebibyte, "a");
  addChunk(body, chunk);
  chunk.fill("b");
  addChunk(body, chunk);
  expect(body.chunks).toEqual([]);
  expect(takeBody(body).equals(Buffer.concat([Buffer.alloc(mebibyte, "a"), chunk]))).toBe(true);
});
