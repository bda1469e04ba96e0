import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { branchName } from "../../../src/features/ci/drift-job.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { git as gitIn, repositoryIn } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { configText, keyVariable, writeProject } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";
import { type GitlabMergeRequest, gitlabToken, startGitlab } from "./gitlab-stand-in.ts";

// `dimsync ci drift --pull-request` with a real bare remote, a real service and a stand-in of the forge's API.

interface Pull {
  readonly title: string;
  readonly body: string;
  readonly isOpen: boolean;
  readonly from: string;
  readonly into: string;
  readonly comments: readonly string[];
}

interface Forge {
  /** The variables of a scheduled job on main. */
  readonly env: Readonly<Record<string, string>>;
  readonly pulls: () => readonly Pull[];
}

async function github(): Promise<Forge & { readonly standIn: GithubStandIn }> {
  const standIn = await startGithub();
  return {
    standIn,
    env: {
      GITHUB_ACTIONS: "true",
      GITHUB_REPOSITORY: "example/data",
      GITHUB_REF: "refs/heads/main",
      GITHUB_API_URL: standIn.url,
      GITHUB_TOKEN: githubToken,
      GITHUB_RUN_ID: "1",
    },
    pulls: () =>
      standIn.pulls.map(({ title, body, state, head, base, comments }) => ({
        ...{ title, body, comments },
        ...{ isOpen: state === "open", from: head.label.replace("example:", ""), into: base.ref },
      })),
  };
}

async function gitlab(): Promise<Forge> {
  const requests: GitlabMergeRequest[] = [];
  const url = await startGitlab({ requests });
  return {
    env: { GITLAB_CI: "true", CI_PROJECT_ID: "12", CI_API_V4_URL: url, GITLAB_TOKEN: gitlabToken, CI_COMMIT_BRANCH: "main" },
    pulls: () =>
      requests.map(({ title, description, state, source_branch, target_branch, notes }) => ({
        ...{ title, body: description, comments: notes },
        ...{ isOpen: state === "opened", from: source_branch, into: target_branch },
      })),
  };
}

const orders = "8f1c";
const branch = "dimsync/drift-test";
const policy = `---
apiVersion: dimsync/v1
kind: Policy
metadata: { name: hash-ids }
spec: { severity: error, when: { column: { name: "national_id*", enabled: true } }, require: { hashed: true }, message: Hash it. }
`;

