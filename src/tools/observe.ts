/**
 * Changes behind our back, by a shell or a formatter: a look at the workspace before and one after, and what differs
 * goes into the history as if a tool had done it. Looking costs one stat of each file; only what changed is read.
 */

import * as nodePath from "node:path";
import type { WatchedChange } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import { type Identity, released } from "../disk/lookup/look.ts";
import { ReadFailed, wholeFile } from "../disk/lookup/open-file.ts";
import { isRacy } from "../disk/time-grain.ts";
import { FileCut } from "../disk/lines/scan.ts";
import type { Keeping } from "../history/keeping.ts";
import {
  type Baseline,
  baselineOf,
  type Glance,
  type Held,
  heldFile,
  type Picture,
  type Seen,
  outOfSight,
  touchedPaths,
} from "../history/observe.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { markOf } from "../history/versions.ts";
import { type Bench, orUnreadable } from "./tool.ts";
import { signOf } from "./stamp.ts";
import { atPath, signAt, walkWorkspace } from "./workspace-walk.ts";

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
  observe(bench: Bench): Promise<Observed>;
}

const filesMax = 50_000;
/** Of one file, and of all together: contents are held in memory, so that a rewind has what was there. */
const heldFileBytesMax = 1_048_576;
const heldBytesMax = 52_428_800;

/** A file as it is; `bytes` only up to the limit. */
interface Now {
  readonly identity: Identity;
  readonly mode: number;
  readonly links: number;
  readonly bytes: Uint8Array | undefined;
}

export function createObserver(): Observer {
  let then: Picture | undefined;
  let heldBytes = 0;

  /** What is held of a file from now on. */
  const seenOf = (path: string, now: Now, { guard }: Bench): Seen => {
    const sign = signOf(now.identity);
    const { bytes, mode } = now;
    if (bytes === undefined || guard.isSecret(path) || heldBytes + bytes.length > heldBytesMax) {
      return { sign, held: undefined };
    }
    heldBytes += bytes.length;
    return { sign: isRacy(now.identity) ? undefined : sign, held: { bytes, mode } };
  };

  const look = async (bench: Bench): Promise<Observed> => {
    const history = await bench.past();
    if (history === undefined) throw new Problem({ code: "NO_TURN", asked: "observe", reason: "no history" });
    const tracked = history.tracked();
    const { signs, complete, rules } = await walkWorkspace(filesMax, bench);
    // Also those that the walk leaves out by now: what was looked at once is looked at again.
    for (const path of [...tracked.keys(), ...(then?.files.keys() ?? [])]) {
      const sign = signs.has(path) ? undefined : signAt(path, bench);
      if (sign !== undefined) signs.set(path, sign);
    }
    const now: Glance = { signs, tracked, complete, rules };
    const files = new Map(then?.files);
    const before = then;
    const notCovered: string[] = [];
    const fromOutside: WatchedChange[] = [];
    let observed = 0;
    // What the history knows already comes first, in case not all can be held.
    const touched =
      before === undefined ? [...new Set([...tracked.keys(), ...signs.keys()])] : touchedPaths(before, now);
    for (const path of touched) {
      bench.signal.throwIfAborted();
      // Of what is denied by now neither the content is held nor the name told.
      if (bench.guard.denied("read", [path], "file") !== undefined) continue;
      const file = await fileAt(path, bench);
      if (before !== undefined) {
        const came = await record(path, baselineOf(path, before, now), file, history, bench);
        if (came === "recorded") observed += 1;
        if (came === "not covered") notCovered.push(path);
        const did = file === "absent" ? "deleted" : before.files.has(path) ? "changed" : "created";
        if (came !== "same") fromOutside.push({ path, did });
      }
      heldBytes -= files.get(path)?.held?.bytes.length ?? 0;
      if (file === "absent") files.delete(path);
      else if (file === "elsewhere") files.set(path, outOfSight);
      else files.set(path, seenOf(path, file, bench));
    }
    // What the session itself wrote down meanwhile is known as of now.
    then = { files, tracked: history.tracked(), complete, rules };
    if (fromOutside.length > 0) (await bench.languages?.())?.watchedFilesChanged(fromOutside);
    return { observed, notCovered, complete };
  };

  return { observe: (bench) => orUnreadable("observe", () => look(bench)) };
}

/** `elsewhere`: there is something, but no file under this very name that we may look at. */
async function fileAt(path: string, bench: Bench): Promise<Now | "absent" | "elsewhere"> {
  const file = atPath(path, bench, (found) => bench.disk.open(found));
  if (file === undefined) {
    const look = released(bench.disk.look(path));
    return look.seen === "missing" ? "absent" : "elsewhere";
  }
  if ("errno" in file) return "elsewhere";
  using _file = file;
  try {
    const { identity, mode, links } = file;
    return { identity, mode, links, bytes: await wholeFile(file, heldFileBytesMax) };
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
  bench: Bench,
): Promise<Came> {
  if (file === "elsewhere") return "not covered";
  if (baseline.was === "ours" && file !== "absent" && baseline.version.mark === markOf(file.identity)) return "same";
  const held = await heldOf(baseline, history);
  if (held === "unknown") return "not covered";
  if (held === "absent" && file === "absent") return "same";
  if (held !== "absent" && file !== "absent" && isSame(held, file)) return "same";
  const turn = await bench.turn();
  if (turn === undefined) return "not covered";
  const after: Keeping["after"] = file === "absent" ? "absent" : contentOf(file);
  const root = bench.disk.roots.find(({ real }) => path.startsWith(real + nodePath.sep));
  const kept = await history.keep({
    messageId: turn.messageId,
    tool: turn.tool,
    path,
    relative: root === undefined ? path : nodePath.relative(root.real, path),
    before: held === "absent" ? "absent" : { file: heldFile(held), bytes: held.bytes, will: "be written in place" },
    after,
  });
  if (file !== "absent") history.done(kept, file.identity, file.mode);
  return kept.failed === undefined ? "recorded" : "not covered";
}

const contentOf = ({ bytes, mode, links, identity }: Now): Keeping["after"] =>
  bytes === undefined ? { sizeBytes: identity.sizeBytes, mode, links } : { bytes, mode, links };

const isSame = (held: Held, { bytes, mode }: Now): boolean =>
  bytes !== undefined && held.mode === mode && Buffer.compare(held.bytes, bytes) === 0;

async function heldOf(baseline: Baseline, history: SessionHistory): Promise<Held | "absent" | "unknown"> {
  if (baseline.was === "held") return baseline.held;
  if (baseline.was !== "ours") return baseline.was;
  const { content, mode, notKept } = baseline.version;
  if (content === undefined || mode === undefined || notKept !== undefined) return "unknown";
  const opened = await history.open(content);
  if (typeof opened === "string") return "unknown";
  using kept = opened;
  const bytes = await wholeFile(kept, heldFileBytesMax);
  return bytes === undefined ? "unknown" : { bytes, mode };
}
