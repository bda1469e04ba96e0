// Every command, in every format, with and without failures, with secrets from each source: none of
// their bytes may be in any output.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProgram } from "../../src/cli/cli.ts";
import { renderers } from "../../src/core/render/index.ts";
import { capturedIo } from "../support/captured-io.ts";
import { type Ran, runCommand } from "../support/command.ts";
import { filesIn } from "../support/project-folder.ts";
import { sampleOf } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { withoutPrograms } from "../support/without-programs.ts";
import { canaries, mixedProject } from "./mixed-project.ts";

const secretFile = "canary-file-91e2";
const literal = "canary-literal-ab77";
const values = [...Object.values(canaries), secretFile, literal].flatMap((value) => [value, ...value.split("\n")]);

/**
 * Each value unchanged, in its encoded forms, and as digests that could be compared with guesses.
 */
const forbidden = [...new Set(values)].flatMap((value) => {
  const digests = [value, JSON.stringify(value)].map((text) => createHash("sha256").update(text).digest("hex").slice(0, 12));
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString("base64").replace(/=+$/u, ""),
  ];
  return [...forms, Buffer.from(value).toString("hex"), ...digests];
});

/** Bytes of a secret, by where they were found. */
function leaks(where: string, text: string): readonly string[] {
  return forbidden.filter((form) => text.includes(form)).map((form) => `${where} holds ${form}`);
}

let outside = "";
withoutPrograms();
beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), "dimsync-canary-"));
  writeFileSync(join(outside, "secret.txt"), `${secretFile}\n`);
});
afterAll(() => rmSync(outside, { recursive: true, force: true }));

const furtherManifests = (): string => `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: attic }
lifecycle: { create: ifMissing }
spec:
  name: Attic
  type: s3
  connectionType: destination
  connection:
    private_key: { $secret: { file: ${JSON.stringify(join(outside, "secret.txt"))} } }
`;

const formats = Object.keys(renderers);
/** Human to stdout, every other format to a file. */
const everyFormat = [
  "-o",
  "human",
  ...formats.filter((format) => format !== "human").flatMap((format) => ["-o", `${format}=out/${format}`]),
];

const commands: readonly (readonly string[])[] = [
  ["validate", ...everyFormat],
  ["plan", "--out", "plan.json", ...everyFormat],
  ["plan", "-v"],
  ["apply", "--yes", "-v", "--result", "result.json", ...everyFormat],
  ["drift", ...everyFormat],
  ["apply", "plan.json", "-v", ...everyFormat],
  ["apply", "--yes", "-v", ...everyFormat],
  ["show", "plan.json"],
  ["show", "result.json", "-o", "json"],
  ["explain", "SchemaConfig/orders"],
  ["get", "integrations", "-o", "json"],
  ["get", "users"],
  ["get", "tags", "-o", "json"],
  ["get", "schemaconfig", "8f1c"],
  ["audit", "-o", "json"],
  ["bind", "Asset/attic=x-1"],
  ["bind", "--accept", "Asset/attic"],
  ["unbind", "Asset/attic"],
  ["resolve", "Asset/attic", "--created=x-2"],
  ["resolve", "Asset/archive", "--not-created"],
  ["import", "Integration/billing"],
  ["doctor", "-v"],
  ["schema"],
  ["nonsense"],
];

/** They run until they are stopped, or write files of CI. */
const notRun: readonly string[] = ["serve", "controller", "init"];

/** The commands above, and all others, without arguments. */
function allCommands(): readonly (readonly string[])[] {
  const names = makeProgram(capturedIo().io, () => undefined).program.commands.map((command) => command.name());
  const further = names.filter((name) => !notRun.includes(name) && !commands.some(([first]) => first === name));
  return [...commands, ...further.map((name) => [name])];
}

const failures: Readonly<Record<string, { readonly faults: readonly string[]; readonly env?: Readonly<Record<string, string>> }>> = {
  "without failures": { faults: [] },
  "when every write is refused with a response that repeats it": {
    faults: ["POST .=status:400", "PUT .=status:400", "PATCH .=status:422"],
  },
  "when every write fails with a response that repeats it": {
    faults: ["POST .=status-after:500", "PUT .=status:500", "PATCH .=status-after:502"],
  },
  "when connections break": { faults: ["POST .=reset-after", "PATCH .=reset-before"] },
  "when every second response is truncated": { faults: ["POST .=truncate", "PATCH .=truncate", "GET /v1/users=truncate"] },
  "when a proxy responds": { faults: ["* .=html"] },
  "when the key is refused": { faults: [], env: { TEST_API_KEY: literal } },
  "when everything fails": { faults: ["* .=status:500"] },
};

describe("no byte of a secret or of the API key is in any output or file", () => {
  const sample = sampleOf(Object.entries(failures), {
    name: "canary",
    kindOf: ([when]) => (when === "without failures" ? when : "with failures"),
  });
  for (const [when, { faults, env }] of sample)
    it(when, async () => {
      const service = await startService({
        apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
        extended: true,
        errorBody: "echo",
        faults,
      });
      const project = mixedProject(service, { timeoutSeconds: 5, retries: 0, settleSeconds: 0 });
      const found: string[] = [];
      let bytes = 0;
      try {
        mkdirSync(join(project.folder, "out"));
        writeFileSync(join(project.folder, "manifests", "attic.yaml"), furtherManifests());
        for (const argv of allCommands()) {
          const ran: Ran = await runCommand(argv, project.folder, { ...canaries, ...env });
          bytes += ran.stdout.length + ran.stderr.length;
          found.push(...leaks(`stdout of ${argv.join(" ")}`, ran.stdout), ...leaks(`stderr of ${argv.join(" ")}`, ran.stderr));
        }
        const files = filesIn(project.folder);
        for (const [path, text] of files) found.push(...leaks(path, text));
        expect(readdirSync(join(project.folder, "out")).sort()).toEqual(formats.filter((format) => format !== "human").sort());
        for (const file of ["plan.json", "dimsync.bindings.yaml"]) expect([...files.keys()]).toContain(file);
      } finally {
        await service.close();
        project.remove();
      }
      expect([...new Set(found)]).toEqual([]);
      expect(bytes).toBeGreaterThan(10_000);
    });

  // Such a manifest is refused before the service is called.
  it("when a manifest has a secret as a literal", async () => {
    const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" }, extended: true });
    const project = mixedProject(service, { timeoutSeconds: 5, retries: 0, settleSeconds: 0 });
    const found: string[] = [];
    try {
      mkdirSync(join(project.folder, "out"));
      writeFileSync(join(project.folder, "manifests", "attic.yaml"), furtherManifests());
      // A literal instead of a secret reference is refused, and shown masked.
      writeFileSync(
        join(project.folder, "manifests", "wrong.yaml"),
        furtherManifests()
          .replace("attic", "cellar")
          .replace(/private_key: .*/u, `private_key: ${literal}`),
      );
      for (const argv of [
        ["validate", ...everyFormat],
        ["plan", ...everyFormat],
        ["apply", "--yes"],
      ]) {
        const ran = await runCommand(argv, project.folder, canaries);
        expect(ran.code).toBe(1);
        found.push(...leaks(`stdout of ${argv.join(" ")}`, ran.stdout), ...leaks(`stderr of ${argv.join(" ")}`, ran.stderr));
      }
      for (const [path, text] of filesIn(project.folder)) if (!path.endsWith("wrong.yaml")) found.push(...leaks(path, text));
    } finally {
      await service.close();
      project.remove();
    }
    expect([...new Set(found)]).toEqual([]);
  });
});
