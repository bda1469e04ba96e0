// git that does not respond never holds a command up.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { gitState } from "../../../../src/core/base/git/state.ts";
import { writeProject } from "../../../support/project-folder.ts";

describe("git that does not respond", () => {
  /** A folder in a repository, and a `git` that waits far longer than any test. */
  function withSlowGit(): string {
    const folder = writeProject({});
    writeFileSync(join(folder, "git"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"] ?? ""}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    return writeProject({ ".git": "gitdir: elsewhere" });
  }

  test("is stopped when its time is up", async () => {
    expect(await gitState(withSlowGit(), { files: [], covers: () => false }, { timeoutMs: 50 })).toBeUndefined();
  });

  test("is stopped by the signal", async () => {
    const stop = new AbortController();
    const state = gitState(withSlowGit(), { files: [], covers: () => false }, { signal: stop.signal });
    stop.abort();
    expect(await state).toBeUndefined();
  });
});
