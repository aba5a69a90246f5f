/**
 * What became of the calls of a remote workspace, in the state folder beside its files. If the connection is lost, the bridge comes
 * back with the same id, and the next server reports from here which calls were made, so that none is made twice.
 */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { makeFolders } from "../../disk/disk.ts";

/** `not applied`: the call ended before it changed anything. `unknown`: the server was killed during the call. */
export type Receipt =
  | { readonly id: string | number; readonly state: "answered"; readonly answer: string }
  | { readonly id: string | number; readonly state: "not applied" | "unknown" };

export interface Receipts {
  /** The calls of earlier servers of this bridge that changed something, or were about to. */
  readonly earlier: readonly Receipt[];
  /** Before a call that may change something. Throws if it cannot be written, since the call could then be made twice. */
  begin(id: string | number): void;
  /** After it, with the whole message; undefined for a call that was cancelled. */
  end(id: string | number, answer: string | undefined): void;
  /** At the end of the server: waits for running calls. One that does not end stays one of which nothing is known. */
  close(): Promise<void>;
}

/** One line of the file. */
type Entry =
  | { readonly run: string; readonly pid: number }
  | { readonly begun: string | number }
  | { readonly ended: string | number; readonly answer?: string }
  | { readonly over: string };

/** Characters of all answers that are reported; those of older calls have reached the client long ago. */
const answerCharsMax = 16_777_216;
const receiptsMax = 256; // far more than a client has running at once
/** A bridge that has not come back by then does not come back. */
const keptMs = 86_400_000;
/** How long the server waits for calls that were cancelled: a change that is being written is finished. */
const closeMsMax = 10_000;
/** How long an earlier server may take to end: its running calls have 10 s, and those that were cancelled 10 s more. */
const endMsMax = 25_000;
const pollMs = 200; // the end of an earlier server is seen this late

/** Ends the earlier server of this bridge, if its connection has not noticed yet that it is lost. `onReplaced`: a later one does so to us. */
export async function openReceipts(stateDir: string, bridge: string, onReplaced: () => void): Promise<Receipts> {
  const folder = nodePath.join(stateDir, "bridges");
  makeFolders(folder, 0o700);
  removeOld(folder);
  const path = nodePath.join(folder, `${bridge}.jsonl`);
  const run = `${process.pid}-${Date.now()}`;
  const owner = nodePath.join(folder, `${bridge}.owner`);
  const earlierEntries = await afterEarlierServer(path, () => fs.writeFileSync(owner, run, { mode: 0o600 }));

  const fd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT, 0o600);
  const write = (entry: Entry): void => {
    fs.writeSync(fd, `${JSON.stringify(entry)}\n`);
    fs.fdatasyncSync(fd);
  };
  write({ run, pid: process.pid });
  const timer = setInterval(() => {
    if (ownerOf(owner) === run) return;
    clearInterval(timer);
    onReplaced();
  }, pollMs);
  timer.unref();
  const running = new Set<string | number>();
  return {
    earlier: receiptsIn(earlierEntries),
    begin: (id) => {
      write({ begun: id });
      running.add(id);
    },
    end: (id, answer) => {
      try {
        write(answer === undefined ? { ended: id } : { ended: id, answer });
        running.delete(id);
      } catch {
        // A full disk: the call stays one of which nothing is known.
      }
    },
    close: async () => {
      clearInterval(timer);
      const until = Date.now() + closeMsMax;
      while (running.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
      try {
        if (running.size === 0) write({ over: run });
      } catch {
        // The same.
      }
      fs.closeSync(fd);
    },
  };
}

/** Waits until the earlier server is over, or is no longer there. */
async function afterEarlierServer(path: string, replace: () => void): Promise<readonly Entry[]> {
  replace();
  const until = Date.now() + endMsMax;
  for (;;) {
    const entries = entriesOf(path);
    const last = entries.findLast((entry) => "run" in entry || "over" in entry);
    if (last === undefined || "over" in last || !("run" in last) || !isAlive(last.pid) || Date.now() > until) {
      return entries;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function receiptsIn(entries: readonly Entry[]): readonly Receipt[] {
  const receipts = new Map<string | number, Receipt>();
  const begun = new Set<string | number>();
  const settle = (state: "not applied" | "unknown"): void => {
    for (const id of begun) receipts.set(id, { id, state });
    begun.clear();
  };
  for (const entry of entries) {
    if ("begun" in entry) begun.add(entry.begun);
    else if ("over" in entry) settle("not applied");
    else if ("run" in entry) settle("unknown");
    else {
      const { ended: id, answer } = entry;
      begun.delete(id);
      receipts.set(id, answer === undefined ? { id, state: "not applied" } : { id, state: "answered", answer });
    }
  }
  settle("unknown"); // of a server that was killed
  let chars = 0;
  return [...receipts.values()]
    .slice(-receiptsMax)
    .toReversed()
    .filter((receipt) => (chars += receipt.state === "answered" ? receipt.answer.length : 0) <= answerCharsMax);
}

function entriesOf(path: string): readonly Entry[] {
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch {
    return []; // the first server of this bridge
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry]; // a file that only this program writes
    } catch {
      return []; // cut short by a crash
    }
  });
}

function ownerOf(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Another process with the same number only makes the next server wait. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // Node's own errors have a code
  }
}

function removeOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const path = nodePath.join(folder, name);
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > keptMs) fs.rmSync(path, { force: true });
  }
}
