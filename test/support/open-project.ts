import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Plan } from "../../src/index.ts";
import { type Ran, runCommand } from "./command.ts";
import { configText, keyVariable, writeProject } from "./project-folder.ts";
import { startService, type TestService, type TestServiceOptions } from "./service.ts";

/** A project folder, the service with its account, and the command line. */
export interface OpenProject {
  readonly service: TestService;
  readonly folder: string;
  /** Runs the command line with the key of the service. */
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  /** The JSON document that a command prints. */
  readonly made: <T = Plan>(...argv: readonly string[]) => Promise<T>;
  readonly write: (path: string, text: string) => void;
}

export interface OpenProjectOptions {
  /** Parts of dimsync.yaml. */
  readonly parts?: Readonly<Record<string, unknown>>;
  /** Of the service. */
  readonly options?: TestServiceOptions;
  /** Flags of each command. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a service, and writes a project for it with these files; both are removed when the test ends. */
export async function openProject(
  files: Readonly<Record<string, string>>,
  { parts = {}, options = {}, flags = ["-q"], env = {} }: OpenProjectOptions = {},
): Promise<OpenProject> {
  const service = await startService(options);
  onTestFinished(() => service.close());
  const folder = writeProject({ "dimsync.yaml": configText(service.url, parts), ...files });
  const run: OpenProject["run"] = (...argv) => runCommand([...argv, ...flags], folder, { ...env, [keyVariable]: service.apiKey });
  return {
    ...{ service, folder, run },
    made: async <T>(...argv: readonly string[]) => JSON.parse((await run(...argv, "-o", "json")).stdout) as T,
    write: (path, text) => writeFileSync(join(folder, path), text),
  };
}
