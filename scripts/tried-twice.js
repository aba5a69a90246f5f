/** The tests that may be tried a second time in CI (docs/decisions/2026-11-16-second-try.md), and a check that no random one is among them. */

import { readdirSync, readFileSync, statSync } from "node:fs";

/** What starts programs, opens ports or talks to a terminal. Whatever is not here, and all that is new, is tried once. */
const places = [
  "test/adapters",
  "test/browser",
  "test/ends",
  "test/inspector",
  "test/large",
  "test/lsp",
  "test/mcp",
  "test/call-events.test.ts",
  "test/lsp-rename.test.ts",
  "test/lsp-tools.test.ts",
  "test/outline.test.ts",
  "test/parallel.test.ts",
  "test/scenarios.test.ts",
  "test/search/glob.test.ts",
  "test/search/grep-hard-lines.test.ts",
  "test/search/grep-unsearched.test.ts",
  "src/kinds/image/image.test.ts",
  "src/kinds/outline/outline.test.ts",
  "src/search/ripgrep.test.ts",
  "src/surfaces/inspector/stream.test.ts",
];

/** As patterns for the test runner. */
export const triedTwice = places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`));

/** @returns {string[]} one line per place that is not there, or that holds a random check: a second try would hide what it found */
export function wronglyTriedTwice() {
  return places.flatMap((place) => {
    if (!statSync(place, { throwIfNoEntry: false })) return [`${place} is not there`];
    const files = place.endsWith(".ts")
      ? [place]
      : readdirSync(place, { recursive: true, encoding: "utf8" }).map((name) => `${place}/${name}`);
    return files
      .filter((file) => file.endsWith(".test.ts") && !file.includes("/node_modules/"))
      .filter((file) => /from "fast-check"/.test(readFileSync(file, "utf8")))
      .map((file) => `${file} is random and would be tried twice`);
  });
}
