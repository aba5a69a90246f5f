import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { textFiles } from "./scripts/text-files.js";
import { triedTwice } from "./scripts/tried-twice.js";

/** How many times the random cases of a usual run are tried: `npm run test:random`. */
const times = Number(process.env["FILEHAND_RANDOM"] ?? "1");

/** Tests whose packages are not installed, of `scripts/test.js`. */
const leftOut = (process.env["FILEHAND_LEFT_OUT"] ?? "").split("\n").filter((pattern) => pattern !== "");

/** The one file that gets the real fast-check hands it on, with more cases. */
function moreCases(): Plugin {
  const place = fileURLToPath(new URL("scripts/more-cases.js", import.meta.url));
  return {
    name: "more-cases",
    enforce: "pre",
    resolveId: (source, importer) => (source === "fast-check" && importer !== place ? place : undefined),
  };
}

export default defineConfig({
  plugins: [textFiles(), ...(times > 1 ? [moreCases()] : [])],
  test: {
    // Many tests wait for programs that they start: two files at once take 13 minutes on two cores instead of 22.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // For the slowest machine: a random check that takes a second on an idle one has its three minutes.
    testTimeout: 180_000 * times,
    hookTimeout: 300_000,
    // What is waited for comes when a busy machine gets to it.
    expect: { poll: { timeout: 45_000, interval: 100 } },
    reporters: ["default", "./scripts/closing-line.js"],
    projects: [
      {
        extends: true,
        test: {
          name: "strict",
          include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...triedTwice, "**/node_modules/**", ...leftOut],
        },
      },
      {
        extends: true,
        test: {
          name: "others",
          include: triedTwice,
          exclude: ["**/node_modules/**", ...leftOut],
          // A second try is told at the end of the run, by name and fault.
          retry: process.env.CI === "true" ? 1 : 0,
        },
      },
    ],
  },
});
