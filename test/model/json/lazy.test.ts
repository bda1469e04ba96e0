import { describe, expect, test } from "vitest";
import { addLazy, isLazy, merged, readOnce, sourceAt, without } from "../../../src/model/json/lazy.ts";
import { jsonPieces } from "../../../src/model/json/pieces.ts";

/** An object with a lazy list, and how often the list was made. */
function numbers() {
  const calls = { made: 0 };
  const make = (count: number): readonly number[] => {
    calls.made += 1;
    return Array.from({ length: count }, (_, i) => i);
  };
  return { calls, object: addLazy({ id: "a" }, "list", { source: 3, make }) };
}

describe("a lazy member", () => {
  test("is an ordinary member to a reader, made once", () => {
    const { object, calls } = numbers();
    expect(object.list).toBe(object.list);
    expect(Object.keys(object)).toEqual(["id", "list"]);
    expect({ ...object }).toEqual({ id: "a", list: [0, 1, 2] });
    expect(calls.made).toBe(1);
  });

  test("is not kept by readOnce", () => {
    const { object, calls } = numbers();
    expect(readOnce(object, "list")).toEqual([0, 1, 2]);
    expect(readOnce(object, "list")).not.toBe(readOnce(object, "list"));
    expect(readOnce(object, "id")).toBe("a");
    expect(calls.made).toBe(3);
  });

  test("is printed as JSON, and made for each printing", () => {
    const { object, calls } = numbers();
    expect(JSON.stringify({ object })).toBe('{"object":{"id":"a","list":[0,1,2]}}');
    expect([...jsonPieces({ object }, { inOrder: (keys) => keys, order: "given", space: "" })].join("")).toBe(JSON.stringify({ object }));
    expect(calls.made).toBe(3);
    expect(isLazy(object)).toBe(true);
    expect(isLazy({ toJSON: () => 1 })).toBe(false);
  });

  test("stays lazy in a copy with other members", () => {
    const { object, calls } = numbers();
    const copy = without(merged({ first: 0 }, merged(object, { id: "b", more: 1 })), ["more"]);
    expect(Object.keys(copy)).toEqual(["first", "id", "list"]);
    expect(sourceAt(copy, "list")).toBe(3);
    expect(calls.made).toBe(0);
    expect(copy).toEqual({ first: 0, id: "b", list: [0, 1, 2] });
  });
});
