import type { Manifest } from "../../../src/core/base/model/manifest.ts";
import { toDiagnostic } from "../../../src/core/base/model/problem.ts";
import { type LoadOptions, loadProject, type Project } from "../../../src/core/manifests/project.ts";
import { type Coded, coded } from "../../support/findings.ts";
import { writeProject } from "../../support/project-folder.ts";

export interface Loaded extends Project {
  readonly folder: string;
  readonly diagnostics: readonly Coded[];
}

/** Loads a project with these files. Default environment: empty. */
export async function load(files: Readonly<Record<string, string | Uint8Array>>, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const folder = writeProject(files);
  return { ...(await loadIn(folder, options)), folder };
}

export async function loadIn(folder: string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const project = await loadProject({ cwd: folder, env: {}, ...options });
  return { ...project, folder, diagnostics: project.problems.map((problem) => coded(toDiagnostic(problem, project.locate))) };
}

/** "file:line:column CODE", in the order of the output. */
export function headings(diagnostics: readonly Coded[]): readonly string[] {
  return diagnostics.map(
    ({ file, line, column, code }) => `${[file, line, column].filter((part) => part !== undefined).join(":")} ${code}`,
  );
}

export function resource(project: Project, address: string): Manifest {
  const found = project.manifests.find((candidate) => candidate.address === address);
  if (found === undefined) throw new Error(`${address} is not among ${project.manifests.map((each) => each.address).join(", ")}`);
  return found;
}

/** A manifest with the given lines after `metadata`; line 4 is the first of them. */
export const manifest = (kind: string, name: string, ...lines: readonly string[]): string =>
  ["apiVersion: dimsync/v1", `kind: ${kind}`, `metadata: { name: ${name} }`, ...lines, ""].join("\n");

/** A dimsync.yaml with the given lines; line 3 is the first of them. */
export const config = (...lines: readonly string[]): string => ["apiVersion: dimsync/v1", "kind: Config", ...lines, ""].join("\n");
