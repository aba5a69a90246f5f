/** Going back with files too large to be held: the very bytes, in little memory. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { createFilehand, type FilehandOptions, type Session } from "../../src/index.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-large-rewind-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const library = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

let made = 0;
function place(): { readonly root: string; readonly stateDir: string; readonly file: string } {
  const root = path.join(folder, `root-${(made += 1)}`);
  fs.mkdirSync(root);
  return { root, stateDir: path.join(folder, `state-${made}`), file: path.join(root, "large.log") };
}

function fill(file: string, bytes: number): void {
  const block = Buffer.from(Array.from({ length: 20_000 }, (_, line) => `${line}: größe, 日本語\n`).join(""));
  const fd = fs.openSync(file, "w");
  for (let size = 0; size < bytes; ) size += fs.writeSync(fd, block);
  fs.writeSync(fd, "the last line\n");
  fs.closeSync(fd);
}

const hashOf = (file: string): string => createHash("sha256").update(fs.readFileSync(file)).digest("hex");
const edit = { file_path: "large.log", old_string: "the last line", new_string: "another last line" };

async function editedIn(given: Pick<FilehandOptions, "roots" | "stateDir" | "hardLinks">): Promise<Session> {
  const session = createFilehand({ ...given, ask: "yes", readFirst: false }).session();
  const reply = await session.call("Edit", edit);
  expect(reply.error).toBeUndefined();
  return session;
}

const aboveHeld = limits.editInMemoryBytesMax + 1_000_000;

test.for([
  ["renamed over", "separate"],
  ["written in place", "keep"],
] as const)("a file that is %s comes back and goes again, with its mode", async ([, hardLinks]) => {
  const { root, stateDir, file } = place();
  fill(file, aboveHeld);
  fs.chmodSync(file, 0o640);
  if (hardLinks === "keep") fs.linkSync(file, path.join(root, "other name"));
  const before = hashOf(file);
  const session = await editedIn({ roots: [root], stateDir, hardLinks });
  const after = hashOf(file);
  expect(after).not.toBe(before);
  await session.undo();
  expect(hashOf(file)).toBe(before);
  expect(fs.statSync(file).mode & 0o777).toBe(0o640);
  expect(fs.statSync(file).nlink).toBe(hardLinks === "keep" ? 2 : 1);
  await session.redo();
  expect(hashOf(file)).toBe(after);
  await session.undo();
  expect(hashOf(file)).toBe(before);
});

test("a file that was deleted is made again", async () => {
  const { root, stateDir, file } = place();
  fill(file, aboveHeld);
  fs.chmodSync(file, 0o600);
  const before = hashOf(file);
  const session = await editedIn({ roots: [root], stateDir });
  fs.rmSync(file);
  const { files } = await session.rewind("start", { force: true });
  expect(files).toMatchObject([{ came: "done" }]);
  expect(hashOf(file)).toBe(before);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});

test.runIf(process.platform === "linux")("an edit of 200 MB, its undo and its redo take little memory", async () => {
  const { root, stateDir, file } = place();
  fill(file, 200_000_000);
  const before = hashOf(file);
  const program = `
    import { readFileSync } from "node:fs";
    import { createFilehand } from ${JSON.stringify(library)};
    const session = createFilehand(${JSON.stringify({ roots: [root], stateDir, ask: "yes", readFirst: false })}).session();
    await session.call("Edit", ${JSON.stringify(edit)});
    for (const way of ["undo", "redo", "undo"]) await session[way]();
    console.log(Number(/^VmHWM:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024);`;
  const run = ["--input-type=module", "-e", program];
  const megabytes = Number(execFileSync(process.execPath, run, { encoding: "utf8" }));
  expect(hashOf(file)).toBe(before);
  expect(megabytes).toBeLessThan(120);
});
