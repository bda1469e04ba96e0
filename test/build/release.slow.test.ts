// The scripts of the release workflow, in a copy of the files that they use. What GitHub, npm and
// Docker do in it is not tested.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { outputsIn } from "../features/ci/action-runner.ts";
import { git } from "../support/git/remote.ts";
import { program } from "../support/programs.mjs";
import { fileNeeds } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";

fileNeeds("bash");

interface Step {
  readonly id?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
const { jobs } = parse(readFileSync(".github/workflows/release.yml", "utf8")) as {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly permissions?: Readonly<Record<string, string>> }>>;
};

/** A folder with the built package, and a function that runs a step of the workflow in it. */
function startRelease(version: string) {
  const folder = writeProject({
    "CHANGELOG.md": `# Changelog\n\n## ${version} - 2026-01-02\n\n- First entry\n\n## 0.0.1\n\n- Older entry\n`,
  });
  for (const path of ["dist", "schema", "build", "README.md", "LICENSE", "package.json", "package-lock.json", ".npmrc"])
    cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const manifest = join(folder, "package.json");
  writeFileSync(manifest, JSON.stringify({ ...(JSON.parse(readFileSync(manifest, "utf8")) as object), version }));
  const run = (job: string, id: string, env: Readonly<Record<string, string>> = {}, cwd = folder) => {
    const script = jobs[job]?.steps.find((step) => step.id === id)?.run ?? "exit 99";
    const outputFile = join(folder, "output");
    writeFileSync(outputFile, "");
    const { status, stdout, stderr } = spawnSync(program("bash"), ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script], {
      cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        GITHUB_OUTPUT: outputFile,
        GITHUB_REF_NAME: `v${version}`,
        GITHUB_REPOSITORY: "Example/Dimsync",
        GITHUB_SERVER_URL: "https://github.com",
        ...env,
      },
      encoding: "utf8",
    });
    return { status, log: stdout + stderr, outputs: Object.fromEntries(outputsIn(readFileSync(outputFile, "utf8"))) };
  };
  return { folder, run };
}

test("the tarball, the notes and the bill of materials are made once, and every later job checks them", () => {
  const { folder, run } = startRelease("7.8.9");
  for (const id of ["version", "repository"]) expect(run("build", id)).toMatchObject({ status: 0 });
  const packed = run("build", "pack");
  expect(packed.status, packed.log).toBe(0);
  expect(readFileSync(join(folder, "release/notes.md"), "utf8").trim()).toBe("- First entry");
  expect(JSON.parse(readFileSync(join(folder, "release/dimsync.cdx.json"), "utf8"))).toMatchObject({ bomFormat: "CycloneDX" });
  const manifest = execFileSync("tar", [
    "--extract",
    "--to-stdout",
    "--file",
    join(folder, "release/dimsync-7.8.9.tgz"),
    "package/package.json",
  ]);
  expect(JSON.parse(String(manifest))).toMatchObject({
    version: "7.8.9",
    repository: { type: "git", url: "git+https://github.com/Example/Dimsync.git" },
    bugs: { url: "https://github.com/Example/Dimsync/issues" },
    homepage: "https://github.com/Example/Dimsync#readme",
  });

  const sums = { SHA256SUMS: packed.outputs["sha256sums"] ?? "" };
  const checked = Object.keys(jobs).filter((job) => job !== "build");
  expect(checked).toEqual(["npm", "image", "page"]);
  for (const job of checked) expect(run(job, "check", sums, join(folder, "release"))).toMatchObject({ status: 0 });
  appendFileSync(join(folder, "release/dimsync-7.8.9.tgz"), "x");
  for (const job of checked) expect(run(job, "check", sums, join(folder, "release"))).toMatchObject({ status: 1 });
});

describe("a release is refused", () => {
  test.each([
    ["if the tag has another version", "1.2.3", { GITHUB_REF_NAME: "v1.2.4" }],
    ["if the version is a prerelease", "1.2.3-rc.1", {}],
  ])("%s", (_sentence, version, env) => {
    expect(startRelease(version).run("build", "version", env).status).toBe(1);
  });

  test("if the changelog has no entry", () => {
    const { folder, run } = startRelease("1.2.3");
    renameSync(join(folder, "CHANGELOG.md"), join(folder, "other.md"));
    writeFileSync(join(folder, "CHANGELOG.md"), "# Changelog\n\n## 1.2.2\n\n- Older\n");
    expect(run("build", "version").status).toBe(1);
  });
});

