import { defineConfig } from "vitest/config";

// `npm test` runs both projects. `npm run test:fast` is for the inner loop: no process is killed, no
// browser or shell is started, nothing takes seconds. A file named *.slow.test.ts is in the slow one.
const shared = {
  testTimeout: 20_000,
  hookTimeout: 20_000,
  // Forks keep suites that spawn processes and change environment variables apart.
  pool: "forks" as const,
  unstubEnvs: true,
  restoreMocks: true,
};

export default defineConfig({
  test: {
    // The default leaves one of two cores idle.
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: "fast", include: ["test/**/*.test.ts"], exclude: ["test/**/*.slow.test.ts"] } },
      { test: { ...shared, name: "slow", include: ["test/**/*.slow.test.ts"] } },
    ],
  },
});
