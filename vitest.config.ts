import { defineConfig } from "vitest/config";

/** Not inherited: a project that extends the root would run the root's set-up a second time. */
const everywhere = { testTimeout: 30_000, hookTimeout: 30_000, pool: "threads" } as const;

export default defineConfig({
  test: {
    globalSetup: "tests/support/setup.ts",
    projects: [
      {
        // Every test has its own users, so files run side by side; they wait for the stack far more
        // than they compute, so more of them than there are cores.
        test: {
          ...everywhere,
          name: "parallel",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/alone/**"],
          maxWorkers: 4,
        },
      },
      {
        // What changes the whole stack (settings, limits, its processes): afterwards, one by one.
        test: {
          ...everywhere,
          name: "alone",
          include: ["tests/alone/**/*.test.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
