import { expect, test } from "vitest";
import { loadProject } from "../../src/manifests/project.ts";
import type { ProblemsError } from "../../src/model/errors.ts";
import { emptyFolder } from "../cli/built-cli.ts";

const config = (more: string, ofTarget = ""): string =>
  `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { test: { baseUrl: "embedded::memory:"${ofTarget} } }\n${more}`;

const manifest = (kind: string, rest: string): string => `apiVersion: dimsync/v1\nkind: ${kind}\n${rest}`;

test.each<
  [string, { readonly config?: string; readonly target?: string; readonly manifest?: string }, readonly [at: string, message: RegExp]]
>([
  ["kind Tests", { manifest: manifest("Tests", "tests: []\n") }, ["manifests/a.yaml /kind", /no kind Tests any more: .*Write a Policy/u]],
  [
    "unmatched.columns",
    { manifest: manifest("SchemaConfig", "metadata: { name: a }\nspec:\n  integration: { id: a }\n  unmatched: { columns: error }\n") },
    [
      "manifests/a.yaml /spec/unmatched/columns",
      /^"columns" was removed from `spec.unmatched`\. Write a first rule for all columns, .* or `unreviewed`\.$/u,
    ],
  ],
  [
    "guards.minPopulation",
    { config: "guards: { minPopulation: 5 }\n" },
    ["dimsync.yaml /guards/minPopulation", /^"minPopulation" was removed from `guards`\. Remove it: .*fewer than 100/u],
  ],
  [
    "guards.minPopulation of a target",
    { target: ", guards: { minPopulation: 5 }" },
    ["dimsync.yaml /targets/test/guards/minPopulation", /^"minPopulation" was removed from `targets.test.guards`\./u],
  ],
])("%s, which is gone, is a problem that names what to write instead", async (_, files, [at, message]) => {
  const cwd = emptyFolder({ "dimsync.yaml": config(files.config ?? "", files.target), "manifests/a.yaml": files.manifest ?? "" });
  const { problems } = await loadProject({ cwd, env: {} }).catch((error: ProblemsError) => error);
  expect(problems.map(({ place }) => `${place?.file} ${place?.pointer}`)).toEqual([at]);
  expect(problems[0]?.message).toMatch(message);
});
