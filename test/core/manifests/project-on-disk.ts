import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type LoadOptions, loadProject, type Project } from "../../../src/core/manifests/project.ts";
import { type Diagnostic, toDiagnostic } from "../../../src/core/model/problem.ts";
import type { Resource } from "../../../src/core/model/resource.ts";

/**
 * Writes files by path below a new temp folder, which is removed when the test ends. Returns the
 * folder's real path.
 */
export function writeFiles(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-manifests-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface Loaded extends Project {
  readonly folder: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads a project with these files. Default environment: empty. */
export async function load(files: Readonly<Record<string, string | Uint8Array>>, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const folder = writeFiles(files);
  return { ...(await loadIn(folder, options)), folder };
}

export async function loadIn(folder: string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const project = await loadProject({ cwd: folder, env: {}, ...options });
  return { ...project, folder, diagnostics: project.problems.map((problem) => toDiagnostic(problem, project.locate)) };
}

/** "file:line:column CODE", in the order of the output. */
export function headings(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(
    ({ file, line, column, code }) => `${[file, line, column].filter((part) => part !== undefined).join(":")} ${code}`,
  );
}

export function resource(project: Project, address: string): Resource {
  const found = project.resources.find((candidate) => candidate.address === address);
  if (found === undefined) throw new Error(`${address} is not among ${project.resources.map((each) => each.address).join(", ")}`);
  return found;
}

/** A manifest with the given lines after `metadata`; line 4 is the first of them. */
export const manifest = (kind: string, name: string, ...lines: readonly string[]): string =>
  ["apiVersion: dimsync/v1", `kind: ${kind}`, `metadata: { name: ${name} }`, ...lines, ""].join("\n");

/** A dimsync.yaml with the given lines; line 3 is the first of them. */
export const config = (...lines: readonly string[]): string => ["apiVersion: dimsync/v1", "kind: Config", ...lines, ""].join("\n");
