import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Plan } from "../../src/index.ts";
import { dayIn } from "../support/clock.ts";
import { type Ran, runCommand } from "../support/command.ts";
import { writeProject } from "../support/project-folder.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

// The exemption of an example ends on the day that its page shows; its test never does.
const [shownDay, validDay] = ["2027-10-31", dayIn(200)];

/** A copy of an example, whose account is a file in it. */
export interface Example {
  readonly folder: string;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  /** For plan or drift. */
  readonly made: (...argv: readonly string[]) => Promise<Plan>;
  /** Replaces a text in a file of the copy; the text must exist. */
  readonly change: (file: string, from: string, to: string) => void;
}

export function exampleOf(name: string): Example {
  const folder = writeProject({});
  cpSync(join(examples, name), folder, { recursive: true });
  // Users who tried the example have its account there.
  rmSync(join(folder, ".dimsync"), { recursive: true, force: true });
  rmSync(join(folder, "dimsync.bindings.yaml"), { force: true });
  const policies = join(folder, "manifests/policies.yaml");
  if (existsSync(policies)) writeFileSync(policies, readFileSync(policies, "utf8").replace(/expires: .+/u, `expires: ${validDay}`));
  const run: Example["run"] = (...argv) => runCommand([...argv, "-q", "--no-color"], folder);
  return {
    folder,
    run,
    made: async (...argv) => JSON.parse((await run(...argv, "-o", "json")).stdout) as Plan,
    change: (file, from, to) => {
      const text = readFileSync(join(folder, file), "utf8");
      expect(text).toContain(from);
      writeFileSync(join(folder, file), text.replace(from, to));
    },
  };
}

/** The plan in the example's README, its only block of text. UPDATE_GOLDEN=1 updates it. */
export function expectShown(name: string, made: string): void {
  const plan = made.replaceAll(validDay, shownDay);
  const file = join(examples, name, "README.md");
  const block = /```text\n([\s\S]*?)```/u;
  const readme = readFileSync(file, "utf8");
  if (process.env["UPDATE_GOLDEN"] === "1")
    writeFileSync(
      file,
      readme.replace(block, () => `\`\`\`text\n${plan}\`\`\``),
    );
  expect(block.exec(readFileSync(file, "utf8"))?.[1]).toBe(plan);
}
