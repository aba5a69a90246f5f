/** Holds the lock of a file as another process would, so that work on it stops there for as long as a test wants. */

import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { onTestFinished } from "vitest";
import { createLocks } from "../../src/disk/lock/lock.ts";

/** Answers when the lock is held; what it answers with lets go. */
export async function holding(file: string): Promise<() => Promise<void>> {
  const { dev: device, ino: inode } = fs.statSync(dirname(file), { bigint: true });
  let letGo: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const locks = createLocks({ folder: undefined });
  let over: Promise<void> | undefined;
  await new Promise<void>((held, failed) => {
    over = locks.exclusively(
      [{ folder: { device, inode }, name: basename(file) }],
      new AbortController().signal,
      () => {
        held();
        return until;
      },
    );
    over.catch(failed);
  });
  const release = async (): Promise<void> => {
    letGo();
    await over;
  };
  onTestFinished(release);
  return release;
}
