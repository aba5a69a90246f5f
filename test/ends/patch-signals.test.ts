/** A patch of many files that is stopped by a signal in the middle: all of its files are changed, or none, and that is said. */

import { equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { onWindows, workspace } from "../support/workspace.ts";
import { commandLine, environment, run } from "./run.ts";

const { path: at } = workspace({});
const names = Array.from({ length: 120 }, (_, index) => `f${String(index).padStart(3, "0")}.txt`);
const patchText = [
  "*** Begin Patch",
  ...names.flatMap((name) => [`*** Update File: ${name}`, "@@", "-old", "+new"]),
  "*** End Patch",
].join("\n");

function fresh(title: string): string {
  const root = at(title);
  fs.mkdirSync(root);
  for (const name of names) fs.writeFileSync(`${root}/${name}`, "old\n");
  return root;
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly words: string;
}

/** Sends the signal as soon as something is the case; looks at it as often as it can. */
function patched(root: string, signal: NodeJS.Signals, when: () => boolean): Promise<Ended> {
  const child = spawn(process.execPath, [commandLine, "patch", "--yes", "--root", root], { env: environment() });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (words += chunk.toString()));
  child.stdin.end(patchText);
  let isOver = false;
  const look = (): void => {
    if (when()) child.kill(signal);
    else if (!isOver) setImmediate(look);
  };
  look();
  return new Promise((resolve) => {
    child.on("close", (code, ended) => {
      isOver = true;
      resolve({ code, signal: ended, words });
    });
  });
}

/** The one state that all files are in; or how many are in which. */
function stateOf(root: string): string {
  const changed = names.filter((name) => fs.readFileSync(`${root}/${name}`, "utf8") === "new\n").length;
  if (changed === 0) return "old";
  return changed === names.length ? "new" : `${changed} of ${names.length} are new`;
}

const has =
  (root: string, kind: string): (() => boolean) =>
  () =>
    fs.readdirSync(root).some((name) => name.startsWith(`.filehand-${kind}-`));
const isChanged =
  (root: string, name: string): (() => boolean) =>
  () =>
    fs.readFileSync(`${root}/${name}`, "utf8") === "new\n";

const moments = [
  { moment: "while the new content is written", when: (root: string) => has(root, "new") },
  { moment: "when the first file is changed", when: (root: string) => isChanged(root, names[0] ?? "") },
  { moment: "when half of them are changed", when: (root: string) => isChanged(root, names[60] ?? "") },
];

describe.skipIf(onWindows)("a patch of 120 files", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    for (const { moment, when } of moments) {
      test(`${signal} ${moment}: all or none, and what it came to is said`, async () => {
        const root = fresh(`${signal} ${moment}`);
        const ended = await patched(root, signal, when(root));
        const state = stateOf(root);
        ok(state === "old" || state === "new", state);
        equal(ended.signal, null);
        equal(ended.code, state === "new" ? 0 : 1);
        match(ended.words, state === "new" ? /f119\.txt/ : /cancelled/);
        equal(has(root, "")(), false);
      });
    }
  }

  for (const { moment, when } of moments) {
    test(`SIGKILL ${moment}: the next process, which only reads, finds all or none`, async () => {
      const root = fresh(`SIGKILL ${moment}`);
      await patched(root, "SIGKILL", when(root));
      const { stdout } = await run(process.execPath, [commandLine, "read", names[0] ?? "", "--root", root], {
        cwd: root,
      });
      const state = stateOf(root);
      ok(state === "old" || state === "new", state);
      match(stdout, state === "old" ? /old/ : /new/);
      equal(
        fs
          .readdirSync(root)
          .filter((name) => name.startsWith(".filehand-"))
          .join(),
        "",
      );
    });
  }
});
