// Damaged files: whatever they contain, the run ends soon, with a message and without a write.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { DimsyncError } from "../../src/core/base/model/errors.ts";
import { openBindings } from "../../src/core/records/folder/bindings.ts";
import { openFolderRecords } from "../../src/core/records/folder/index.ts";
import type { EmbeddedService } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { startService } from "../support/service.ts";
import { withoutPrograms } from "../support/without-programs.ts";
import { fuzz, mistakesOf } from "./fuzz-run.ts";
import { canaries, type MixedProject, mixedProject } from "./mixed-project.ts";
import { edited, nodeEdits, textEdits, withNodesEdited } from "./mutations.ts";

const client = { timeoutSeconds: 5, retries: 0, settleSeconds: 0, concurrency: 8 };
let service: EmbeddedService;
let project: MixedProject;
/** The original project, after an apply that left an open intent. */
let original = "";

withoutPrograms();
beforeAll(async () => {
  service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    extended: true,
    faults: ["POST /v1/tags/t-3/relation@2=reset-before"],
  });
  project = mixedProject(service, client);
  await runCommand(["plan", "--out", "plan.json"], project.folder, canaries);
  await project.apply();
  writeFileSync(join(project.folder, "manifests", "rules.yaml"), rules);
  original = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-fuzz-")));
  cpSync(project.folder, original, { recursive: true });
  service.resetCounts();
});
afterAll(async () => {
  await service.close();
  project.remove();
  rmSync(original, { recursive: true, force: true });
});

const rules = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: billing }
spec:
  integration: { id: b27d }
  unmatched: { tables: ignore }
  rules:
    - id: core
      match: { schema: "*", table: ["acc*", "!x"], ignoreCase: true }
      set: { enabled: true }
      reason: needed
    - use: pii
  expect: [{ match: { table: accounts }, syncMode: incremental }]
---
apiVersion: dimsync/v1
kind: RuleSet
metadata: { name: pii }
spec: { rules: [{ id: mail, match: { column: "*email*" }, set: { hashed: true } }] }
---
apiVersion: dimsync/v1
kind: Policy
metadata: { name: hashed }
spec: { severity: warning, when: { column: { name: "*email*", enabled: true } }, require: { hashed: true }, message: unhashed }
`;

/**
 * Runs with one changed file. A write to the service is an error, unless the file is a plan with
 * its own digest.
 */
async function disturbed(file: string, text: string, argv: readonly string[], mayWrite = false): Promise<readonly string[]> {
  const path = join(project.folder, file);
  writeFileSync(path, text);
  try {
    const ran = await runCommand(argv, project.folder, canaries);
    const writes = service.requests.filter(({ method }) => method !== "GET").map(({ method, path: to }) => `${method} ${to}`);
    service.resetCounts();
    return [...mistakesOf(ran), ...(mayWrite ? [] : writes)];
  } finally {
    cpSync(join(original, file), path);
  }
}

const read = (file: string): string => readFileSync(join(original, file), "utf8");

describe("never a stack trace, a hang or a write", () => {
  for (const [file, usual] of [
    ["manifests/all.yaml", 25],
    ["manifests/rules.yaml", 25],
    ["dimsync.yaml", 25],
  ] as const)
    it(`${file}: mutations, validated`, async () => {
      const text = read(file);
      await fuzz(file, textEdits, usual, (edits) => disturbed(file, edited(text, edits), ["validate"]));
    });

  it("manifests: mutations, planned", async () => {
    const text = read("manifests/all.yaml");
    await fuzz("manifests, planned", textEdits, 6, (edits) => disturbed("manifests/all.yaml", edited(text, edits), ["plan"]));
  });

  it("plan files: mutations of text and nodes, applied and shown", async () => {
    const text = read("plan.json");
    const plan: unknown = JSON.parse(text);
    const either = fc.oneof(
      textEdits.map((edits) => edited(text, edits)),
      nodeEdits.map((edits) => JSON.stringify(withNodesEdited(plan, edits)) ?? ""),
    );
    await fuzz("plan files", fc.tuple(either, fc.constantFrom("apply", "show")), 20, async ([changed, command]) =>
      // Without a change, it would be applied correctly.
      changed === text || JSON.stringify(plan) === changed ? [] : disturbed("plan.json", changed, [command, "plan.json"]),
    );
  });

  it("bindings: mutations, read: understood, or refused with a place, and never written to", async () => {
    const text = read("dimsync.bindings.yaml");
    const file = join(project.folder, "fuzzed.bindings.yaml");
    await fuzz("bindings", textEdits, 60, async (edits) => {
      const changed = edited(text, edits);
      writeFileSync(file, changed);
      const wrong = await refusedOrRead(() => openBindings(file, "test").read());
      return readFileSync(file).equals(Buffer.from(changed)) ? wrong : [...wrong, "it was written to"];
    });
  });

  it("records: mutations, read: understood, or refused with a place", async () => {
    const text = read(".dimsync/test.records");
    await fuzz("records", textEdits, 60, async (edits) => {
      writeFileSync(join(project.folder, ".dimsync", "test.records"), edited(text, edits));
      return refusedOrRead(
        openFolderRecords({ folder: project.folder, target: "test", bindingsFile: join(project.folder, "none.yaml") }).read,
      );
    });
    cpSync(join(original, ".dimsync", "test.records"), join(project.folder, ".dimsync", "test.records"));
  });

  for (const file of ["dimsync.bindings.yaml", ".dimsync/test.records"])
    it(`${file}: mutations, planned`, async () => {
      const text = read(file);
      await fuzz(`${file}, planned`, textEdits, 4, (edits) => disturbed(file, edited(text, edits), ["plan", "--only", "Tag/gold"]));
    });
});

/** A refusal is a DimsyncError that names the file; anything else is a bug. */
async function refusedOrRead(work: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof DimsyncError && /\.(?:yaml|records)\b/u.test(error.message)) return [];
    return [String(error instanceof Error ? error.stack : error)];
  }
}
