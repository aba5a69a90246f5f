/** What history costs. The limits are wide, because test machines are shared; the figures are printed. */

import { equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "vitest";
import { createDisk } from "../../src/disk/disk.ts";
import type { HistoryRecord } from "../../src/contract/history.ts";
import { openFileStore } from "../../src/history/file-store.ts";
import { openHistory } from "../../src/history/history.ts";
import { workspace } from "../support/workspace.ts";

const { path: place, top } = workspace({ work: { "a.ts": "" } });
const isSecret = (): boolean => false;
const medianOf = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0;

test("keeping a small edit takes a fraction of a millisecond", async () => {
  const disk = createDisk([place("work")]);
  const session = openHistory({ stateDir: place("state"), isSecret, nowMs: Date.now }).session({
    id: "s",
    roots: [top],
    dialect: "claude",
  });
  const path = disk.roots[0]?.real + "/a.ts";
  const text = (n: number): Buffer =>
    Buffer.from(Array.from({ length: 300 }, (_, line) => `const value${line} = ${line * n};\n`).join(""));
  const first: number[] = [];
  const later: number[] = [];
  for (let n = 0; n < 400; n += 1) {
    const isFirst = n % 2 === 0;
    // Half of the time somebody else has written the file, so that the old content is new to the store.
    if (isFirst) fs.writeFileSync(path, text(n * 2 + 100_000));
    const found = disk.look(path);
    ok(found.seen === "node");
    const file = disk.open(found);
    ok(!("errno" in file));
    const old = fs.readFileSync(path);
    const bytes = text(n);
    const startMs = performance.now();
    const shared = { messageId: `m${n}`, path, relative: "a.ts", tool: "Edit" };
    const kept = await session.keep({
      ...shared,
      before: { file, bytes: old, will: "be renamed over" },
      after: { bytes },
    });
    (isFirst ? first : later).push(performance.now() - startMs);
    equal(kept.failed, undefined);
    file.close();
    found.held.close();
    fs.writeFileSync(path, bytes);
  }
  const figures = [medianOf(first), medianOf(later)].map((ms) => `${ms.toFixed(3)} ms`);
  process.stdout.write(`keep, 7 KB: ${figures[0]} with two new contents, ${figures[1]} with one\n`);
  ok(medianOf(later) < 2);
});

test("100 snapshots over 10,000 files are listed at once", () => {
  const store = openFileStore({ folder: place("many/history") });
  const file = (n: number) =>
    ({ kind: "file", sizeBytes: 10, mode: 0o644, content: n.toString(16).padStart(64, "0") }) as const;
  for (let turn = 0; turn < 100; turn += 1) {
    const messageId = `message-${turn}`;
    const changes = Array.from({ length: 100 }, (_, n): HistoryRecord => {
      const relative = `packages/some-package/src/folder-${turn}/file-${n}.ts`;
      const path = `/home/somebody/projects/repository/${relative}`;
      const [before, after] = [file(turn * 200 + n), file(turn * 200 + n + 1)];
      return { type: "change", messageId, path, relative, before, after, tool: "Edit", timeMs: 1 };
    });
    store.append("s", [{ type: "turn", messageId, timeMs: turn }, ...changes]);
  }
  const session = openHistory({ stateDir: place("many"), isSecret, nowMs: Date.now }).session({
    id: "s",
    roots: [],
    dialect: "",
  });
  const times = Array.from({ length: 5 }, () => {
    const startMs = performance.now();
    equal(session.snapshots().length, 100);
    return performance.now() - startMs;
  });
  process.stdout.write(
    `100 snapshots, 10,000 files: first ${times[0]?.toFixed(0)} ms, then ${medianOf(times).toFixed(0)} ms\n`,
  );
  ok(medianOf(times) < 400);
});
