/**
 * Changes behind our back, by a shell or a formatter: a look at the workspace before and one after, and what differs
 * goes into the history as if a tool had done it. Looking costs one stat of each file; only what changed is read.
 */

import * as nodePath from "node:path";
import type { WatchedChange } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import { FileCut, type Identity, isRacy, ReadFailed, released, wholeFile } from "../disk/disk.ts";
import {
  type Baseline,
  baselineOf,
  type Glance,
  type Keeping,
  markOf,
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

/** What a look found. */
export interface Observed {
  /** Changes that went into the history. */
  readonly observed: number;
  /** Real paths that changed and cannot be brought back: secrets, large files, what was not looked at before. */
  readonly notCovered: readonly string[];
  /** Was every folder looked at? Otherwise files were left out. */
  readonly complete: boolean;
}

export interface Observer {
  /** The first look finds nothing: there is none before it. */
  observe(context: ToolContext): Promise<Observed>;
}

const filesMax = 50_000;
/** Of one file, and of all together: contents are held in memory, so that a rewind has what was there. */
const storedFileBytesMax = 1_048_576;
const storedBytesMax = 52_428_800;

/** A file as it is; `bytes` only up to the limit. */
interface Now {
  readonly identity: Identity;
  readonly mode: number;
  readonly links: number;
  readonly bytes: Uint8Array | undefined;
}

export function createObserver(): Observer {
  let then: Picture | undefined;
  let storedBytes = 0;

  /** What is held of a file from now on. */
  const seenOf = (path: string, now: Now, { guard }: ToolContext): Seen => {
    const statKey = statKeyOf(now.identity);
    const { bytes, mode } = now;
    if (bytes === undefined || guard.isSecret(path) || storedBytes + bytes.length > storedBytesMax) {
      return { statKey, stored: undefined };
    }
    storedBytes += bytes.length;
    return { statKey: isRacy(now.identity) ? undefined : statKey, stored: { bytes, mode } };
  };

  const look = async (context: ToolContext): Promise<Observed> => {
    const history = await context.past();
    if (history === undefined) throw new Problem({ code: "NO_TURN", asked: "observe", reason: "no history" });
    const tracked = history.tracked();
    const { statKeys, complete, rules } = await walkWorkspace(filesMax, context);
    // Also those that the walk leaves out by now: what was looked at once is looked at again.
    for (const path of [...tracked.keys(), ...(then?.files.keys() ?? [])]) {
      const statKey = statKeys.has(path) ? undefined : statKeyAt(path, context);
      if (statKey !== undefined) statKeys.set(path, statKey);
    }
    const now: Glance = { statKeys, tracked, complete, rules };
    const files = new Map(then?.files);
    const before = then;
    const notCovered: string[] = [];
    const fromOutside: WatchedChange[] = [];
    let observed = 0;
    // What the history knows already comes first, in case not all can be held.
    const touched =
      before === undefined ? [...new Set([...tracked.keys(), ...statKeys.keys()])] : touchedPaths(before, now);
    for (const path of touched) {
      context.signal.throwIfAborted();
      // Of what is denied by now neither the content is held nor the name told.
      if (context.guard.denied("read", [path], "file") !== undefined) continue;
      const file = await fileAt(path, context);
      if (before !== undefined) {
        const came = await record(path, baselineOf(path, before, now), file, history, context);
        if (came === "recorded") observed += 1;
        if (came === "not covered") notCovered.push(path);
        const did = file === "absent" ? "deleted" : before.files.has(path) ? "changed" : "created";
        if (came !== "same") fromOutside.push({ path, did });
      }
      storedBytes -= files.get(path)?.stored?.bytes.length ?? 0;
      if (file === "absent") files.delete(path);
      else if (file === "elsewhere") files.set(path, outOfSight);
      else files.set(path, seenOf(path, file, context));
    }
    // What the session itself wrote down meanwhile is known as of now.
    then = { files, tracked: history.tracked(), complete, rules };
    if (fromOutside.length > 0) (await context.languages?.())?.watchedFilesChanged(fromOutside);
    return { observed, notCovered, complete };
  };

  return { observe: (context) => orUnreadable("observe", () => look(context)) };
}

/** `elsewhere`: there is something, but no file under this very name that we may look at. */
async function fileAt(path: string, context: ToolContext): Promise<Now | "absent" | "elsewhere"> {
  const file = atPath(path, context, (node) => context.disk.open(node));
  if (file === undefined) {
    const lookup = released(context.disk.lookup(path));
    return lookup.seen === "missing" ? "absent" : "elsewhere";
  }
  if ("errno" in file) return "elsewhere";
  using _file = file;
  try {
    const { identity, mode, links } = file;
    return { identity, mode, links, bytes: await wholeFile(file, storedFileBytesMax) };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut) return "elsewhere";
    throw error;
  }
}

type Came = "recorded" | "same" | "not covered";

async function record(
  path: string,
  baseline: Baseline,
  file: Now | "absent" | "elsewhere",
  history: SessionHistory,
  context: ToolContext,
): Promise<Came> {
  if (file === "elsewhere") return "not covered";
  if (baseline.was === "ours" && file !== "absent" && baseline.version.mark === markOf(file.identity)) return "same";
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
  if (baseline.was === "held") return baseline.stored;
  if (baseline.was !== "ours") return baseline.was;
  const { content, mode, notKept } = baseline.version;
  if (content === undefined || mode === undefined || notKept !== undefined) return "unknown";
  const opened = await history.open(content);
  if (typeof opened === "string") return "unknown";
  using kept = opened;
  const bytes = await wholeFile(kept, storedFileBytesMax);
  return bytes === undefined ? "unknown" : { bytes, mode };
}
