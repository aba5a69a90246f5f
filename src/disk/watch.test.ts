/** Watches that several listeners of one process share. */

import { equal } from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";
import { type Watching, watchPath } from "./watch.ts";

let top = "";
let running: Watching[] = [];

beforeEach(() => {
  top = fs.realpathSync(fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-watch-")));
});
afterEach(() => {
  for (const watching of running) watching.stop();
  running = [];
  fs.rmSync(top, { recursive: true, force: true });
});

/** Counts the calls of its listener. */
function watched(path: string): { readonly calls: () => number } {
  let calls = 0;
  running.push(watchPath(path, () => (calls += 1)));
  return { calls: () => calls };
}

async function until(isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < 500 && !isDone(); turns += 1) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("a watch", () => {
  test("reports its own file to every listener, and another file to none", async () => {
    const [file, other] = [nodePath.join(top, "a"), nodePath.join(top, "b")];
    const [one, two, third] = [watched(file), watched(file), watched(other)];
    fs.writeFileSync(file, "1");
    await until(() => one.calls() > 0 && two.calls() > 0);
    equal(one.calls() > 0 && two.calls() > 0, true);
    equal(third.calls(), 0);
  });

  test("of a folder that was removed and created again is a new one, also while an old listener remains", async () => {
    const folder = nodePath.join(top, "folder");
    const file = nodePath.join(folder, "a");
    fs.mkdirSync(folder);
    watched(file);
    fs.rmdirSync(folder);
    fs.mkdirSync(folder);
    const later = watched(file);
    fs.writeFileSync(file, "1");
    await until(() => later.calls() > 0);
    equal(later.calls() > 0, true);
  });
});
