// The image has what the package ships, runs as an ordinary user and has a health check.
import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { parse } from "yaml";

const dockerfile = readFileSync("Dockerfile", "utf8");
const faults = (text: string): readonly string[] => validate(text).map(({ message }) => String(message));

test("the Dockerfile passes the linter, and a broken one does not", () => {
  expect(faults(dockerfile)).toEqual([]);
  expect(faults(dockerfile.replace("COPY --from=build", "COPPY --from=build"))).toHaveLength(1);
});

test("the image runs as an ordinary user and has a health check", () => {
  const [, last = ""] = /[\s\S]*^FROM .*$([\s\S]*)/mu.exec(dockerfile) ?? [];
  expect(last).toMatch(/^USER node$/mu);
  const [, file = ""] = /^HEALTHCHECK .* CMD \["node", "(\S+)"\]$/mu.exec(last) ?? [];
  expect(last).toContain(`COPY build/container-health.cjs ${file}\n`);
});

test("the build gets the sources and what the package ships, but not the git history or installed packages", () => {
  const seen = readFileSync(".dockerignore", "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: readonly string[] };
  const packed = files.filter((file) => !/^!?dist/u.test(file));
  expect(seen).toEqual(expect.arrayContaining([".npmrc", "package.json", "package-lock.json", "build.mjs", "build", "src", ...packed]));
  for (const hidden of [".git", "node_modules", "dist", ".env"]) expect(seen).not.toContain(hidden);
});

test("the hooks of pre-commit read the whole project", () => {
  const hooks = parse(readFileSync(".pre-commit-hooks.yaml", "utf8")) as readonly Readonly<Record<string, unknown>>[];
  expect(hooks.map(({ entry, pass_filenames: names, language }) => [entry, names, language])).toEqual([
    ["dimsync validate", false, "node"],
  ]);
  // Without it, a project with several targets would be refused.
  expect(hooks.map(({ args }) => args)).toEqual([["--all-targets"]]);
});

test("the tarball of a release can replace the stage that packs the sources", () => {
  expect(dockerfile).toContain("FROM scratch AS package\n");
  expect(dockerfile).toContain("COPY --from=package /dimsync-*.tgz /\n");
  const { jobs } = parse(readFileSync(".github/workflows/release.yml", "utf8")) as {
    readonly jobs: { readonly image: { readonly steps: readonly { readonly with?: Readonly<Record<string, unknown>> }[] } };
  };
  expect(jobs.image.steps.map(({ with: inputs }) => inputs?.["build-contexts"])).toContain("package=release");
});

test("Dependabot proposes each shipped package on its own, and development tools together", () => {
  const { updates } = parse(readFileSync(".github/dependabot.yml", "utf8")) as {
    readonly updates: readonly { readonly groups?: { readonly development?: { readonly "exclude-patterns": readonly string[] } } }[];
  };
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly devDependencies: object };
  const shipped = (JSON.parse(readFileSync("dist/packages.json", "utf8")) as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(updates[0]?.groups?.development?.["exclude-patterns"]).toEqual(
    expect.arrayContaining(Object.keys(devDependencies).filter((name) => shipped.includes(name))),
  );
});
