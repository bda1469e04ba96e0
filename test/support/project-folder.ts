import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";

/** The variable that a test project takes its API key from. */
export const keyVariable = "TEST_API_KEY";

/** A new temp folder with these files by relative path; it goes when the test ends. Gives its real path. */
export function writeProject(files: Readonly<Record<string, string>>): string {
  const folder = writeFolder(files);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As `writeProject`, for more than one test: whoever asks for it removes it. */
export function writeFolder(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-test-")));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/**
 * A dimsync.yaml with one target, `test`. `parts` are merged into the top level; calls go out one at a time and failed reads are not repeated
 * unless `parts.client` says so, which makes the order of calls the same in each run.
 */
export function configText(baseUrl: string, parts: Readonly<Record<string, unknown>> = {}): string {
  const { client, ...others } = parts;
  return stringify({
    apiVersion: "dimsync/v1",
    kind: "Config",
    manifests: ["manifests"],
    targets: { test: { baseUrl, apiKey: { $secret: { env: keyVariable } } } },
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
