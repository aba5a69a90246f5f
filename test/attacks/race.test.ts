/**
 * A31: another process swaps a folder, a link or a file for a link to outside while we read. Not one outside byte may
 * come out; and a control that checks first and reads then must be caught by the same racer, else nothing was proven.
 */

import { deepEqual, ok } from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { wholeOf } from "../support/reading.ts";
import { onLinux, openDescriptors, workspace } from "../support/workspace.ts";

const inside = "inside-content-5d01";
const outside = "outside-content-c3e8";

/** What the swapped name is, and the path that is read. */
const kinds = { folder: "dir/a.txt", link: "way/a.txt", leaf: "leaf" } as const;
const readsEach = 40_000;
const allowedCodes = ["ACCESS_DENIED", "NOT_FOUND", "CHANGED"];

describe.skipIf(!onLinux)("A31 (Linux only: elsewhere the window is narrowed, not closed)", () => {
  for (const [kind, asked] of Object.entries(kinds)) {
    test(`a ${kind} that is swapped for a link to outside never shows what is outside`, {
      timeout: 180_000,
    }, async () => {
      const { path: at } = workspace({
        ws: {
          dir: { "a.txt": inside },
          inside: { "a.txt": inside },
          "dir-evil": { link: "../out" },
          way: { link: "inside" },
          leaf: inside,
          "leaf-real": inside,
        },
        out: { "a.txt": outside, leaf: outside },
      });
      const racer = await race(kind, at("ws"));
      try {
        const before = openDescriptors();
        const ours = await readMany(at("ws"), asked);
        const left = (openDescriptors() ?? 0) - (before ?? 0);
        const control = readNaively(at("ws"), asked);
        // Figures for who reads the log: they say how hard the race was.
        process.stderr.write(
          `race ${kind}: ${readsEach} reads, ${ours.shown} shown, ${ours.escapes} escapes, ${JSON.stringify(ours.codes)}; ` +
            `control: ${control.tries} reads, ${control.escapes} escapes\n`,
        );
        ok(racer.exitCode === null, "the racer died");
        deepEqual({ escapes: ours.escapes, left }, { escapes: 0, left: 0 });
        deepEqual(
          Object.keys(ours.codes).filter((code) => !allowedCodes.includes(code)),
          [],
        );
        ok(ours.shown >= 300, `only ${ours.shown} of ${readsEach} reads succeeded`);
        ok(control.escapes > 0, `the racer is too slow: the naive control was not caught in ${control.tries} reads`);
      } finally {
        racer.kill();
        await once(racer, "exit");
      }
    });
  }
});

async function race(kind: string, folder: string): Promise<ChildProcess> {
  const racer = fork(fileURLToPath(new URL("swapper.js", import.meta.url)), [kind, folder], { execArgv: [] });
  await once(racer, "message");
  return racer;
}

async function readMany(root: string, asked: string) {
  const session = createFilehand({ roots: [root], dedup: false }).session({ dialect: "claude" });
  const codes: Record<string, number> = {};
  let shown = 0;
  let escapes = 0;
  for (let reads = 0; reads < readsEach; reads += 1) {
    const reply = await session.call("Read", { file_path: asked });
    const whole = wholeOf(reply);
    if (whole.includes(outside)) escapes += 1;
    else if (reply.error !== undefined) codes[reply.error.code] = (codes[reply.error.code] ?? 0) + 1;
    else if (whole.includes(inside)) shown += 1;
    else throw new Error(`neither inside nor outside: ${whole}`);
  }
  return { shown, escapes, codes };
}

/** Check, then use: until it was caught once, or half a minute has passed. */
function readNaively(root: string, asked: string): { readonly tries: number; readonly escapes: number } {
  const end = performance.now() + 30_000;
  let tries = 0;
  while (performance.now() < end) {
    tries += 1;
    try {
      const real = fs.realpathSync.native(`${root}/${asked}`);
      if (!real.startsWith(`${root}/`)) continue;
      if (fs.readFileSync(`${root}/${asked}`, "utf8").includes(outside)) return { tries, escapes: 1 };
    } catch {
      // The name is gone for a moment.
    }
  }
  return { tries, escapes: 0 };
}
