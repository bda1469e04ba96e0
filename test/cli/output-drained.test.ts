// Output is written whole, or not at all.
import { readdirSync, rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { main } from "../../src/cli/cli.ts";
import { deliver, deliverForms } from "../../src/cli/output.ts";
import type { Document } from "../../src/core/render/document.ts";
import { fullPlan } from "../core/render/full-plan.ts";
import { fullResult } from "../core/render/results.ts";
import { capturedIo } from "../support/captured-io.ts";
import { writeFolder } from "../support/project-folder.ts";

const wrong = (index: number): string =>
  `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: t${index} }\nspec: { name: T, unknown: ${index} }\n`;

test("a long output is written piece by piece, each after stdout has taken the one before", async () => {
  const folder = writeFolder({ "a.yaml": Array.from({ length: 400 }, (_, index) => wrong(index)).join("---\n") });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const events: string[] = [];
  const out: string[] = [];
  const { io } = capturedIo({
    cwd: folder,
    stdout: (text) => {
      out.push(text);
      events.push("written");
    },
    stdoutDrained: async () => {
      await new Promise((resume) => setImmediate(resume));
      events.push("drained");
    },
  });
  await main(["validate", "a.yaml", "-o", "json"], io);
  expect(JSON.parse(out.join(""))).toMatchObject({ kind: "Validation" });
  expect(out.length).toBeGreaterThan(2);
  expect(events).toEqual(out.flatMap(() => ["written", "drained"]));
});

/** The JSON of a document that is printed on stdout, after its first piece was followed by a signal. */
async function printedJson(document: Document) {
  const interruption = new AbortController();
  const out: string[] = [];
  const { io } = capturedIo({
    interrupted: interruption.signal,
    stdout: (text) => {
      out.push(text);
      interruption.abort();
    },
  });
  const flags = { target: [], var: [], varFile: [], only: [], exclude: [], allowPath: [], output: ["json"], color: false };
  const failed = await deliver({ io, flags, cwd: "/" }, [document]).catch((error: unknown) => error);
  return { text: out.join(""), failed };
}

test("a signal ends the printing of a plan, but not of the result of an apply", async () => {
  const plan = await printedJson(fullPlan);
  expect(plan.failed).toMatchObject({ code: "E_INTERRUPTED", exit: 130 });
  expect(() => JSON.parse(plan.text)).toThrow(SyntaxError);
  const result = await printedJson(fullResult);
  expect(result.failed).toBeUndefined();
  expect(JSON.parse(result.text)).toEqual(JSON.parse(JSON.stringify(fullResult)));
});

test("a signal while a file is written leaves no part of it", async () => {
  const folder = writeFolder({});
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const interruption = new AbortController();
  const { io } = capturedIo({ interrupted: interruption.signal });
  function* pieces() {
    yield "a";
    interruption.abort();
    yield "b";
  }
  const flags = { target: [], var: [], varFile: [], only: [], exclude: [], allowPath: [], output: ["json=plan.json"], color: false };
  await expect(deliverForms({ io, flags, cwd: folder }, { json: pieces })).rejects.toMatchObject({ code: "E_INTERRUPTED" });
  expect(readdirSync(folder)).toEqual([]);
});
