import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { main } from "../../../src/cli.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { writeFolder } from "../../support/project-folder.ts";

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
