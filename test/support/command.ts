import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { main } from "../../src/cli/cli.ts";
import { isObject } from "../../src/core/base/model/json/json.ts";
import * as validators from "../../src/core/manifests/validators.generated.js";
import { capturedIo } from "./captured-io.ts";

/** The output and exit code of a command line. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command line in this process, in `cwd`, with only the environment `env`, and without a
 * terminal. Throws if a document that it printed or wrote is not valid against its schema.
 */
export async function runCommand(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const { io, printed } = capturedIo({ columns: Number(env["COLUMNS"] ?? 100), env, cwd });
  const ran = { code: await main(argv, io), ...printed() };
  for (const text of [ran.stdout, ...writtenBy(argv, cwd)]) refuseInvalid(text, argv);
  return ran;
}

/** The documents that the flags of a command line name, if it wrote them. */
function writtenBy(argv: readonly string[], cwd: string): readonly string[] {
  const files = argv.flatMap((arg, index) => (arg === "--out" || arg === "--result" ? [resolve(cwd, argv[index + 1] ?? "")] : []));
  return files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile()).map((file) => readFileSync(file, "utf8"));
}

const schemaOf = new Map<unknown, (value: unknown) => boolean>([
  ["Plan", validators.plan],
  ["DriftReport", validators.drift],
  ["Result", validators.result],
  ["Validation", validators.validation],
]);

function refuseInvalid(text: string, argv: readonly string[]): void {
  if (!text.startsWith("{") && !text.startsWith("[")) return;
  const written = parsed(text);
  for (const each of Array.isArray(written) ? written : [written]) {
    if (!isObject(each)) continue;
    const { integrity: _, ...document } = each;
    const validate = schemaOf.get(document["kind"]);
    if (validate === undefined || validate(document)) continue;
    const { errors } = validate as { readonly errors?: unknown }; // ajv leaves them on the function
    throw new Error(`${argv.join(" ")} wrote a ${document["kind"]} that its schema refuses: ${JSON.stringify(errors)}`);
  }
}

/** Undefined if the text is not one JSON document. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
