// A branch does not choose the program that a job runs with the key.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { emptyFolder } from "../cli/built-cli.ts";
import { startGithub } from "../features/ci/github-stand-in.ts";
import { packedPackage, runJob, startRepository, ways } from "../features/ci/rehearsal-job.ts";
import { serve } from "../support/loopback.ts";
import { ordersManifest } from "../support/orders.ts";
import { fileNeeds } from "../support/programs.ts";
import { sampleOf } from "../support/sample.ts";
import { programsOfBranch } from "./hostile.ts";

fileNeeds("bash");

let packageFile = "";
beforeAll(async () => {
  packageFile = await packedPackage();
});

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };

/** A registry of packages that has only dimsync, and counts its requests. */
async function startRegistry() {
  const tarball = readFileSync(packageFile);
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const { url: origin, received } = await serve(({ url, headers }, response) => {
    const dist = { tarball: `http://${headers.host}/dimsync.tgz`, integrity };
    const versions = { [version]: { name: "dimsync", version, bin: { dimsync: "dist/bin.cjs" }, dist } };
    if (url === "/dimsync") response.end(JSON.stringify({ name: "dimsync", "dist-tags": { latest: version }, versions }));
    else if (url === "/dimsync.tgz") response.end(tarball);
    else response.writeHead(404).end();
  });
  return { url: `${origin}/`, requests: () => received.map(({ url }) => url) };
}

describe("a branch with .npmrc, package.json and node_modules of its own", () => {
  // Each installs the package with npm.
  const sampled = sampleOf(ways, { name: "programs of a branch", kindOf: () => "a way" });

  test.each(sampled)("does not choose what runs in a job of %s", async (way) => {
    const service = await startEmbeddedService({ apiKeys: { reading: "reader@example.com" } });
    onTestFinished(service.close);
    const [github, registry, hostile] = [await startGithub(), await startRegistry(), await startRegistry()];
    const config = `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { prod: { baseUrl: "${service.url}" } }\n`;
    const repository = startRepository({ "dimsync.yaml": config, "manifests/orders.yaml": ordersManifest("email: { hashed: true }") });
    const ran = `${emptyFolder()}/ran`;
    const manifests = { "manifests/orders.yaml": ordersManifest("phone: { hashed: true }") };
    repository.commit("feature", { ...manifests, ...programsOfBranch(hostile.url, ran) });
    const keys = { read: "reading", write: "" };
    const hosts = [new URL(service.url).host];
    const rehearsal = { packageFile: `dimsync@${version}`, npm: undefined, registry: registry.url, repository, github, hosts, keys };
    const { code, log } = await runJob(rehearsal, { task: "plan", branch: "feature", way });
    expect(existsSync(ran) ? readFileSync(ran, "utf8") : "nothing ran").toBe("nothing ran");
    expect(hostile.requests()).toEqual([]);
    expect(code, log).toBe(0);
    expect(registry.requests()).toEqual(["/dimsync", "/dimsync.tgz"]);
    expect(github.comments.get(7)?.map(({ body }) => body)).toEqual([expect.stringContaining("phone")]);
  });
});
