/**
 * Finds changes that other programs made, such as a shell or a formatter: scans the workspace before and after, and records
 * the differences in the history as if a tool had made them. A scan costs one stat per file; only changed files are read.
 */

import * as nodePath from "node:path";
import type { WatchedChange } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import { FileTruncated, type Identity, isRacy, ReadFailed, withHandleClosed, wholeFile } from "../disk/disk.ts";
import {
  type Baseline,
  baselineOf,
  type Glance,
  type Keeping,
  inodeFingerprint,
  outOfSight,
  type Picture,
  type Seen,
  type SessionHistory,
  type StoredContent,
  storedFile,
  touchedPaths,
} from "../history/history.ts";
import { type ToolContext, orUnreadable } from "./tool.ts";
import { statKeyOf } from "./fingerprint.ts";
import { atPath, statKeyAt, walkWorkspace } from "./workspace-walk.ts";

export interface Observed {
  readonly observed: number;
  /** Real paths that changed and cannot be restored: secrets, large files, files that no earlier scan covered. */
  readonly notCovered: readonly string[];
  readonly complete: boolean;
}

export interface Observer {
  /** The first scan finds nothing, as there is none before it to compare with. */
  observe(context: ToolContext): Promise<Observed>;
}

/** Files that one scan covers: each costs a stat, and an entry in memory until the next scan. */
const filesMax = 50_000;
/** Old contents stay in memory between scans, so that a rewind can restore them: at most so much of one file. */
const storedFileBytesMax = 1_048_576;
/** The same for all files together. */
const storedBytesMax = 52_428_800;

/** A file as it is now; `bytes` only up to the limit. */
interface Now {
  readonly identity: Identity;
  readonly mode: number;
  readonly links: number;
  readonly bytes: Uint8Array | undefined;
}

export function createObserver(): Observer {
  let lastScan: Picture | undefined;
  let storedBytes = 0;

  /** What stays in memory of a file until the next scan. */
  const seenOf = (path: string, now: Now, { guard }: ToolContext): Seen => {
    const statKey = statKeyOf(now.identity);
    const { bytes, mode } = now;
    if (bytes === undefined || guard.isSecret(path) || storedBytes + bytes.length > storedBytesMax) {
      return { statKey, stored: undefined };
    }
    storedBytes += bytes.length;
    return { statKey: isRacy(now.identity) ? undefined : statKey, stored: { bytes, mode } };
  };

  const scan = async (context: ToolContext): Promise<Observed> => {
    const history = await context.past();
    if (history === undefined) throw new Problem({ code: "NO_TURN", asked: "observe", reason: "no history" });
    const tracked = history.tracked();
    const { statKeys, complete, rules } = await walkWorkspace(filesMax, context);
    // A file that an earlier scan covered is covered again, also if the walk now leaves it out.
    for (const path of [...tracked.keys(), ...(lastScan?.files.keys() ?? [])]) {
      const statKey = statKeys.has(path) ? undefined : statKeyAt(path, context);
      if (statKey !== undefined) statKeys.set(path, statKey);
    }
    const now: Glance = { statKeys, tracked, complete, rules };
    const files = new Map(lastScan?.files);
    const before = lastScan;
    const notCovered: string[] = [];
    const fromOutside: WatchedChange[] = [];
    let observed = 0;
    // Files that the history knows come first, in case not all contents fit into memory.
    const touched =
      before === undefined ? [...new Set([...tracked.keys(), ...statKeys.keys()])] : touchedPaths(before, now);
    for (const path of touched) {
      context.signal.throwIfAborted();
      // A file that is denied by now is neither kept in memory nor listed.
      if (context.guard.denied("read", [path], "file") !== undefined) continue;
      const file = await fileAt(path, context);
      if (before !== undefined) {
        const result = await record(path, baselineOf(path, before, now), file, history, context);
        if (result === "recorded") observed += 1;
        if (result === "not covered") notCovered.push(path);
        const did = file === "absent" ? "deleted" : before.files.has(path) ? "changed" : "created";
        if (result !== "same") fromOutside.push({ path, did });
      }
      storedBytes -= files.get(path)?.stored?.bytes.length ?? 0;
      if (file === "absent") files.delete(path);
      else if (file === "elsewhere") files.set(path, outOfSight);
      else files.set(path, seenOf(path, file, context));
    }
    // `tracked` is read again: the session may have recorded changes of its own meanwhile.
    lastScan = { files, tracked: history.tracked(), complete, rules };
    if (fromOutside.length > 0) (await context.languages?.())?.watchedFilesChanged(fromOutside);
    return { observed, notCovered, complete };
  };

  return { observe: (context) => orUnreadable("observe", () => scan(context)) };
}

/** `elsewhere`: the path leads to something that is not a readable file of exactly this name. */
async function fileAt(path: string, context: ToolContext): Promise<Now | "absent" | "elsewhere"> {
  const file = atPath(path, context, (node) => context.disk.open(node));
  if (file === undefined) {
    const lookup = withHandleClosed(context.disk.lookup(path));
    return lookup.seen === "missing" ? "absent" : "elsewhere";
  }
  if ("errno" in file) return "elsewhere";
  using _file = file;
  try {
    const { identity, mode, links } = file;
    return { identity, mode, links, bytes: await wholeFile(file, storedFileBytesMax) };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return "elsewhere";
    throw error;
  }
}

async function record(
  path: string,
  baseline: Baseline,
  file: Now | "absent" | "elsewhere",
  history: SessionHistory,
  context: ToolContext,
): Promise<"recorded" | "same" | "not covered"> {
  if (file === "elsewhere") return "not covered";
  if (baseline.was === "ours" && file !== "absent" && baseline.version.mark === inodeFingerprint(file.identity))
    return "same";
  const stored = await storedOf(baseline, history);
  if (stored === "unknown") return "not covered";
  if (stored === "absent" && file === "absent") return "same";
  if (stored !== "absent" && file !== "absent" && isSame(stored, file)) return "same";
  const turn = await context.turn();
  if (turn === undefined) return "not covered";
  const after: Keeping["after"] = file === "absent" ? "absent" : contentOf(file);
  const root = context.disk.roots.find(({ real }) => path.startsWith(real + nodePath.sep));
  const kept = await history.keep({
    messageId: turn.messageId,
    tool: turn.tool,
    path,
    relative: root === undefined ? path : nodePath.relative(root.real, path),
    before:
      stored === "absent" ? "absent" : { file: storedFile(stored), bytes: stored.bytes, will: "be written in place" },
    after,
  });
  if (file !== "absent") history.done(kept, file.identity, file.mode);
  return kept.failed === undefined ? "recorded" : "not covered";
}

const contentOf = ({ bytes, mode, links, identity }: Now): Keeping["after"] =>
  bytes === undefined ? { sizeBytes: identity.sizeBytes, mode, links } : { bytes, mode, links };

const isSame = (stored: StoredContent, { bytes, mode }: Now): boolean =>
  bytes !== undefined && stored.mode === mode && Buffer.compare(stored.bytes, bytes) === 0;

async function storedOf(baseline: Baseline, history: SessionHistory): Promise<StoredContent | "absent" | "unknown"> {
  if (baseline.was === "stored") return baseline.stored;
  if (baseline.was !== "ours") return baseline.was;
  const { content, mode, notKept } = baseline.version;
  if (content === undefined || mode === undefined || notKept !== undefined) return "unknown";
  const opened = await history.open(content);
  if (typeof opened === "string") return "unknown";
  using kept = opened;
  const bytes = await wholeFile(kept, storedFileBytesMax);
  return bytes === undefined ? "unknown" : { bytes, mode };
}
