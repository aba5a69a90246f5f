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

console.log((await ofLeft.tools.Read({ file_path: "note.txt" })).file.content);
console.log((await ofRight.tools.Read({ file_path: "note.txt" })).file.content);

for (const path of [join(right, "note.txt"), "../note.txt", "a-way-out"]) {
  console.log((await ofLeft.call("Read", { file_path: path })).error?.code);
}
// With both roots the same link stays inside.
console.log((await ofBoth.tools.Read({ file_path: "a-way-out" })).file.content);

for (const folder of [left, right]) rmSync(folder, { recursive: true });
