import { equal } from "node:assert/strict";
import { test } from "vitest";
import type { Facts } from "./dialect.ts";
import { dialects } from "./index.ts";

const facts: Facts = {
  tool: "Write",
  verb: "write",
  full: false,
  input: {},
  elapsedMs: 3,
  cwd: ".",
  spell: (absolute) => absolute,
  reminder: false,
  numbers: undefined,
  model: undefined,
  ids: { session: "s", message: "m", next: () => "p" },
};
const place = { asked: "a.txt", absolute: "/w/a.txt", relative: "a.txt" };

for (const [errno, during, said] of [
  ["EIO", "writing", "the disk reports an error (EIO) while writing, try again"],
  ["ENOSPC", "writing", "the disk is full (ENOSPC) while writing, ask the user to make room on it"],
  [
    "EDQUOT",
    "writing",
    "the quota of the disk is used up (EDQUOT) while writing, ask the user to make room or to raise it",
  ],
  [
    "EROFS",
    "making a folder",
    "the file system is read-only (EROFS) while making a folder, ask the user to make it writable, or use a path elsewhere",
  ],
  [
    "EMLINK",
    "writing in place: it has other names, which would change with it",
    'EMLINK while writing in place: it has other names, which would change with it, ask the user to separate them, or to set hardLinks to "keep"',
  ],
  ["EMLINK", "making a folder", "EMLINK while making a folder, try again"],
] as const) {
  test(`what to do about ${errno} while ${during.split(":", 1)[0]} is something that helps`, () => {
    const [part] = dialects.claude.renderProblem({ code: "IO_ERROR", place, errno, during }, facts).content;
    equal(part?.type === "text" && part.text, `Cannot write "a.txt": ${said}`);
  });
}
