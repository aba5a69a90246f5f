/** A lock that changes its kind between two reads, at every possible point: the read itself makes the swap. */

import { equal, throws } from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { afterAll, describe, test } from "vitest";
import { lockText } from "./lock-file.ts";

const top = fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-lock-text-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));
const lock = nodePath.join(top, "lock");

const becomes = {
  file: (text: string) => fs.writeFileSync(lock, text),
  link: (text: string) => fs.symlinkSync(text, lock),
  nothing: () => undefined,
} as const;

function put(kind: keyof typeof becomes, text: string): void {
  fs.rmSync(lock, { force: true });
  becomes[kind](text);
}

/** Reads the symlink as usual, then puts the next of `kinds` in its place. */
function lookThatMeets(kinds: readonly (keyof typeof becomes)[]): (path: string) => string {
  let looks = 0;
  return (path) => {
    try {
      return fs.readlinkSync(path);
    } finally {
      const next = kinds[looks];
      looks += 1;
      if (next !== undefined) put(next, `${next} ${looks}`);
    }
  };
}

describe.skipIf(process.platform === "win32")("what a lock says", () => {
  for (const [name, first, kinds, said] of [
    ["a file", "file", [], "first"],
    ["a link", "link", [], "first"],
    ["nothing", "nothing", [], undefined],
    ["a file that has become a link when it is opened", "file", ["link"], "link 1"],
    ["a file that has become a link, and the link a file", "file", ["link", "file"], "link 1"],
    ["a file that has become another", "file", ["file"], "file 1"],
    ["a file that has gone when it is opened", "file", ["nothing"], undefined],
    ["a link that has become a file after it was read", "link", ["file"], "first"],
  ] as const) {
    test(`is read of ${name}`, () => {
      put(first, "first");
      equal(lockText(lock, lookThatMeets(kinds)), said);
    });
  }

  test("is given up if it changes its kind at every read", () => {
    put("file", "first");
    let looks = 0;
    const restless = (path: string): string => {
      looks += 1;
      put("file", "again");
      try {
        return fs.readlinkSync(path);
      } finally {
        put("link", "again");
      }
    };
    throws(() => lockText(lock, restless), { code: "ELOOP" });
    equal(looks, 100);
  });
});
