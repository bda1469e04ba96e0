// A pull request is compared with the branch that apply watches, as git stores it. Nothing that its author chooses replaces that.
import { beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { git } from "../support/git/remote.ts";
import { serve } from "../support/loopback.ts";
import { ordersManifest } from "../support/orders.ts";
import { sampleOf } from "../support/sample.ts";
import { type JobEvent, startReviewedRepository } from "./pull-request.ts";

const key = "canary-key-82";
let service: EmbeddedService;
beforeAll(async () => {
  service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  return () => service.close();
});

const config = (baseUrl = service.url): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${baseUrl}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
client: { retries: 0, timeoutSeconds: 5 }
`;
const start = () =>
  startReviewedRepository(key, { "dimsync.yaml": config(), "manifests/orders.yaml": ordersManifest("email: { hashed: true }") });

/** A service of an attacker. */
const startThief = () => serve((_, response) => response.writeHead(500).end());

const events: Readonly<Record<string, JobEvent>> = {
  "a pull request": {},
  "a merge queue": { name: "merge_group", payload: { merge_group: { base_sha: "0".repeat(40) } } },
  "a comment": { name: "issue_comment", payload: { issue: { number: 7, pull_request: {} } } },
  "a run by hand": { name: "workflow_dispatch" },
  "a push of another branch": { name: "push" },
};

describe("a branch that sends the key elsewhere", () => {
  const sample = sampleOf(Object.entries(events), { name: "events", kindOf: ([name]) => (name === "a pull request" ? name : "other") });
  test.each(sample)("gets no key in a job for %s", async (_, event) => {
    const thief = await startThief();
    const { commit, plan } = await start();
    commit("evil", { "dimsync.yaml": config(thief.url) });
    const { code, output } = await plan("evil", event);
    expect([code, output, thief.received]).toEqual([1, expect.stringContaining("E_TARGET_CHANGED"), []]);
  });

  test("gets none if it has a tag with the name of the branch of the remote, and the job does not know the commit", async () => {
    const thief = await startThief();
    const { commit, plan, checkout } = await start();
    commit("evil", { "dimsync.yaml": config(thief.url) });
    const workspace = checkout("evil");
    for (const name of ["origin/main", "main", "refs/heads/main"]) git(workspace, "tag", name);
    const { code, output } = await plan("evil", {}, workspace);
    expect([code, output, thief.received]).toEqual([1, expect.stringContaining("E_TARGET_CHANGED"), []]);
  });

  test("gets none if the pull request would be merged into a branch of its author: the manifests are validated, and the job says so", async () => {
    const thief = await startThief();
    const { commit, plan, comment } = await start();
    commit("mine", { "dimsync.yaml": config(thief.url) });
    commit("evil", { "dimsync.yaml": config(thief.url), "manifests/new.yaml": "kind: Nonsense\n" });
    const { code, output } = await plan("evil", { into: "mine" });
    expect([code, thief.received]).toEqual([1, []]);
    expect(output).toContain('E_TARGET_CHANGED: The pull request would be merged into "mine", but apply watches "main".');
    expect(output).toContain("manifests/new.yaml");
    expect(comment()).toMatch(/## No plan for `prod`\n\n`E_TARGET_CHANGED`: The pull request would be merged into "mine"/u);
  });

  test("gets none if it brings an account of its own, which would show an empty plan", async () => {
    const { commit, plan } = await start();
    commit("evil", { "dimsync.yaml": config("embedded:account.json") });
    expect(await plan("evil")).toEqual({ code: 1, output: expect.stringContaining("E_TARGET_CHANGED") });
  });
});

test("a target that apply watches on another branch than the default one is compared with that branch", async () => {
  const { commit, plan } = await start();
  commit("release", { "manifests/orders.yaml": ordersManifest("email: { hashed: false }") });
  const { code, output } = await plan("release", { into: "release", env: { DIMSYNC_APPLIED_BRANCH: "release" } });
  expect([code, output]).toEqual([0, expect.stringMatching(/^prod[: ]/mu)]);
});

describe("a pull request that changes no file of the project", () => {
  test("succeeds without a plan, and replaces the plan of an earlier push in the comment", async () => {
    const { commit, plan, comment } = await start();
    const before = service.requests.length;
    commit("docs", { "README.md": "text" });
    expect(await plan("docs")).toEqual({
      code: 0,
      output: expect.stringContaining("prod: not compared, because no file of the project changed"),
    });
    expect([service.requests.length, comment()]).toEqual([before, ""]);
    commit("docs", { "manifests/orders.yaml": ordersManifest("email: { hashed: false }") });
    expect(await plan("docs")).toEqual({ code: 0, output: expect.stringMatching(/^prod[: ]/mu) });
    commit("docs", { "manifests/orders.yaml": ordersManifest("email: { hashed: true }") });
    expect((await plan("docs")).code).toBe(0);
    expect(comment()).toContain("## `prod`: not compared");
  });

  test.each<readonly [what: string, files: Readonly<Record<string, string>>]>([
    ["attributes, which decide what a checkout writes", { ".gitattributes": "*.yaml eol=lf\n" }],
    ["a manifest in a folder that only dimsync.yaml names", { "conf/new.yaml": "# nothing\n" }],
  ])("is planned if it changes %s", async (_, files) => {
    const { commit, plan } = await start();
    commit("main", { "dimsync.yaml": config().replace("[manifests]", "[manifests, conf]"), "conf/old.yaml": "# nothing\n" });
    commit("change", files);
    expect(await plan("change")).toEqual({ code: 0, output: expect.stringMatching(/^prod[: ]/mu) });
  });
});

test("attributes of the branch do not change what is read of the base", async () => {
  const { commit, plan } = await start();
  commit("evil", { "manifests/orders.yaml": "", ".gitattributes": "manifests/*.yaml working-tree-encoding=UTF-16LE-BOM\n" });
  const { output } = await plan("evil");
  expect(output).not.toContain("could only be read in part");
  expect(output).toContain("! Integration/orders   released");
});

test("a base that cannot be read fails the job, and the comment says it first", async () => {
  const { commit, plan, comment, checkout } = await start();
  commit("feature", { "manifests/more.yaml": "" });
  const workspace = checkout("feature");
  const { code, output } = await plan("feature", { env: { DIMSYNC_APPLIED_BRANCH: "gone" }, into: "gone" }, workspace);
  expect([code, output]).toEqual([1, expect.stringContaining("E_BASE_UNREADABLE")]);
  expect(comment()).toMatch(/## No plan for `prod`\n\n`E_BASE_UNREADABLE`: The branch "gone" of the remote origin/u);
});
