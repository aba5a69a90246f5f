/** A moment without free file descriptors: it is told, and the next call works. Node remembers modules that it could not read. */

import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { test } from "vitest";
import { onWindows, workspace } from "../support/workspace.ts";

const library = new URL("../../dist/index.js", import.meta.url).href;

/** Calls each tool for the first time while all descriptors but a few are taken, and once more when they are free. */
const program = `
  import * as fs from "node:fs";
  import { createFilehand } from ${JSON.stringify(library)};
  const [, root, state, spare] = process.argv;
  const options = { roots: [root], stateDir: state, ask: "yes", reminder: false, readFirst: false, dedup: false };
  const session = createFilehand(options).session();
  const edit = (from, to) => ({ file_path: "a.txt", old_string: from, new_string: to });
  for (const [tool, input, again] of [
    ["Edit", edit("two", "TWO"), edit("three", "THREE")],
    ["Glob", { pattern: "*" }, { pattern: "*" }],
    ["Read", { file_path: "c.ipynb" }, { file_path: "c.ipynb" }],
  ]) {
    const held = [];
    try {
      for (;;) held.push(fs.openSync("/dev/null"));
    } catch {}
    for (const fd of held.splice(0, Number(spare))) fs.closeSync(fd);
    const codes = [];
    for (const each of [input, again]) {
      const reply = await session.call(tool, each).catch((error) => ({ error: { code: String(error) } }));
      codes.push(reply.error?.code ?? "ok");
      for (const fd of held.splice(0)) fs.closeSync(fd);
    }
    console.log(tool, ...codes);
  }
`;

for (const spare of [0, 3, 6]) {
  test.skipIf(onWindows)(`${spare} free descriptors: the call fails by name, the next one works`, () => {
    const cell = { cell_type: "code", id: "x", source: ["1"], metadata: {}, outputs: [], execution_count: null };
    const notebook = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
    const { path: at } = workspace({ ws: { "a.txt": "one\ntwo\nthree\n", "c.ipynb": notebook }, state: {} });
    fs.writeFileSync(at("program.mjs"), program);
    const script = 'ulimit -n 64; exec "$0" --input-type=module --eval "$(cat "$1")" "$2" "$3" "$4"';
    const args = ["-c", script, process.execPath, at("program.mjs"), at("ws"), at("state"), String(spare)];
    const { stdout, stderr } = spawnSync("sh", args, { encoding: "utf8" });
    const lines = stdout.trim().split("\n");
    equal(lines.length, 3, stderr);
    for (const line of lines) equal(/^\w+ (IO_ERROR|ok) ok$/.test(line), true, line);
  });
}
