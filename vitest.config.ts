import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Two cores: forks keep suites that spawn processes and change environment variables apart.
    pool: "forks",
    unstubEnvs: true,
    restoreMocks: true,
    // The default leaves one of two cores idle.
    maxWorkers: 2,
  },
});
