/** Rules that name one path, and where it leads if it is a symlink. */

import { equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, test } from "vitest";
import type { RuleText } from "../contract/permission.ts";
import { createDisk, type Disk } from "../disk/disk.ts";
import { createFilehand } from "../filehand.ts";
import { namedLinks } from "./policy.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "filehand-named-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, "x.txt"), "x\n");

test.skipIf(process.platform === "win32")("a rule that is reported to match nothing denies nothing", () => {
  const above = dirname(root);
  const rule = `Read(/${above}/../${basename(above)}/${basename(root)}/x.txt)`;
  const { ruleFaults, permissions } = createFilehand({
    roots: [root],
    permissions: { deny: [rule] },
    unclearRules: "report",
  });
  equal(ruleFaults.length, 1);
  equal(permissions.explain("Read", "x.txt").verdict, "allow");
});

describe.skipIf(process.platform === "win32")("as many rules as a settings file can hold", () => {
  const denied = (names: readonly string[]): readonly RuleText[] =>
    names.map((name) => ({ verdict: "deny", text: `Read(${name})`, source: "options" }));
  const counting = (folder: string): { readonly disk: Disk; readonly lookups: () => number } => {
    const disk = createDisk([folder]);
    let count = 0;
    const lookup: Disk["lookup"] = (...given) => {
      count += 1;
      return disk.lookup(...given);
    };
    return { disk: { ...disk, lookup }, lookups: () => count };
  };
  const folderOf = (name: string): string => {
    const folder = join(root, name);
    mkdirSync(folder);
    writeFileSync(join(folder, "goal.txt"), "x\n");
    return folder;
  };
  const numbers = Array.from({ length: 2_500 }, (_, index) => `${index}`);

  test("names that do not exist cost no lookup", () => {
    const { disk, lookups } = counting(folderOf("none"));
    for (const names of [numbers, numbers.map((name) => `${name}/1`)]) {
      const links = namedLinks(denied(names), disk, undefined);
      equal(links.deny("read", join(root, "none/goal.txt")), undefined);
      equal(links.now().leads, false);
    }
    equal(lookups(), 0);
  });

  test("symlinks in the hundreds deny their goals without a lookup of each in every call", () => {
    const folder = folderOf("links");
    for (const name of numbers.slice(0, 300)) symlinkSync("goal.txt", join(folder, name));
    const { disk, lookups } = counting(folder);
    const links = namedLinks(denied(numbers), disk, undefined);
    for (let call = 0; call < 10; call += 1) {
      equal(links.deny("read", join(folder, "goal.txt"))?.text, "Read(0)");
      equal(links.now().deny("read", join(folder, "goal.txt"))?.text, "Read(0)");
    }
    equal(lookups(), 0);
  });

  test("of more than one scan takes, each is scanned before the first answer and again later", () => {
    const folder = folderOf("later");
    symlinkSync("goal.txt", join(folder, "9999"));
    let nowMs = 0;
    const names = Array.from({ length: 10_000 }, (_, index) => `${index}`);
    const links = namedLinks(denied(names), createDisk([folder]), undefined, () => nowMs);
    ok([...links.prepare()].length > 1_000);
    const goal = (): string | undefined => links.deny("read", join(folder, "goal.txt"))?.text;
    equal(goal(), "Read(9999)");
    rmSync(join(folder, "9999"));
    symlinkSync("goal.txt", join(folder, "9000"));
    for (let scan = 0; scan < 5 && goal() !== "Read(9000)"; scan += 1) nowMs += 600_000;
    equal(goal(), "Read(9000)");
  });

  test("a name after very many slashes takes linear time", () => {
    const rule = `/${"/".repeat(300_000)}x`;
    const startMs = performance.now();
    equal(namedLinks(denied([rule]), createDisk([root]), undefined).deny("read", join(root, "x.txt")), undefined);
    // Quadratic, it takes a minute.
    ok(performance.now() - startMs < 10_000);
  });
});
