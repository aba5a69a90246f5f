import { defineConfig } from "vitest/config";
import { textFiles } from "./scripts/text-files.js";

/** Where what happens once in a thousand runs is a finding: a race that is lost, a kill at a bad moment. */
const strict = ["test/{attacks,faults,history,locks}/**/*.test.ts"];

export default defineConfig({
  plugins: [textFiles()],
  test: {
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // What is waited for comes when a busy machine gets to it.
    expect: { poll: { timeout: 45_000, interval: 100 } },
    reporters: ["default", "./scripts/closing-line.js"],
    projects: [
      { extends: true, test: { name: "strict", include: strict } },
      {
        extends: true,
        test: {
          name: "others",
          include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...strict, "**/node_modules/**"],
          // Programs, ports and terminals of a busy machine; random cases. A second try is told at the end of the run, with its
          // fault and, of a random case, the seed.
          retry: process.env.CI === "true" ? 1 : 0,
        },
      },
    ],
  },
});
