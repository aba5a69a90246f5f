/**
 * Writes the call log: files in the state folder to which all processes append, a new one each day and when one is full. A batch
 * is one write with O_APPEND, which systems do not mix with another process's; checksums show where one did. Nothing waits for the
 * log: records are buffered, written in the background, and dropped where they cannot be written.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { errnoName, makeFolders, noFollow, processIdentity } from "../../disk/disk.ts";
import type { Question } from "../../contract/ask.ts";
import type { CallLogLimits, LoggedCall, LogOrigin, LogRecord } from "../../contract/call-log.ts";
import { contains, dropOldest } from "../../contract/common.ts";
import type { CallChange, CallEvent } from "../../contract/event.ts";
import { limits } from "../../contract/limits.ts";
import { encodeBatch } from "./call-log-format.ts";

export type SessionOrigin = Pick<LogOrigin, "session" | "sessionMs" | "principal" | "client">;

export interface CallLog {
  /** `absolute`: the path as the caller named it, if it named one. Returns at once. */
  readonly call: (event: CallEvent, absolute: string | null, sessionMs: number) => void;
  /** A call waits for the answer to this question. Returns the functions that end that. */
  question(question: Question, from: SessionOrigin): OpenQuestion;
  /** Resolves when all records so far are written, or dropped. Never rejects. */
  flush(): Promise<void>;
}

export interface OpenQuestion {
  answered(): void;
  /** The call ended without the answer, and will be repeated with it until then. */
  left(untilMs: number): void;
}

export interface CallLogOptions extends CallLogLimits {
  readonly stateDir: string;
  readonly roots: readonly string[];
  /** May the log have this name? Asked for calls that failed or changed files: others were permitted to name it. */
  readonly mayName: (path: string) => boolean;
  readonly nowMs?: () => number;
}

type Pending = readonly [event: CallEvent, absolute: string | null, sessionMs: number] | Exclude<LogRecord, LoggedCall>;

/** How long nothing is written after a failed write: a full disk is not tried again with every call. */
const backOffMs = 30_000;
/** Names whose permission is remembered. */
const namesMax = 1_000;
/** Questions whose calls have left; no person answers more at once. */
const leftMax = 200;
/** A host may have many roots, and each record lists them. */
const rootsMax = 16;
/** A model names sessions and principals through its host. */
const nameCharsMax = 256;

export function createCallLog(options: CallLogOptions): CallLog {
  const { stateDir, mayName, nowMs = Date.now } = options;
  const files = logFiles(stateDir, options, nowMs);
  const roots = options.roots.slice(0, rootsMax);
  const { pid } = process;
  /** Tells apart the toolkits of one process. */
  const own = randomBytes(4).toString("hex");
  const names = new Map<string, boolean>();
  /** Ids of questions whose calls will be repeated with the answer, by what they ask. */
  const left = new Map<string, string>();
  let pending: Pending[] = [];
  let lost = 0;
  let questions = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let failedMs = Number.NEGATIVE_INFINITY;

  const isNamed = (path: string): boolean => {
    const known = names.get(path);
    if (known !== undefined) return known;
    const may = mayName(path);
    names.set(path, may);
    dropOldest(names, namesMax);
    return may;
  };
  const put = (one: Pending): void => {
    if (pending.length >= limits.callLogPendingMax) return void (lost += 1);
    pending.push(one);
    if (pending.length >= limits.callLogBatchMax) write();
    else timer ??= setTimeout(write, limits.callLogBatchMs).unref();
  };
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (pending.length > 0) timer ??= setTimeout(write, limits.callLogBatchMs).unref();
    });
  };
  const writeAll = async (): Promise<void> => {
    while (pending.length > 0 || lost > 0) {
      const some = pending.splice(0, limits.callLogBatchMax);
      if (nowMs() - failedMs < backOffMs) {
        lost += some.length;
        if (pending.length === 0) return;
        continue;
      }
      const counted = lost;
      const gap: LogRecord[] = counted === 0 ? [] : [{ type: "gap", pid, count: counted, timeMs: nowMs() }];
      try {
        const records = some.map((one) => ("type" in one ? one : loggedCall(one, { roots, pid, isNamed })));
        await files.append(encodeBatch([...gap, ...records]));
        lost -= counted;
      } catch {
        // A full or read-only state folder is not worth a failed call.
        lost += some.length;
        failedMs = nowMs();
      }
    }
  };

  return {
    call: (event, absolute, sessionMs) => put([event, absolute, sessionMs]),
    question({ permission, patterns: [path = null] }, { session, sessionMs, principal, client }) {
      const key = `${session}\n${permission}\n${path}`;
      const earlier = left.get(key);
      if (earlier === undefined) questions += 1;
      const [id, timeMs] = [earlier ?? `${processIdentity()}.${own}.${questions}`, nowMs()];
      const hidden = path !== null && permission !== "external_directory" && !isNamed(path);
      const about = { permission, path: hidden ? null : path, hidden, timeMs };
      const origin = { roots, pid, session: cut(session), sessionMs, principal: principal && cut(principal), client };
      const record = (untilMs: number | null): Pending => ({ type: "question", id, ...origin, ...about, untilMs });
      put(record(null));
      return {
        answered() {
          left.delete(key);
          // A question that is answered before it is written needs no record.
          const before = pending.length;
          pending = pending.filter((one) => !("type" in one && one.type === "question" && one.id === id));
          if (pending.length === before || earlier !== undefined) put({ type: "answer", pid, id, timeMs: nowMs() });
        },
        left: (untilMs) => {
          left.set(key, id);
          dropOldest(left, leftMax);
          const at = pending.findIndex((one) => "type" in one && one.type === "question" && one.id === id);
          if (at >= 0) pending[at] = record(untilMs);
          else put(record(untilMs));
        },
      };
    },
    async flush() {
      do {
        write();
        await writing;
      } while (pending.length > 0);
    },
  };
}

