// Adding a kind takes its folder, its schema and one line in the registry. These tests load the sources
// with a registry that has one kind more, and use it from the command line. Its literal has the type
// that the registry asks for: the compiler checks it with the other tests.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { capturedIo } from "../../support/captured-io.ts";
import type { Ran } from "../../support/command.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { configText, keyVariable, writeFolder, writeProject } from "../../support/project-folder.ts";
import { readySteps } from "../../support/steps.ts";
import { noteRoutes, type StoredNote } from "./new-kind/endpoints.ts";

const pathTo = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The line in the registry, and the validator that the build would make from the schema. */
const withNewKind: Plugin = {
  name: "new kind",
  setup({ onLoad }) {
    // esbuild refuses the flag u.
    onLoad({ filter: /\/src\/core\/kinds\/index\.ts$/ }, ({ path }) => {
      const registry = readFileSync(path, "utf8");
      const contents = registry.replace(/(?<=export const kinds = \[.*?)(?=\])/u, ", note");
      if (contents === registry) throw new Error("The registry has no list of kinds.");
      return { contents: `import { note } from ${JSON.stringify(pathTo("./new-kind/index.ts"))};\n${contents}`, loader: "ts" };
    });
    onLoad({ filter: /\/validators\.generated\.js$/ }, ({ path }) => ({
      contents: `import { Ajv } from "ajv";
        import noteSchema from ${JSON.stringify(pathTo("./new-kind/note.schema.json"))};
        ${readFileSync(path, "utf8").replace("import.meta.url", JSON.stringify(pathToFileURL(path).href))}
        manifestValidators.set("Note", new Ajv({ allErrors: true, ownProperties: true }).compile(noteSchema));
        schemas.set("Note", () => noteSchema);`,
      loader: "js",
    }));
  },
};

