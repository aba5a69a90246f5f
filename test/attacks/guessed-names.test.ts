/** G15, A69: no number of an answer depends on how a pattern fits names that the caller may not see. */

import { equal } from "node:assert/strict";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const { path: at } = workspace({
  ws: {
    ".gitignore": "build/\nlost-*\n",
    src: { "a.txt": "x", "token-abc.py": "x" },
    ".hidden": { "token-x1.py": "x", deep: { "token-x2.py": "x" } },
    build: { "token-q1.py": "x" },
    "token-[x": "x",
    private: { "a.txt": "x" },
    // Links of which the target is denied are not named either.
    "way-abc": { link: "private/a.txt" },
    ".way-abc": { link: "private/a.txt" },
    "lost-abc": { link: "private/a.txt" },
    links: { "way-abc": { link: "../private/a.txt" } },
  },
});
const session = createFilehand({
  roots: [at("ws")],
  permissions: { deny: ["Read(**/token-*)", "Read(/private/**)"] },
}).session({ dialect: "claude" });

describe.skipIf(onWindows)("a right guess is answered like a wrong one", () => {
  for (const [tool, right, wrong] of [
    ["Glob", { pattern: "**/token-a*" }, { pattern: "**/token-b*" }],
    ["Glob", { pattern: "**/token-x*" }, { pattern: "**/token-y*" }],
    ["Glob", { pattern: "**/token-x2*" }, { pattern: "**/token-x3*" }],
    ["Glob", { pattern: "**/token-q*" }, { pattern: "**/token-r*" }],
    ["Glob", { pattern: "way-a*" }, { pattern: "way-b*" }],
    ["Glob", { pattern: "?way-a*" }, { pattern: "?way-b*" }],
    ["Glob", { pattern: "lost-a*" }, { pattern: "lost-b*" }],
    ["Glob", { pattern: "token-[x" }, { pattern: "token-[y" }],
    ["Grep", { pattern: "y", glob: "token-a*" }, { pattern: "y", glob: "token-b*" }],
    ["Grep", { pattern: "y", glob: "src/token-ab?.py" }, { pattern: "y", glob: "src/token-ac?.py" }],
    ["Grep", { pattern: "y", type: "py" }, { pattern: "y", type: "java" }],
    ["Grep", { pattern: "y", path: "links", glob: "way-a*" }, { pattern: "y", path: "links", glob: "way-b*" }],
    ["LS", { path: "src", ignore: ["token-a*"] }, { path: "src", ignore: ["token-b*"] }],
  ] as const) {
    test(`${tool} ${JSON.stringify(right)}`, async () => {
      const answer = async (input: object): Promise<string> =>
        textOf(await session.call(tool, input)).replace(/token-\[./, "token-[");
      equal(await answer(right), await answer(wrong));
    });
  }
});
