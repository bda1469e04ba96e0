import { defineConfig } from "vitest/config";

// `npm test` runs both projects. `npm run test:fast` is for the inner loop. A file named
// *.slow.test.ts is in the slow one: it starts the built command line, git, a database, a browser or
// other processes, or takes more than about two seconds.
const shared = {
  // With DIMSYNC_TESTS=all, tests that otherwise try a sample try all cases: test/support/sample.ts.
  testTimeout: process.env["DIMSYNC_TESTS"] === "all" ? 1_200_000 : 20_000,
  hookTimeout: 20_000,
  pool: "forks" as const,
  unstubEnvs: true,
  restoreMocks: true,
};

export default defineConfig({
  test: {
    // The default leaves one of two cores idle.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.slow.test.ts"],
          // Loading the sources again for each file would take a third of the time. No file may
          // leave anything behind: change environment variables with vi.stubEnv.
          isolate: false,
        },
      },
      // A process of its own for each file: some change PATH, which children inherit.
      { test: { ...shared, name: "slow", include: ["test/**/*.slow.test.ts"] } },
    ],
  },
});
