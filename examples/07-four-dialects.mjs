// @ts-check
// One file, one engine, four dialects: the same call in the words of each.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilehand } from "filehand";

const root = mkdtempSync(join(tmpdir(), "filehand-"));
writeFileSync(join(root, "hello.js"), 'const name = "world";\n\nconsole.log(`hello, ${name}`);\n');
const filehand = createFilehand({ roots: [root], reminder: false, clock: { nowMs: () => 0 } });

/** @type {ReadonlyArray<readonly [import("filehand").DialectName, string, unknown]>} */
const calls = [
  ["claude", "Read", { file_path: "hello.js", offset: 1, limit: 2 }],
  ["opencode", "read", { filePath: "hello.js", offset: 1, limit: 2 }],
  ["opencode-legacy", "read", { filePath: "hello.js", offset: 0, limit: 2 }],
  ["envelope", "Read", { path: "hello.js", start_line: 1, limit: 2 }],
];
for (const [dialect, tool, input] of calls) {
  const reply = await filehand.session({ dialect }).call(tool, input);
  console.log(`--- ${dialect}: ${tool}(${JSON.stringify(input)})`);
  for (const part of reply.content)
    if (part.type === "text") console.log(part.text.replaceAll(root, "/workspace").trimEnd());
}

rmSync(root, { recursive: true });
