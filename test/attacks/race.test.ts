/**
 * A31 A39: another process swaps a folder, a link, a file or the root for a link to outside while we read. Not one
 * outside byte may come out; and a control that checks first and reads then must be caught by the same racer, else
 * nothing was proven. 100,000 reads; ten times as many in `npm run test:races`.
 */

import { deepEqual, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { inMemory, onLinux, openDescriptors, workspace } from "../support/workspace.ts";
import { race, timesMore, untilCaught } from "./racer.ts";

const inside = "inside-content-5d01";
const outside = "outside-content-c3e8";

/** What the swapped name is, and the path that is read. */
const kinds = {
  folder: "dir/a.txt",
  middle: "one/two/three/a.txt",
  link: "way/a.txt",
  leaf: "leaf",
  root: "a.txt",
} as const;
/** The least part of the reads that must succeed all the same: far below the nine tenths of a machine under load. */
const floors: Readonly<Record<string, number>> = { folder: 0.1, middle: 0.1, link: 0.1, leaf: 0.05, root: 0.1 };
const readsEach = 20_000 * timesMore;
const allowedCodes = ["ACCESS_DENIED", "NOT_FOUND", "CHANGED"];

describe.skipIf(!onLinux)("A31 (Linux only: elsewhere the window is narrowed, not closed)", () => {
  for (const [kind, asked] of Object.entries(kinds)) {
    test(`a ${kind} that is swapped for a link to outside never shows what is outside`, {
      timeout: 300_000 * timesMore,
    }, async () => {
      const { path: at } = workspace(
        {
          ws: {
            "a.txt": inside,
            dir: { "a.txt": inside },
            inside: { "a.txt": inside },
            "dir-evil": { link: "../out" },
            one: { two: { three: { "a.txt": inside } }, "two-evil": { link: "../../out" } },
            way: { link: "inside" },
            leaf: inside,
            "leaf-real": inside,
          },
          "ws-evil": { link: "out" },
          out: { "a.txt": outside, leaf: outside, three: { "a.txt": outside } },
        },
        inMemory(),
      );
      const sentinels = snapshot(at("out"));
      // The toolkit is made while the root is in its place.
      const session = createFilehand({ roots: [at("ws")], dedup: false }).session({ dialect: "claude" });
      const racer = await race([kind], at("ws"));
      try {
        const before = openDescriptors();
        const ours = await readMany(session, asked);
        const left = (openDescriptors() ?? 0) - (before ?? 0);
        const control = untilCaught(() => readNaively(at("ws"), asked));
        // Figures for who reads the log: they say how hard the race was.
        process.stderr.write(
          `race ${kind}: ${readsEach} reads, ${ours.shown} shown, ${ours.escapes} escapes, ${JSON.stringify(ours.codes)}; ` +
            `control caught after ${control.tries} reads\n`,
        );
        ok(racer.runs(), "the racer died");
        deepEqual({ escapes: ours.escapes, left }, { escapes: 0, left: 0 });
        deepEqual(
          Object.keys(ours.codes).filter((code) => !allowedCodes.includes(code)),
          [],
        );
        ok(ours.shown >= readsEach * (floors[kind] ?? 1), `only ${ours.shown} of ${readsEach} reads succeeded`);
        ok(control.caught, `the racer is too slow: the naive control was not caught in ${control.tries} reads`);
      } finally {
        await racer.stop();
      }
      deepEqual(snapshot(at("out")), sentinels);
    });
  }
});

async function readMany(session: ReturnType<ReturnType<typeof createFilehand>["session"]>, asked: string) {
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

/** Check, then use. */
function readNaively(root: string, asked: string): boolean {
  const real = fs.realpathSync.native(`${root}/${asked}`);
  return real.startsWith(`${root}/`) && fs.readFileSync(`${root}/${asked}`, "utf8").includes(outside);
}
