// @ts-check
// Rules decide what may be read; where a rule says "ask", the host's own function is asked.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilehand } from "filehand";

const root = mkdtempSync(join(tmpdir(), "filehand-"));
mkdirSync(join(root, "private"));
for (const name of ["private/diary.txt", "notes.txt", ".env"]) writeFileSync(join(root, name), `this is ${name}\n`);

/** @type {import("filehand").Asker} */
const ask = async ({ permission, always }) => {
  console.log(`asked about a ${permission}: shall ${always[0]} hold from now on?`);
  return { reply: "always" }; // or "once", or "reject" with feedback for the model
};

const filehand = createFilehand({ roots: [root], permissions: { deny: ["Read(/private/**)"] }, ask });
const session = filehand.session();

for (const path of ["notes.txt", "private/diary.txt", ".env", ".env"]) {
  const reply = await session.call("Read", { file_path: path });
  console.log(`${path}: ${reply.error === undefined ? "read" : reply.error.message}`);
}
// Rules that are malformed or can never match are not in force, and are listed here.
console.log(`rules with faults: ${filehand.ruleFaults.length}`);

rmSync(root, { recursive: true });