/** A checkout whose account matches the manifests, with a catalog and CODEOWNERS. */
async function startJob({ env: jobEnv }: Forge) {
  const service = await startService();
  onTestFinished(() => service.close());
  const root = writeProject({
    "work/dimsync.yaml": configText(service.url, { catalog: "dimsync.catalog.yaml" }),
    "work/manifests/orders.yaml": `# Ours.\n${ordersManifest("email: { hashed: false }, phone: { hashed: true }")}${policy}`,
    "work/.github/CODEOWNERS": "* @example/everyone\n/manifests/ @example/data dana@example.com\n",
    "work/.gitignore": ".dimsync/\n",
  });
  const [work, remote] = [join(root, "work"), join(root, "remote.git")];
  const env = {
    ...gitEnv,
    ...jobEnv,
    ...{ GIT_AUTHOR_NAME: "dimsync-bot", GIT_AUTHOR_EMAIL: "bot@example.com", GITHUB_WORKSPACE: work, CI_PROJECT_DIR: work },
    ...{ RUNNER_TEMP: root, CI_PROJECT_URL: `file://${join(root, "remote")}`, [keyVariable]: service.apiKey },
  };
  const command = (...argv: readonly string[]) => runCommand(argv, work, env);
  await command("apply", "--yes", "-q", "--allow", "maxExposedColumns=test").catch(() => undefined);
  await command("catalog", "accept", "--all", "-q");
  await command("apply", "--yes", "-q");
  const git = repositoryIn(work, remote);
  const change = (work_: (columns: Record<string, { enabled: boolean; hashed: boolean }>) => void, event: string) =>
    service.mutate(
      (state) => {
        const table = state.integrations.find(({ id }) => id === orders)?.schemas["public"]?.tables["customers"];
        if (table !== undefined) work_(table.columns);
      },
      { email: "sam@example.com" },
      event,
    );
  return {
    ...{ work, remote, git, env },
    hash: (column: string, hashed: boolean) =>
      change((columns) => {
        const found = columns[column];
        if (found !== undefined) found.hashed = hashed;
      }, `Integration ${orders} "Orders": schema configuration updated`),
    addColumn: (column: string) =>
      change((columns) => {
        columns[column] = { nameInDestination: column, enabled: true, hashed: false, isPrimaryKey: false } as never;
      }, `Integration ${orders} "Orders": schema changed`),
    drift: () => command("ci", "drift", "--pull-request", "--no-issue", "-q"),
    tip: () => gitIn(remote, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`),
    onBranch: (path: string) => gitIn(remote, "show", `${branch}:${path}`),
  };
}

describe.each<[name: string, start: () => Promise<Forge>]>([
  ["GitHub", github],
  ["GitLab", gitlab],
])("on %s", (_name, start) => {
  test("drift becomes one branch and one pull request with the edit, who made the change, and the owners", async () => {
    const forge = await start();
    const { hash, drift, remote, onBranch, git } = await startJob(forge);
    hash("email", true);
    const { code, stderr } = await drift();
    expect(stderr).toContain("dimsync: pull request for test: created\n");
    expect(code).toBe(0);
    const [pull, another] = forge.pulls();
    expect(another).toBeUndefined();
    expect(pull).toMatchObject({ title: "Accept drift of test", isOpen: true, from: branch, into: "main" });
    expect(pull?.body).toContain("- accepts 1 difference in the manifests");
    expect(pull?.body).toMatch(
      /### Accepted in the manifests \(1\)\n\n- `Schemas\/orders` `public\.customers\.email hashed`: `false` → `true`; sam&#64;.*example\.com, 20\d\d-/u,
    );
    expect(pull?.body).toContain("- `manifests/orders.yaml`: @example/data dana@example.com");
    expect(onBranch("manifests/orders.yaml")).toContain("# Ours.\n");
    expect(onBranch("manifests/orders.yaml")).toContain("email: { hashed: true }, phone: { hashed: true }");
    expect(gitIn(remote, "diff", "--name-only", "main", branch)).toBe("manifests/orders.yaml");
    expect(gitIn(remote, "log", "--format=%an %s", `main..${branch}`)).toBe("dimsync-bot Accept drift of test");
    // The checkout of the job stays as it is.
    expect(git("status", "--porcelain")).toBe("");
  });

  test("the next run changes nothing, and further drift updates the branch and the pull request in place", async () => {
    const forge = await start();
    const { hash, drift, remote, tip, onBranch } = await startJob(forge);
    hash("email", true);
    await drift();
    const first = tip();
    expect((await drift()).stderr).toContain("pull request for test: same\n");
    expect(tip()).toBe(first);
    hash("phone", false);
    expect((await drift()).stderr).toContain("pull request for test: updated\n");
    expect(onBranch("manifests/orders.yaml")).toContain("email: { hashed: true }, phone: { hashed: false }");
    expect(gitIn(remote, "rev-list", "--count", `main..${branch}`)).toBe("1");
    expect(forge.pulls()).toHaveLength(1);
    expect(forge.pulls()[0]?.body).toContain("- accepts 2 differences in the manifests");
  });

  test("a commit of someone else stops it: the branch and the pull request stay", async () => {
    const forge = await start();
    const { hash, drift, git, tip } = await startJob(forge);
    hash("email", true);
    await drift();
    git("fetch", "--quiet", "origin", branch);
    git("switch", "--quiet", "--create", "review", "FETCH_HEAD");
    git("commit", "--quiet", "--allow-empty", "--message", "explain why");
    git("push", "--quiet", "origin", `HEAD:${branch}`);
    git("switch", "--quiet", "main");
    const [theirs, before] = [tip(), forge.pulls()];
    for (const change of [() => hash("phone", false), () => hash("phone", true), () => hash("email", false)]) {
      change();
      const { stderr } = await drift();
      expect(stderr).toContain("E_BRANCH_TAKEN");
      expect(stderr).toContain(`Someone else has committed to the branch ${branch}`);
      expect([tip(), forge.pulls()]).toEqual([theirs, before]);
    }
    hash("email", true);
    expect((await drift()).code).toBe(2);
  });

  test("an amended commit counts as someone else's", async () => {
    const forge = await start();
    const { hash, drift, git, tip, env } = await startJob(forge);
    hash("email", true);
    await drift();
    git("fetch", "--quiet", "origin", branch);
    git("switch", "--quiet", "--create", "review", "FETCH_HEAD");
    git("commit", "--quiet", "--amend", "--no-edit");
    git("push", "--quiet", "--force", "origin", `HEAD:${branch}`);
    git("switch", "--quiet", "main");
    const theirs = tip();
    hash("phone", false);
    expect((await runCommand(["ci", "drift", "--pull-request", "-q"], join(git("rev-parse", "--show-toplevel")), env)).stderr).toContain(
      "E_BRANCH_TAKEN",
    );
    expect(tip()).toBe(theirs);
  });

  test("when the drift is over, it closes the pull request, says why and deletes the branch", async () => {
    const forge = await start();
    const { hash, drift, tip } = await startJob(forge);
    hash("email", true);
    await drift();
    hash("email", false);
    const { code, stderr } = await drift();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("pull request for test: closed\n") });
    expect(forge.pulls()).toMatchObject([{ isOpen: false, comments: [expect.stringContaining("No drift.")] }]);
    expect(tip()).toBe("");
    expect((await drift()).stderr).toContain("pull request for test: none\n");
  });
});

test("what a merge changes and no apply has sent yet is not accepted", async () => {
  const forge = await github();
  const { hash, drift, work, env, git, onBranch } = await startJob(forge);
  await runCommand(["apply", "--yes", "-q"], work, env);
  const file = join(work, "manifests/orders.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("phone: { hashed: true }", "phone: { hashed: false }"));
  git("commit", "--quiet", "--all", "--message", "phones unhashed");
  git("push", "--quiet", "origin", "main");
  hash("email", true);
  await drift();
  expect(onBranch("manifests/orders.yaml")).toContain("email: { hashed: true }, phone: { hashed: false }");
  expect(forge.pulls()[0]?.body).toMatch(/### Left out \(1\)\n\n- .*phone.*: The manifests changed here, not the account\./u);
});

test("a manifest that other targets load is named, with what merging changes for them", async () => {
  const forge = await github();
  const { hash, work, env } = await startJob(forge);
  const config = join(work, "dimsync.yaml");
  writeFileSync(config, `${readFileSync(config, "utf8").replace("targets:", "targets:\n  eu: {}")}`);
  hash("email", true);
  await runCommand(["ci", "drift", "--pull-request", "--no-issue", "-q", "-t", "test"], work, env);
  expect(forge.pulls()[0]?.body).toContain(
    "### Other targets\n\n- `manifests/orders.yaml` also belongs to `eu`. Merging changes there:\n  - `SchemaConfig/orders` `public.customers.email hashed`: `true`\n",
  );
});

describe("new columns", () => {
  test("are added to the catalog, without those that an error policy does not allow", async () => {
    const forge = await github();
    const { addColumn, drift, remote, onBranch } = await startJob(forge);
    addColumn("loyalty_tier");
    addColumn("national_id2");
    await drift();
    expect(gitIn(remote, "diff", "--name-only", "main", branch)).toBe("dimsync.catalog.yaml");
    expect(onBranch("dimsync.catalog.yaml")).toContain("loyalty_tier");
    expect(onBranch("dimsync.catalog.yaml")).not.toContain("national_id2");
    const body = forge.pulls()[0]?.body ?? "";
    expect(body).toContain("- adds 1 reviewed column to the catalog");
    expect(body).toMatch(/### Added to the catalog \(1\)\n\n- `Schemas\/orders` `public\.customers\.\w+`/u);
    expect(body).toMatch(/### Left out \(1\)\n\n- `Schemas\/orders` `public\.customers\.national_id2`: Policy\/hash-ids does not allow/u);
  });
});

describe("a clear message", () => {
  test.each<[string, (forge: GithubStandIn, remote: string) => void, RegExp]>([
    [
      "if GitHub refuses the pull request",
      (standIn) => {
        standIn.refuse = {
          matches: /^POST .*\/pulls$/u,
          status: 403,
          times: 1,
          message: "GitHub Actions is not permitted to create pull requests.",
        };
      },
      /::warning title=dimsync%3A E_FORGE_FORBIDDEN::GitHub answered POST \/repos\/example\/data\/pulls with 403 \(GitHub Actions is not permitted to create pull requests\.\)/u,
    ],
    [
      "if the remote refuses the push",
      (_standIn, remote) => {
        writeFileSync(join(remote, "hooks/pre-receive"), "#!/bin/sh\necho 'branches are protected' >&2\nexit 1\n");
        chmodSync(join(remote, "hooks/pre-receive"), 0o755);
      },
      /E_PUSH::The branch dimsync\/drift-test could not be pushed: .*branches are protected/u,
    ],
  ])("%s, and the job fails because of the drift", async (_what, prepare, message) => {
    const forge = await github();
    const { hash, drift, remote } = await startJob(forge);
    prepare(forge.standIn, remote);
    hash("email", true);
    const { code, stderr } = await drift();
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  test("in a job of a pull request or tag, which has no branch", async () => {
    const forge = await github();
    const { hash, work, env, tip } = await startJob(forge);
    hash("email", true);
    const { code, stderr } = await runCommand(["ci", "drift", "--pull-request", "--no-issue", "-q"], work, {
      ...env,
      GITHUB_REF: "refs/tags/v1",
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("E_NO_BRANCH") });
    expect(tip()).toBe("");
  });

  test("for other tasks", async () => {
    const forge = await github();
    const { work, env } = await startJob(forge);
    expect((await runCommand(["ci", "plan", "--pull-request"], work, env)).stderr).toContain(
      "--pull-request is a flag of dimsync ci drift",
    );
  });
});

test.each([
  ["", "prod", "dimsync/drift-prod"],
  ["", "eu.prod", "dimsync/drift-eu.prod"],
  ["deploy", "prod", /^dimsync\/drift-prod-[0-9a-f]{8}$/u],
  ["", "a/b..c", /^dimsync\/drift-a-b-c-[0-9a-f]{8}$/u],
  ["", "x.lock", /^dimsync\/drift-x-lock-[0-9a-f]{8}$/u],
] as const)("the branch of target %j in folder %j", (folder, target, expected) => {
  expect(branchName(folder, target)).toMatch(
    expected instanceof RegExp ? expected : new RegExp(`^${expected.replaceAll(".", "\\.")}$`, "u"),
  );
});
