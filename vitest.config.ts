import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./test/support/skipped-reporter.ts";
import { waiting } from "./test/support/waiting.ts";

// `npm test` runs the project "fast": tests that need only Node and git, and that pass however slow the machine is.
// `npm run test:all` adds the project "slow", the files named *.slow.test.ts: they start servers, a browser or other
// programs, kill or freeze processes, take leases, or let real time pass.
// With DIMSYNC_TESTS=all, tests that otherwise try a sample try all cases: test/support/sample.ts.
export default defineConfig({
  test: {
    reporters: ["default", ...(process.env["GITHUB_ACTIONS"] === "true" ? ["github-actions"] : []), new SkippedReporter()],
    globalSetup: ["test/support/temporary-folder-setup.ts", "test/support/postgres/shared-setup.ts"],
    // A timeout only ends a test that hangs: the machine may be slow, and busy with something else. So no test has a shorter
    // one of its own.
    testTimeout: process.env["DIMSYNC_TESTS"] === "all" ? 1_800_000 : 600_000,
    hookTimeout: 600_000,
    expect: { poll: waiting },
    pool: "forks",
    // At least three, because some tests wait for other processes. Each loads the sources once.
    maxWorkers: Math.max(3, availableParallelism()),
    // Loading the sources again for each file would take a third of the time. No file may leave anything
    // behind: change environment variables with vi.stubEnv.
    isolate: false,
    unstubEnvs: true,
    restoreMocks: true,
    // Compiled sources are kept in node_modules until they change.
    experimental: { fsModuleCache: true },
    projects: [
      { extends: true, test: { name: "fast", include: ["test/**/*.test.ts"], exclude: ["test/**/*.slow.test.ts"] } },
      { extends: true, test: { name: "slow", include: ["test/**/*.slow.test.ts"] } },
    ],
  },
});