describe("only the newest release of a line moves its tags", () => {
  const tags = ["v0", "v0.9.9", "v1", "v1.9.0", "v1.10.0", "v1.10.1", "v2.0.0-rc.1", "v2.0.0", "vnext"];
  test.each([
    ["2.0.0", "2.0 2 latest"],
    ["1.10.1", "1.10 1 "],
    ["1.10.0", ""],
    ["1.9.0", "1.9 "],
    ["0.9.9", "0.9 0 "],
  ])("%s", (version, lines) => {
    const { folder, run } = startRelease(version);
    git(folder, "init", "--quiet");
    git(folder, "commit", "--quiet", "--allow-empty", "--message=x");
    for (const tag of tags) git(folder, "tag", tag);
    expect(run("build", "lines").outputs).toEqual({ lines });

    const image = [version, ...lines.split(" ").filter((tag) => tag !== "")].map((tag) => `ghcr.io/example/dimsync:${tag}`);
    expect(run("image", "names", { LINES: lines }).outputs["tags"]).toBe(image.join(","));

    // npm and git are stand-ins that print their arguments.
    mkdirSync(join(folder, "bin"));
    for (const name of ["npm", "git"]) writeFileSync(join(folder, "bin", name), `#!/bin/sh\necho ${name} "$@"\n`, { mode: 0o755 });
    const env = { LINES: lines, GITHUB_SHA: "c0ffee", PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
    const line = version.replace(/\.\d+$/u, "");
    expect(run("npm", "publish", env).log).toContain(` --tag ${lines.endsWith("latest") ? "latest" : `line-${line}`} --provenance`);
    const major = version.replace(/\..*/u, "");
    const moved = ` ${lines} `.includes(` ${major} `);
    expect(run("page", "major", env)).toMatchObject({
      status: 0,
      log: moved ? `git tag --force v${major} c0ffee\ngit push --force origin refs/tags/v${major}\n` : "",
    });
  });
});

describe("what SECURITY.md says about verifying a release", () => {
  const stepsOf = (job: string): readonly string[] => (jobs[job]?.steps ?? []).map(({ uses, run }) => uses?.split("@")[0] ?? run ?? "");
  const attested = (job: string) => jobs[job]?.steps.find(({ uses }) => uses?.startsWith("actions/attest-build-provenance@"))?.with;

  test("the tarball is attested before npm gets it, with provenance of npm too", () => {
    expect(jobs["npm"]?.permissions).toMatchObject({ "id-token": "write", attestations: "write" });
    expect(attested("npm")).toMatchObject({ "subject-path": expect.stringContaining("release/dimsync-*.tgz\n") });
    const steps = stepsOf("npm");
    const publish = steps.findIndex((step) => /^npm publish .* --provenance /mu.test(step));
    expect(publish).toBeGreaterThan(steps.indexOf("actions/attest-build-provenance"));
  });

  test("the image is attested by the digest that was pushed", () => {
    expect(jobs["image"]?.permissions).toMatchObject({ "id-token": "write", attestations: "write", packages: "write" });
    expect(attested("image")).toEqual({
      "subject-name": `$\{{ steps.names.outputs.image }}`,
      "subject-digest": `$\{{ steps.push.outputs.digest }}`,
      "push-to-registry": true,
    });
    expect(jobs["image"]?.steps.find(({ id }) => id === "push")?.uses).toMatch(/^docker\/build-push-action@/u);
    expect(startRelease("1.2.3").run("image", "names").outputs["image"]).toBe("ghcr.io/example/dimsync");
  });

  test("its commands name what is attested", () => {
    const text = readFileSync("SECURITY.md", "utf8");
    for (const subject of ["dimsync-VERSION.tgz", "oci://ghcr.io/OWNER/dimsync:VERSION"])
      expect(text).toContain(`gh attestation verify ${subject} --repo OWNER/dimsync`);
  });
});
