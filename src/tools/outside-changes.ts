/**
 * Files that the session was shown and that somebody else changed or deleted since, each change reported once. Looks only at the
 * files that were shown last, and reads only those whose stat key differs from the one that the ledger has.
 */

import { isUtf8 } from "node:buffer";
import type { ForeignChange } from "../contract/call.ts";
import type { LineSpan } from "../contract/problem.ts";
import { FileTruncated, ReadFailed } from "../disk/disk.ts";
import { fingerprintOf, isHashed, statKeyOf } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";

/** The files that were shown last. */
const filesMax = 8;
/** Stat keys in memory. */
const reportedMax = 1_000;
/** New lines that a notice shows: it has three lines in all. */
const linesMax = 2;
/** A longer line is not shown: a notice is short. */
const lineCharsMax = 200;

type Context = Pick<ToolContext, "disk" | "guard" | "ledger">;

export function createOutsideChanges() {
  /** By path, the stat key of the change that was reported last; "" for a file that is gone. */
  const reported = new Map<string, string>();
  const report = (path: string, statKey: string): void => {
    reported.delete(path);
    reported.set(path, statKey);
    if (reported.size > reportedMax) reported.delete(reported.keys().next().value ?? "");
  };

  /** What became of one file, and its stat key; undefined if it is as it was shown, or if that was reported. */
  const lookAt = async (path: string, isNamed: boolean, { disk, guard, ledger }: Context) => {
    const lookup = disk.lookup(path);
    if (lookup.seen !== "node") {
      if (lookup.seen !== "missing" || reported.get(path) === "") return undefined;
      return { statKey: "", change: { path, did: "deleted" } as const };
    }
    using handle = lookup.handle;
    const statKey = statKeyOf(handle.identity);
    if (ledger.isLikely(path, statKey) || reported.get(path) === statKey || lookup.kind !== "file") return undefined;
    if (isNamed || guard.denied("read", [path], "file") !== undefined) return { statKey, change: undefined };
    const opened = disk.open(lookup);
    if ("errno" in opened) return undefined;
    using file = opened;
    const fingerprint = fingerprintOf(file);
    // A large file that was only touched would have to be read again.
    if (!isHashed(file)) return { statKey, change: { path, did: "changed" } as const };
    const seen = await ledger.seen(path, fingerprint, async () => undefined);
    if (seen.state === "changed") return { statKey, change: { path, did: "changed" } as const };
    if (seen.state === "never" || seen.since === undefined) return { statKey, change: undefined };
    const { changed } = seen.since;
    const lines = changed.filter(({ from, to }) => from <= to).map(({ from, to }) => ({ from, to }));
    const removed = changed.reduce((sum, one) => sum + one.removed, 0);
    const now = linesIn(await fingerprint.content(), lines);
    return { statKey, change: { path, did: "changed", lines, removed, ...(now && { now }) } as const };
  };

  return {
    /** `named` are real paths that the answer itself is about: what happened to them is not reported again. */
    async look(
      named: ReadonlySet<string>,
      context: Context,
      isAlone: () => boolean,
    ): Promise<readonly ForeignChange[]> {
      const changes: ForeignChange[] = [];
      const before = context.ledger.changes;
      const keys = new Map<string, string>();
      for (const path of context.ledger.recent(filesMax)) {
        const found = await orNothing(() => lookAt(path, named.has(path), context));
        if (found === undefined) continue;
        keys.set(path, found.statKey);
        if (found.change !== undefined && !named.has(path)) changes.push(found.change);
      }
      // Another call of the session may have changed a file meanwhile: the next answer looks again.
      if (!isAlone() || context.ledger.changes !== before) return [];
      for (const [path, statKey] of keys) report(path, statKey);
      return changes;
    },
  };
}

async function orNothing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return undefined;
    throw error;
  }
}

/** The text of a few short lines; undefined if there are more, or longer ones. */
function linesIn(content: Uint8Array | undefined, spans: readonly LineSpan[]): ForeignChange["now"] {
  const count = spans.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (content === undefined || count === 0 || count > linesMax || !isUtf8(content)) return undefined;
  const texts = Buffer.from(content.buffer, content.byteOffset, content.length).toString("utf8").split("\n");
  const lines = spans.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, step) => ({
      line: from + step,
      text: (texts[from + step - 1] ?? "").replace(/\r$/, ""),
    })),
  );
  return lines.every(({ text }) => text.length <= lineCharsMax) ? lines : undefined;
}
