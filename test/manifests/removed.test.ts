import { expect, test } from "vitest";
import { loadProject } from "../../src/manifests/project.ts";
import { emptyFolder } from "../cli/built-cli.ts";

const config = (more: string): string =>
  `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { test: { baseUrl: "embedded::memory:" } }\n${more}`;

const manifest = (kind: string, rest: string): string => `apiVersion: dimsync/v1\nkind: ${kind}\n${rest}`;

test.each<[string, { readonly config?: string; readonly manifest?: string }, readonly [place: string, message: RegExp]]>([
  ["kind Tests", { manifest: manifest("Tests", "tests: []\n") }, ["manifests/a.yaml:2", /no kind Tests any more: .*Write a Policy/u]],
  [
    "unmatched.columns",
    { manifest: manifest("SchemaConfig", "metadata: { name: a }\nspec:\n  integration: { id: a }\n  unmatched: { columns: error }\n") },
    ["manifests/a.yaml:6", /^"columns" was removed from `spec.unmatched`\. Write a first rule for all columns, .* or `unreviewed`\.$/u],
  ],
])("%s, which is gone, is a problem that names what to write instead", async (_, files, [place, message]) => {
  const cwd = emptyFolder({ "dimsync.yaml": config(files.config ?? ""), "manifests/a.yaml": files.manifest ?? "" });
  const { problems, locate } = await loadProject({ cwd, env: {} });
  expect(problems.map((problem) => `${problem.place?.file}:${problem.place && locate(problem.place).line}`)).toEqual([place]);
  expect(problems[0]?.message).toMatch(message);
});
