/** What is said of an offset past the end, and of one thing alone: with the names of the call and the right number. */

import { expect, test } from "vitest";
import { createFilehand, type DialectName } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

const made = workspace({
  ws: { one: { "a.txt": "needle\n" }, two: { "b.txt": "x\n", "c.txt": "y\n" }, none: {} },
});
const filehand = createFilehand({ roots: [made.path("ws")], clock: { nowMs: () => 0 } });

for (const [dialect, tool, input, said] of [
  [
    "envelope",
    "LS",
    { path: "two", offset: 3 },
    "Invalid offset: 3. Folder 'two' has 2 entries, so offset must be from 1 to 2.",
  ],
  ["envelope", "LS", { path: "one", offset: 2 }, "Invalid offset: 2. Folder 'one' has 1 entry, so offset must be 1."],
  [
    "envelope",
    "LS",
    { path: "none", offset: 2 },
    "Invalid offset: 2. Folder 'none' is empty (0 entries), so only offset=1 is legal.",
  ],
  [
    "envelope",
    "Read",
    { path: "one/a.txt", start_line: 2 },
    "Invalid start_line: 2. File 'one/a.txt' has 1 line, so start_line must be 1.",
  ],
  ["claude", "LS", { path: "one", offset: 2 }, 'Cannot list "one" from entry 2: it has 1 entry, use offset 1'],
  [
    "claude",
    "LS",
    { path: "two", offset: 3 },
    'Cannot list "two" from entry 3: it has 2 entries, use an offset from 1 to 2',
  ],
  [
    "claude",
    "Grep",
    { pattern: "needle", offset: 5 },
    "Found 1 file\n[There is only 1 file, so none behind the first 5]",
  ],
  ["envelope", "Glob", { pattern: "a.txt" }, "Found 1 file matching 'a.txt'.\n(Took 0ms)\n\none/a.txt"],
  ["envelope", "Glob", { pattern: "{b,c}.txt", path: "none" }, "Found 0 files matching '{b,c}.txt'.\n(Took 0ms)"],
  ["envelope", "LS", { path: "one" }, "Listed 1 entry of 'one'.\n(Took 0ms)\n\na.txt (7 B)"],
] as const satisfies readonly (readonly [DialectName, string, object, string])[]) {
  test(`${dialect}: ${tool} ${JSON.stringify(input)}`, async () => {
    expect(textOf(await filehand.session({ dialect }).call(tool, input))).toBe(said);
  });
}
