// The account is read while git is still running.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { scene, tagManifest } from "../apply/scene.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

test("the account is read while git is still running", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-git-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seen = join(folder, "a-request-was-sent");
  // Responds only after the service has seen a request.
  const script = `#!/bin/sh
while [ ! -e '${seen}' ]; do sleep 0.2; done
case "$*" in *rev-parse*) echo ${commit} ;; esac
`;
  writeFileSync(join(folder, "git"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"] ?? ""}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const at = await scene(tagManifest("the best"), { service: { onExchange: () => writeFileSync(seen, "") } });
  at.write(".git", "gitdir: elsewhere");
  const { plan } = await at.plan();
  expect(plan.git).toMatchObject({ commit });
});