/** A package with the schema. */
const folder = writeFolder({
  "package.json": "{}",
  "schema/note.schema.json": readFileSync(pathTo("./new-kind/note.schema.json"), "utf8"),
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let main: typeof import("../../../src/cli/cli.ts").main;
beforeAll(async () => {
  const outfile = join(folder, "cli.mjs");
  await build({
    entryPoints: [pathTo("../../../src/cli/cli.ts")],
    outfile,
    plugins: [withNewKind],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["pg-boss", "@electric-sql/pglite"],
    define: { DIMSYNC_VERSION: '"0.0.0"' },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  ({ main } = await import(pathToFileURL(outfile).href));
});

const manifest = (spec: string): string => `apiVersion: dimsync/v1\nkind: Note\nmetadata: { name: hello }\nspec: ${spec}\n`;

async function newProject(spec: string) {
  const notes: StoredNote[] = [];
  const service = await startEmbeddedService({ routes: noteRoutes(notes) });
  onTestFinished(() => service.close());
  const cwd = writeProject({
    "dimsync.yaml": configText(service.url, { client: { settleSeconds: 0 } }),
    "manifests/note.yaml": manifest(spec),
  });
  const run = async (...args: readonly string[]): Promise<Ran> => {
    const { io, printed } = capturedIo({ env: { [keyVariable]: service.apiKey }, cwd });
    return { code: await main(args, io), ...printed() };
  };
  const write = (next: string) => writeFileSync(join(cwd, "manifests/note.yaml"), manifest(next));
  return { run, write, notes, service, cwd };
}

const items = ({ stdout }: Ran) =>
  readySteps(JSON.parse(stdout) as Plan).map(({ verb, address, requests }) => ({ verb, address, requests }));

describe("a kind that is added with a folder, a schema and one line in the registry", () => {
  test("is created, compared and updated", async () => {
    const { run, write, notes } = await newProject("{ text: hello }");
    expect((await run("plan", "-q", "-v", "--no-color")).stdout).toContain(
      '+ Note/hello\n    text   "hello"   manifests/note.yaml:4\n    ↳ POST /v1/notes\n',
    );
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect(notes).toEqual([{ id: "n-1", name: "hello", text: "hello" }]);
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
    write("{ text: bye }");
    const planned = items(await run("plan", "-o", "json"));
    expect(planned).toMatchObject([{ verb: "update", address: "Note/hello", requests: [{ method: "PATCH", body: { text: "bye" } }] }]);
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect(notes).toEqual([{ id: "n-1", name: "hello", text: "bye" }]);
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
  });

  test("is created once although the response is lost", async () => {
    const { run, notes, service } = await newProject("{ text: hello }");
    service.addFault("POST /v1/notes$@1=reset-after");
    const { stdout } = await run("apply", "--yes", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ steps: [{ address: "Note/hello", outcome: "recovered", liveId: "n-1" }] });
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
    expect(notes).toHaveLength(1);
  });

  test("is found by the next run if this one could not read whether it was created", async () => {
    const { run, notes, service } = await newProject("{ text: hello }");
    service.addFault("POST /v1/notes$@1=reset-after");
    // The list is read by the plan and before the POST.
    for (let nth = 3; nth < 40; nth++) service.addFault(`GET /v1/notes$@${nth}=status:403`);
    const { stdout } = await run("apply", "--yes", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      steps: [{ address: "Note/hello", outcome: "unknown", why: { code: "E_UNKNOWN_OUTCOME" } }],
    });
    service.clearFaults();
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
    expect(notes).toHaveLength(1);
  });

  test("is read back after an update whose response is lost, and is stale if someone changed it", async () => {
    const { run, write, notes, service } = await newProject("{ text: hello }");
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    write("{ text: bye }");
    service.addFault("PATCH /v1/notes@1=reset-after");
    const { stdout } = await run("apply", "--yes", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ steps: [{ address: "Note/hello", outcome: "done" }] });
    write("{ text: again }");
    expect((await run("plan", "-q", "--out", "saved.plan")).code).toBe(0);
    for (const note of notes) note.text = "changed by a user";
    expect((await run("apply", "saved.plan", "--yes", "-q", "--no-color")).stdout).toContain("E_STALE");
    expect(notes).toMatchObject([{ text: "changed by a user" }]);
  });

  test("drifts, with the user who changed it", async () => {
    const { run, notes, service } = await newProject("{ text: hello }");
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    service.mutate(
      () => {
        for (const note of notes) note.text = "changed by a user";
      },
      undefined,
      'Note "hello" updated',
    );
    const report = JSON.parse((await run("drift", "-o", "json")).stdout) as Plan;
    expect(readySteps(report)).toMatchObject([{ address: "Note/hello", changes: [{ attribution: { actor: "dana@example.com" } }] }]);
  });

  test("is reported if no manifest describes it, and if it is gone", async () => {
    const { run, notes } = await newProject("{ text: hello }");
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    notes.push({ id: "n-9", name: "other", text: "x" });
    expect((JSON.parse((await run("plan", "-o", "json")).stdout) as Plan).unmanaged["notes"]).toEqual([{ id: "n-9", name: "other" }]);
    const { code, stdout } = await run("plan", "--fail-on", "unmanaged", "--no-color");
    expect(code).toBe(2);
    expect(stdout).toMatch(/1 note\b/u);
    notes.shift();
    expect((await run("plan", "-q", "--no-color")).stdout).toContain("Note/hello refers to n-1, which is gone from the account.");
  });

  test("is imported with a manifest, after which a plan is empty", async () => {
    const { run, notes, cwd } = await newProject("{ text: hello }");
    notes.push({ id: "n-7", name: "Other note", text: "x" });
    expect((await run("import", "Note/*", "-q")).code).toBe(0);
    expect(readFileSync(join(cwd, "manifests/notes.yaml"), "utf8")).toContain(
      "kind: Note\nmetadata: { name: other-note }\nspec:\n  text: x\n",
    );
    expect(items(await run("plan", "-o", "json"))).toMatchObject([{ verb: "create", address: "Note/hello" }]);
  });

  test("is printed by get", async () => {
    const { run } = await newProject("{ text: hello }");
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect((await run("get", "notes", "--no-color")).stdout).toMatch(/n-1 +hello +hello/u);
    expect((await run("get", "note", "hello", "-o", "json")).stdout).toContain('"n-1"');
  });

  test("comes after the kinds before it in the registry", async () => {
    const { run, write } = await newProject("{ text: hello }");
    write("{ text: hello }\n---\napiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: other }");
    expect(items(await run("plan", "-o", "json")).map(({ address }) => address)).toEqual(["Tag/pii", "Tag/pii", "Note/hello"]);
  });

  test("is validated against its schema", async () => {
    const { run } = await newProject("{ txt: hello }");
    const { code, stdout } = await run("validate", "-o", "json");
    const diagnostics = diagnosticsOf(JSON.parse(stdout) as Plan);
    expect(code).toBe(1);
    expect(diagnostics.map(({ code: one, file, line }) => `${one} ${file}:${line}`)).toEqual(["E_UNKNOWN_KEY manifests/note.yaml:4"]);
  });

  test("is known to commands", async () => {
    const { run } = await newProject("{ text: hello }");
    expect(JSON.parse((await run("schema", "note")).stdout)).toMatchObject({ title: "Note" });
    expect((await run("plan", "--only", "Note/hello")).stdout).toContain("Note/hello");
  });
});
