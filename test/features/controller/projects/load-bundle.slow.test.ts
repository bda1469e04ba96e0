import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadProject, type Project } from "../../../../src/core/manifests/project.ts";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { migrate } from "../../../../src/features/controller/database/migrate.ts";
import { type BundleLoader, bundleProjects } from "../../../../src/features/controller/projects/load-bundle.ts";
import { makeBundle } from "../../../../src/features/controller/projects/make-bundle.ts";
import { pushBundle } from "../../../../src/features/controller/projects/push-bundle.ts";
import { startEmbeddedDatabase } from "../../../support/embedded-database.ts";
import { writeProject } from "../../../support/project-folder.ts";

let database: Database;
/** How often the content of a bundle was read. */
let reads = 0;

beforeAll(async () => {
  const embedded = await startEmbeddedDatabase();
  await migrate(embedded);
  const query: Database["query"] = (text, values) => {
    if (text.includes("encode(content")) reads++;
    return embedded.query(text, values);
  };
  database = { ...embedded, query };
});
afterAll(() => database.close());

const config = `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod: { baseUrl: "https://prod.example.com", apiKey: { $secret: { env: KEY } }, controller: { every: 5m } }
  test: { baseUrl: "https://test.example.com", apiKey: { $secret: { env: KEY } }, controller: { every: 5m } }
`;
const tag = (description: string): string =>
  `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: ${description} }\n`;

async function pushed(description: string, git?: { readonly commit: string; readonly dirty: boolean }) {
  const cwd = writeProject({ "dimsync.yaml": config, "manifests/tag.yaml": tag(description) });
  const env = {};
  const projects = await Promise.all(["prod", "test"].map((target) => loadProject({ cwd, env, target })));
  const content = await makeBundle(projects, { source: "data", git, vars: {}, varFiles: [], env, isLocal: true });
  const { digest, accounts } = await pushBundle(database, content, { projects, by: "ann", force: "no history" });
  const account = (target: string): number => accounts.find((each) => each.target === target)?.id ?? 0;
  const { signal } = new AbortController();
  return (target = "prod") => ({ digest, target, account: account(target), signal });
}

function loaderIn(stateFolder = writeProject({})): BundleLoader {
  reads = 0;
  return { database, stateFolder, env: {}, isLocal: true };
}

const descriptionOf = ({ resources: [tag] }: Pick<Project, "resources">): unknown =>
  tag === undefined ? undefined : Reflect.get(Object(tag.spec), "description");

test("later checks of a bundle read nothing of it from the database", async () => {
  const bundle = await pushed("one");
  const load = bundleProjects(loaderIn());
  const first = await load(bundle());
  const second = await load(bundle());
  await load(bundle("test"));
  expect([reads, descriptionOf(second)]).toEqual([1, "one"]);
  expect(second.resources[0]).toBe(first.resources[0]);
  expect(second.locate({ file: "manifests/tag.yaml", document: 0, pointer: "/spec/name" })).toMatchObject({ line: 4, column: 15 });
});

test("the next check uses what was pushed last", async () => {
  const commits = [
    { commit: "c1", dirty: false },
    { commit: "c2", dirty: true },
  ] as const;
  const [one, two] = [await pushed("one", commits[0]), await pushed("two", commits[1])];
  const load = bundleProjects(loaderIn());
  const projects = [await load(one()), await load(two()), await load(one())];
  expect(projects.map(descriptionOf)).toEqual(["one", "two", "one"]);
  expect(projects.map(({ recordedGit }) => recordedGit?.state)).toEqual([commits[0], commits[1], commits[0]]);
  expect(reads).toBe(2);
});

test("a project that does not fit any more is loaded again", async () => {
  const bundle = await pushed("one");
  const load = bundleProjects(loaderIn(), tag("one").length);
  const first = await load(bundle());
  expect((await load(bundle())).resources[0]).toBe(first.resources[0]);
  await load(bundle("test"));
  const again = await load(bundle());
  expect(again.resources[0]).not.toBe(first.resources[0]);
  expect(again.resources).toEqual(first.resources);
});

test("a bundle whose files were deleted on this machine is read again", async () => {
  const bundle = await pushed("one");
  const loader = loaderIn();
  const load = bundleProjects(loader);
  await load(bundle());
  rmSync(join(loader.stateFolder, "bundles"), { recursive: true });
  expect(descriptionOf(await load(bundle("test")))).toBe("one");
  expect(reads).toBe(2);
});

test("a bundle that was changed in the database is refused", async () => {
  const bundle = await pushed("tampered");
  const other = await pushed("other");
  await database.query(
    "update dimsync_controller.bundle set content = (select content from dimsync_controller.bundle where digest = $2) where digest = $1",
    [bundle().digest, other().digest],
  );
  await expect(bundleProjects(loaderIn())(bundle())).rejects.toThrow("was changed in the database");
});
