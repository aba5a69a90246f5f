/** Much history is listed whole. What it costs is told by the bench. */

import { equal } from "node:assert/strict";
import { test } from "vitest";
import type { HistoryRecord } from "../../src/contract/history.ts";
import { openFileStore } from "../../src/state/state.ts";
import { openHistory } from "../../src/history/history.ts";
import { workspace } from "../support/workspace.ts";

const { path: place } = workspace({});
const isSecret = (): boolean => false;

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
  const snapshots = session.snapshots();
  equal(snapshots.length, 100);
  equal(new Set(snapshots.flatMap(({ trackedFileBackups }) => Object.keys(trackedFileBackups))).size, 10_000);
});
