import { defineConfig } from "vitest/config";

const everywhere = { testTimeout: 30_000, hookTimeout: 30_000, pool: "threads" } as const;
const withStack = { ...everywhere, setupFiles: ["tests/support/set-up.ts"] };

export default defineConfig({
  test: {
    projects: [
      {
        // Without a stack: what is computed, or has all of its world injected.
        test: { ...everywhere, name: "unit", include: ["tests/unit/**/*.test.ts"], maxWorkers: 4 },
      },
      {
        // Every test has its own users, so files run side by side; they wait for the stack far more
        // than they compute, so more of them than there are cores.
        test: {
          ...withStack,
          name: "stack",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/unit/**", "tests/alone/**"],
          maxWorkers: 4,
        },
      },
      {
        // What changes the whole stack (settings, limits, its processes) or keeps a lock that others
        // may want: afterwards, one by one.
        test: {
          ...withStack,
          name: "alone",
          include: ["tests/alone/**/*.test.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