const cut = (name: string): string => (name.length <= nameCharsMax ? name : `${name.slice(0, nameCharsMax)}…`);

interface About {
  readonly roots: readonly string[];
  readonly pid: number;
  readonly isNamed: (path: string) => boolean;
}

function loggedCall(
  [event, absolute, sessionMs]: Exclude<Pending, LogRecord>,
  { roots, pid, isNamed }: About,
): LoggedCall {
  const { real, outcome } = event;
  const path = real ?? absolute;
  // A success without changes was permitted to read what it names.
  const isPermitted = outcome === "ok" && event.changesTotal === 0;
  const hidesPath = path !== null && !isPermitted && ![path, absolute ?? path].every(isNamed);
  const some = event.changes.slice(0, limits.callLogChangesMax).map((change) => loggedChange(change, roots));
  const changes = some.filter((change) => [change.path, change.movedFrom ?? change.path].every(isNamed));
  return {
    type: "call",
    roots,
    pid,
    session: cut(event.session),
    sessionMs,
    principal: event.principal === null ? null : cut(event.principal),
    client: event.client,
    dialect: event.dialect,
    tool: event.verb === null ? null : event.tool,
    verb: event.verb,
    path: hidesPath ? null : path,
    hidden: hidesPath || changes.length < some.length,
    outcome,
    reason: event.reason,
    range: event.range,
    startedMs: Math.round(event.startedMs),
    elapsedMs: Math.round(event.elapsedMs * 10) / 10,
    tokensGiven: event.tokensGiven,
    tokensSaved: Math.round(event.tokensSaved),
    changes,
    changesTotal: event.changesTotal,
    dryRun: event.dryRun,
    turn: event.turn,
  };
}

function loggedChange(
  { path, did, movedFrom, additions, deletions }: CallChange,
  roots: readonly string[],
): LoggedCall["changes"][number] {
  const root = roots.find((one) => contains(one, path)) ?? roots[0] ?? "";
  return { path, did, movedFrom: movedFrom === null ? null : nodePath.resolve(root, movedFrom), additions, deletions };
}

// The files: `<day>.<number>.jsonl`, so that their names sort by age and all processes choose the same one.

export const logFolder = (stateDir: string): string => nodePath.join(stateDir, "calls");

const namePattern = /^(\d{4}-\d{2}-\d{2})\.(\d{4,9})\.jsonl$/;

/** Oldest first. Other files are not ours. */
export const logNames = (names: readonly string[]): readonly string[] =>
  names.filter((name) => namePattern.test(name)).toSorted((a, b) => orderOf(a).localeCompare(orderOf(b), "en"));

/** The number may need more than four digits. */
const orderOf = (name: string): string =>
  name.replace(/\.(\d+)\./, (_, number: string) => `.${number.padStart(9, "0")}.`);

const nameOf = (day: string, number: number): string => `${day}.${String(number).padStart(4, "0")}.jsonl`;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, "2000-01-01".length);

const { O_APPEND, O_CREAT, O_WRONLY } = fs.constants;
/** Windows has none. */
const O_NONBLOCK = (fs.constants as Partial<typeof fs.constants>).O_NONBLOCK ?? 0;

function logFiles(
  stateDir: string,
  { bytesMax = limits.callLogBytesMax, ageMsMax = limits.callLogAgeMsMax }: CallLogLimits,
  nowMs: () => number,
) {
  const folder = logFolder(stateDir);
  const fileBytesMax = Math.min(limits.callLogFileBytesMax, Math.ceil(bytesMax / 8));
  let [day, number] = ["", 0];

  const open = (): Promise<fs.promises.FileHandle> =>
    fs.promises.open(
      nodePath.join(folder, nameOf(day, number)),
      O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK | noFollow,
      0o600,
    );
  /** The newest file of the day; other processes may have begun others. */
  const chooseFile = async (): Promise<void> => {
    const today = dayOf(nowMs());
    if (day === today) return;
    makeFolders(folder, 0o700);
    const names = logNames(await fs.promises.readdir(folder)).filter((name) => name.startsWith(today));
    day = today;
    number = Math.max(1, ...names.map((name) => Number(namePattern.exec(name)?.[2])));
  };
  /** Removes files that are too old, and the oldest until the rest has room for one more. */
  const prune = async (): Promise<void> => {
    const names = logNames(await fs.promises.readdir(folder));
    const oldest = dayOf(nowMs() - ageMsMax);
    const current = nameOf(day, number);
    let bytes = fileBytesMax;
    for (const name of names.toReversed()) {
      if (name === current) continue;
      const path = nodePath.join(folder, name);
      bytes += (await fs.promises.stat(path).catch(() => undefined))?.size ?? 0;
      if (bytes > bytesMax || name < oldest) await fs.promises.rm(path, { force: true });
    }
  };

  return {
    async append(bytes: Buffer): Promise<void> {
      for (;;) {
        await chooseFile();
        const file = await open().catch((error: unknown) => {
          if (errnoName(error) !== "ENOENT" || !fs.existsSync(stateDir)) throw error;
        });
        if (file === undefined) {
          // The folder was removed. Choosing a file makes it again.
          day = "";
          continue;
        }
        let size: number;
        try {
          const stat = await file.stat();
          if (!stat.isFile()) throw new Error("not a file");
          size = stat.size;
          if (size < fileBytesMax) {
            const { bytesWritten } = await file.write(bytes);
            if (bytesWritten < bytes.length) throw new Error("the disk is full");
          }
        } finally {
          await file.close();
        }
        if (size === 0) await prune();
        if (size < fileBytesMax) return;
        number += 1;
      }
    },
  };
}
