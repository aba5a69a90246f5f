// @ts-check
// What no dialect has a parameter for: the last lines of a file, and several ranges in one answer.

import { fileURLToPath } from "node:url";
import { createFilehand, lineNumber } from "filehand";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project], reminder: false }).session();

/** @param {import("filehand").ReadRequest["ranges"]} ranges */
async function show(...ranges) {
  const { reply } = await session.run((profile) => ({
    verb: "read",
    path: "LICENSE",
    ranges,
    overBudget: "first page",
    profile,
  }));
  for (const part of reply.content) if (part.type === "text") console.log(part.text);
}

await show({ last: 2 });
console.log("--");
await show({ from: lineNumber(1), linesMax: 1 }, { from: lineNumber(3), linesMax: 1 });
