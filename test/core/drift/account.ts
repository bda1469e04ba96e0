import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { acceptDrift, writeEdits } from "../../../src/core/drift/accept/accept.ts";
import { drift, loadProject, type Plan, type Project } from "../../../src/index.ts";
import { configText, keyVariable, writeProject } from "../../support/project-folder.ts";
import { startService, type TestService } from "../../support/service.ts";

/** A project folder and its own account, over HTTP. */
export interface Story {
  readonly service: TestService;
  readonly folder: string;
  readonly load: () => Promise<Project>;
  readonly report: () => Promise<Plan>;
  readonly read: (file: string) => string;
  /** Writes a file of the project. */
  readonly write: (file: string, text: string) => void;
  /** Accepts the account's values into the manifests, and returns those that were not accepted. */
  readonly accept: () => Promise<Awaited<ReturnType<typeof acceptDrift>>>;
}

export const env = (service: TestService): Readonly<Record<string, string>> => ({ [keyVariable]: service.apiKey });

/** Manifests by path below `manifests/`; the config ignores nothing. */
export async function story(manifests: Readonly<Record<string, string>>, parts: Readonly<Record<string, unknown>> = {}): Promise<Story> {
  const service = await startService();
  onTestFinished(() => service.close());
  const files = Object.fromEntries(Object.entries(manifests).map(([name, text]) => [`manifests/${name}`, text]));
  const folder = writeProject({ "dimsync.yaml": configText(service.url, parts), ...files });
  const load = () => loadProject({ cwd: folder, env: env(service) });
  const report = async () => drift(await load(), { env: env(service) });
  return {
    service,
    folder,
    load,
    report,
    read: (file) => readFileSync(join(folder, "manifests", file), "utf8"),
    write: (file, text) => writeFileSync(join(folder, file), text),
    accept: async () => {
      const accepted = await acceptDrift(await report(), await load(), folder);
      await writeEdits(accepted.edits);
      return accepted;
    },
  };
}
