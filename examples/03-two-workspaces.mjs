// @ts-check
// Two toolkits in one process share nothing: each has its own roots, its own rules and its own border.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilehand } from "filehand";

const [left, right] = [mkdtempSync(join(tmpdir(), "left-")), mkdtempSync(join(tmpdir(), "right-"))];
writeFileSync(join(left, "note.txt"), "written on the left\n");
writeFileSync(join(right, "note.txt"), "written on the right\n");
symlinkSync(join(right, "note.txt"), join(left, "a-way-out"));

const ofLeft = createFilehand({ roots: [left] }).session({ dialect: "claude" });
const ofRight = createFilehand({ roots: [right] }).session({ dialect: "claude" });
const ofBoth = createFilehand({ roots: [left, right] }).session({ dialect: "claude" });

/** @param {import("filehand").Session<"claude">} session @param {string} path */
async function textOf(session, path) {
  const answer = await session.tools.Read({ file_path: path });
  return answer.type === "text" ? answer.file.content : answer.type;
}

console.log(await textOf(ofLeft, "note.txt"));
console.log(await textOf(ofRight, "note.txt"));

for (const path of [join(right, "note.txt"), "../note.txt", "a-way-out"]) {
  console.log((await ofLeft.call("Read", { file_path: path })).error?.code);
}
// With both roots the same link stays inside.
console.log(await textOf(ofBoth, "a-way-out"));

for (const folder of [left, right]) rmSync(folder, { recursive: true });
