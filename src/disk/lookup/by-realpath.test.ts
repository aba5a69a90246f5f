import { equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "vitest";
import { faultySystem } from "../../../test/support/faulty-system.ts";
import { lookupSuite } from "../../../test/support/lookup-suite.ts";
import { onWindows, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { nodeSystem, type System } from "../system.ts";
import { lookupByRealpath } from "./by-realpath.ts";
import type { Root } from "./lookup.ts";

describe.skipIf(onWindows)("the weak lookup", () => lookupSuite("weak", "darwin"));

/** A disk of names only: every path is real, and the root has inode 1. */
const named = (rootPath: string): System => {
  const stat = (asked: string | number): fs.BigIntStats =>
    Object.assign(fs.statSync(".", { bigint: true }), {
      dev: 1n,
      ino: asked === rootPath ? 1n : 2n,
      mode: asked === rootPath ? 0o040755n : 0o100644n,
    });
  return {
    ...nodeSystem,
    realPath: (asked) => asked,
    statPath: stat,
    stat,
    open: () => 99,
    close: () => undefined,
  };
};

for (const [flavour, root, asked, seen] of [
  ["posix", "/ws", "/ws", "node"],
  ["posix", "/ws", "/ws/a", "node"],
  ["posix", "/ws", "/ws/..a", "node"],
  ["posix", "/ws", "/ws/...", "node"],
  ["posix", "/ws", "/ws/..a/b", "node"],
  ["posix", "/ws", "/ws-evil/a", "outside"],
  ["posix", "/ws", "/", "outside"],
  ["posix", "/ws", "/other", "outside"],
  ["posix", "/", "/other", "node"],
  ["win32", "C:\\ws", "C:\\ws\\a", "node"],
  ["win32", "C:\\ws", "C:\\ws\\..a", "node"],
  ["win32", "C:\\ws", "c:\\WS\\a", "node"],
  ["win32", "C:\\ws", "C:\\ws-evil\\a", "outside"],
  ["win32", "C:\\ws", "C:\\other", "outside"],
  ["win32", "C:\\ws", "D:\\ws\\a", "outside"],
  ["win32", "C:\\ws", "\\\\host\\share\\a", "outside"],
  ["win32", "\\\\host\\share\\ws", "\\\\host\\share\\ws\\a", "node"],
  ["win32", "\\\\host\\share\\ws", "\\\\host\\other\\ws\\a", "outside"],
] as const) {
  test(`${flavour}: with root ${root}, ${asked} is ${seen === "node" ? "inside" : "outside"}`, () => {
    const at: Root = { given: root, real: root as Root["real"], device: 1n, inode: 1n, reads: "later" };
    equal(lookupByRealpath(asked, [at], named(root), path[flavour]).seen, seen);
  });
}

describe.skipIf(onWindows)("in the weak lookup", () => {
  const { path: at } = workspace({ ws: { "a.txt": "inside\n", "b.txt": "inside\n" }, out: { "a.txt": "outside\n" } });
  const { roots } = createDisk([at("ws")], { ...nodeSystem, platform: "darwin" });

  /** Runs `change` before the n-th call of any kind. */
  const changing = (n: number, change: () => void) => {
    const system = faultySystem();
    let calls = 0;
    const tick = <Result>(run: () => Result): Result => {
      calls += 1;
      if (calls === n) change();
      return run();
    };
    const wrapped: System = {
      ...system,
      open: (asked, flags) => tick(() => system.open(asked, flags)),
      stat: (fd) => tick(() => system.stat(fd)),
      statPath: (asked) => tick(() => system.statPath(asked)),
      realPath: (asked) => tick(() => system.realPath(asked)),
    };
    return { wrapped, system, calls: () => calls };
  };

  test("a file swapped for another at any step is the one or the other, or changed, and nothing stays open", () => {
    for (const put of [
      (file: string) => fs.symlinkSync("../out/a.txt", file),
      (file: string) => fs.linkSync(at("ws/b.txt"), file),
      (file: string) => fs.mkdirSync(file),
      () => undefined,
    ]) {
      for (let n = 1; ; n += 1) {
        const file = at("ws/swapped.txt");
        fs.rmSync(file, { recursive: true, force: true });
        fs.writeFileSync(file, "inside\n");
        const { wrapped, system, calls } = changing(n, () => {
          fs.rmSync(file);
          put(file);
        });
        const lookup = lookupByRealpath(file, roots, wrapped);
        if (lookup.seen === "node") {
          ok(lookup.real === file || lookup.real === at("ws/b.txt"), lookup.real);
          lookup.handle.close();
        } else ok(["changed", "missing", "outside", "loop", "refused"].includes(lookup.seen), lookup.seen);
        equal(system.stillOpen.size, 0, `at call ${n}`);
        if (calls() < n) break;
      }
    }
  });
});
