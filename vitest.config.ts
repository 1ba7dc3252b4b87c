import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Every test has its own users, so files run side by side; they wait for the stack far more
    // than they compute, so more of them than there are cores.
    pool: "threads",
    globalSetup: "tests/support/setup.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "parallel",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/alone/**"],
          maxWorkers: 4,
        },
      },
      {
        extends: true,
        // What changes the whole stack (settings, limits, its processes): afterwards, one by one.
        test: {
          name: "alone",
          include: ["tests/alone/**/*.test.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
