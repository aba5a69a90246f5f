/** What a child says to the one who kills it. Each word in one call, so that it is out or not. */

import { writeSync } from "node:fs";
import type { Lines, Word, Work } from "./killing.ts";

/** Waits until it may begin; a parent that is gone is none to work for. */
export async function theWord(): Promise<void> {
  for await (const _ of process.stdin) return;
  process.exit();
}

const say = (word: Word): void => void writeSync(1, `${JSON.stringify(word)}\n`);

export const begin = (word: Extract<Word, { readonly begins: Work }>): void => say(word);

export const did = (ended: Work, turn?: string): void => say({ ended, turn });

/** Told by its one line, whole or not, and of several sizes. */
export const linesOf = (id: string, n: number): Lines => ({ line: `${id} ${n}`, times: 1 + (n % 7) * 400 });
