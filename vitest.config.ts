import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { SkippedReporter } from "./test/support/skipped-reporter.ts";
import { waiting } from "./test/support/waiting.ts";

// Starting a process copies the page tables of the worker that starts it. Large pages of memory (of glibc; what V8 allocates is
// not copied) save 3 ms of processor time for each of thousands of processes, once a worker has opened the embedded database.
process.env["GLIBC_TUNABLES"] ??= "glibc.malloc.hugetlb=1";

// `npm test` runs all tests, `npm run test:fast` those of the inner loop: the project "fast". A file named
// *.slow.test.ts is in the project "slow": it starts the built command line, git, a database, a browser or
// other processes, or takes more than about two seconds.
// With DIMSYNC_TESTS=all, tests that otherwise try a sample try all cases: test/support/sample.ts. A
// timeout only ends a test that hangs: the machine may be slow, and busy with something else. So no test has a shorter one of its own.
const shared = {
  include: ["test/**/*.test.ts"],
  globalSetup: ["test/support/temporary-folder-setup.ts", "test/support/postgres/shared-setup.ts"],
  testTimeout: process.env["DIMSYNC_TESTS"] === "all" ? 1_800_000 : 600_000,
  hookTimeout: 600_000,
  expect: { poll: waiting },
  pool: "forks" as const,
  // Four more than two cores: tests of leases and retries mostly wait. Each more loads the sources once more.
  maxWorkers: 6,
  // Most code runs a few times. Optimizing the embedded database would take 2 s of processor time in each
  // worker, and optimizing other code as early as usual a tenth of the time of all fast tests. Optimizing only
  // the code that runs most, at 30 times the usual budget, saves a twelfth; later versions of Node have no flag
  // for that. More threads only take turns.
  execArgv: ["--liftoff-only", process.version.startsWith("v20.") ? "--interrupt-budget=2000000" : "--no-opt", "--v8-pool-size=1"],
  // Loading the sources again for each file would take a third of the time. No file may leave anything
  // behind: change environment variables with vi.stubEnv.
  isolate: false,
  unstubEnvs: true,
  restoreMocks: true,
  // Compiled sources are kept in node_modules until they change.
  experimental: { fsModuleCache: true },
};

// One project, whose workers load the sources once, unless --project asks for one of two.
const isDivided = process.argv.some((argument) => argument.startsWith("--project"));

export default defineConfig({
  test: {
    ...shared,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", ...(process.env["GITHUB_ACTIONS"] === "true" ? ["github-actions"] : []), new SkippedReporter()],
    ...(isDivided && {
      projects: [
        { test: { ...shared, name: "fast", exclude: ["test/**/*.slow.test.ts"] } },
        { test: { ...shared, name: "slow", include: ["test/**/*.slow.test.ts"] } },
      ],
    }),
  },
});
