import { describe, expect, test } from "vitest";
import { addChunk, newBody, releaseBody, takeBody } from "../../../../src/core/service/connection/body.ts";

const mebibyte = 1024 * 1024;
const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(65_536, index));
const text = Buffer.concat(chunks);

describe("a body is all of its chunks", () => {
  test.each<readonly [string, number]>([
    ["of the announced length", text.length],
    ["if no length is announced", Number.NaN],
    ["if it ends too early", text.length + mebibyte],
  ])("%s", (_sentence, length) => {
    const body = newBody(length, []);
    for (const chunk of chunks) addChunk(body, chunk);
    expect(body.bytes).toBe(text.length);
    expect(takeBody(body).equals(text)).toBe(true);
  });

  test("none, or one", () => {
    expect(takeBody(newBody(0, [])).length).toBe(0);
    const body = newBody(5, []);
    addChunk(body, Buffer.from("short"));
    expect(takeBody(body).toString()).toBe("short");
  });
});

test("chunks of a long body can be used for something else once they are added", () => {
  const body = newBody(2 * mebibyte, []);
  const chunk = Buffer.alloc(mebibyte, "a");
  addChunk(body, chunk);
  chunk.fill("b");
  addChunk(body, chunk);
  expect(body.chunks).toEqual([]);
  expect(takeBody(body).equals(Buffer.concat([Buffer.alloc(mebibyte, "a"), chunk]))).toBe(true);
});

describe("the buffer of a body that has been read", () => {
  const read = (length: number, fill: string, spare: Buffer[]): { readonly text: Buffer; readonly release: () => void } => {
    const body = newBody(length, spare);
    addChunk(body, Buffer.alloc(length, fill));
    return { text: takeBody(body), release: () => releaseBody(body, spare) };
  };

  test("becomes that of the next one, which has none of its bytes", () => {
    const spare: Buffer[] = [];
    const first = read(200_000, "a", spare);
    first.release();
    const second = read(100_000, "b", spare);
    expect(second.text.buffer).toBe(first.text.buffer);
    expect(second.text.equals(Buffer.alloc(100_000, "b"))).toBe(true);
  });

  test.each<readonly [string, number, number]>([
    ["is not shared by two bodies at a time", 200_000, 200_000],
    ["is not used for one that is longer", 200_000, 2 * mebibyte],
  ])("%s", (_sentence, length, next) => {
    const spare: Buffer[] = [];
    const first = read(length, "a", spare);
    if (next !== length) first.release();
    expect(read(next, "b", spare).text.buffer).not.toBe(first.text.buffer);
  });

  test.each<readonly [string, number]>([
    ["is not kept if it is short", 1000],
    ["is not kept if it is long", 2 * mebibyte],
  ])("%s", (_sentence, length) => {
    const spare: Buffer[] = [];
    read(length, "a", spare).release();
    expect(spare).toEqual([]);
  });
});
