import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { defined } from "../../src/core/base/model/json/json.ts";

/** The variable with the API key of a test project. */
export const keyVariable = "TEST_API_KEY";

/**
 * Creates a temp folder with these files by relative path, which is removed when the test ends.
 * Returns its real path.
 */
export function writeProject(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = writeFolder(files);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Like `writeProject`, for several tests: the caller removes it. */
export function writeFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-test-")));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/**
 * A dimsync.yaml with one target, `test`. `parts` are merged into the top level. Unless
 * `parts.client` is set, requests are sent one at a time and failed reads are not repeated, so that
 * the order of calls is the same in each run.
 */
export function configText(baseUrl: string, parts: Readonly<Record<string, unknown>> = {}): string {
  const { client, catalog, service, ...others } = parts;
  return stringify({
    apiVersion: "dimsync/v1",
    kind: "Config",
    manifests: ["manifests"],
    targets: { test: { baseUrl, apiKey: { $secret: { env: keyVariable } }, ...defined({ catalog, service }) } },
    client: { concurrency: 1, retries: 0, ...(client as object | undefined) },
    ...others,
  });
}

/** Every file below the folder, by relative path. */
export function filesIn(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, entry);
    if (statSync(path).isFile()) found.set(relative(folder, path), readFileSync(path, "utf8"));
  }
  return found;
}
