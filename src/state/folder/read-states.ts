/** Read ledgers of named conversations, for a later process. One lost in a crash costs the model another read. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { isRecord } from "../../contract/common.ts";
import { Descriptor, makeFolders, noFollow } from "../../disk/disk.ts";

import type { SavedSession, SessionStore } from "../ports.ts";
import { exclusivelyIn } from "./exclusive.ts";

export interface ReadStates {
  /** The state stored under this name; undefined if there is none or it is unreadable. The caller validates its shape. */
  find(name: string): unknown;
  /** Returns a function to call after each change, which stores what `state` returns under this name. */
  follow(name: string, state: () => object): () => void;
  flush(): void;
}

/** Conversations stored; the oldest are removed first. */
const namesMax = 500;
/** A larger file is not read: a ledger of thousands of files stays far below. */
const bytesMax = 16_777_216;
/** A change waits so long for others, to be written with them. */
const delayMs = 250;
const version = 1;

export function createReadStates(stateDir: string): ReadStates {
  const folder = nodePath.join(stateDir, "read-states");
  const unwritten = new Map<string, () => object>();
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [name, state] of unwritten) {
      try {
        save(folder, name, { files: state() });
      } catch {
        // A full or read-only state folder is not worth a failed call.
      }
    }
    unwritten.clear();
  };
  return {
    find(name) {
      if (unwritten.has(name)) flush();
      return load(folder, name)?.files;
    },
    follow: (name, state) => () => {
      unwritten.set(name, state);
      timer ??= setTimeout(flush, delayMs).unref();
    },
    flush,
  };
}

/** Hashed, because hosts name their conversations freely. */
const fileOf = (folder: string, name: string): string =>
  nodePath.join(folder, `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.json`);

interface StoredState {
  readonly files: unknown;
  /** Of a session that came from a database, or goes there. */
  readonly saves?: number | undefined;
  readonly mode?: string | undefined;
  readonly rules?: readonly string[] | undefined;
}

function load(folder: string, name: string): StoredState | undefined {
  try {
    using file = new Descriptor(fs.openSync(fileOf(folder, name), fs.constants.O_RDONLY | noFollow));
    const stat = fs.fstatSync(file.fd);
    if (!stat.isFile() || stat.size > bytesMax) return undefined;
    const stored = JSON.parse(fs.readFileSync(file.fd, "utf8")) as Partial<
      Record<"version" | "name" | keyof StoredState, unknown>
    >;
    if (stored.version !== version || stored.name !== name) return undefined;
    const { files, saves, mode, rules } = stored;
    return {
      files,
      saves: typeof saves === "number" ? saves : undefined,
      mode: typeof mode === "string" ? mode : undefined,
      rules: Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : undefined,
    };
  } catch {
    return undefined; // missing or damaged
  }
}

/** Readers see the old or the new state. */
function save(folder: string, name: string, state: StoredState): void {
  const path = fileOf(folder, name);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFolders(folder, 0o700);
    const isNew = !fs.existsSync(path);
    fs.writeFileSync(temporary, JSON.stringify({ version, name, ...state }), { mode: 0o600 });
    fs.renameSync(temporary, path);
    if (isNew) prune(folder);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

function prune(folder: string): void {
  const names = fs.readdirSync(folder);
  if (names.length <= namesMax) return;
  const aged = names.map((name) => {
    const path = nodePath.join(folder, name);
    return { path, ms: fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  aged.sort((a, b) => a.ms - b.ms);
  for (const { path } of aged.slice(0, names.length - namesMax)) fs.rmSync(path, { force: true });
}

/** The same files behind the port of sessions, for `filehand state export`. */
export function openFolderSessions(stateDir: string, lockFolder?: string): SessionStore {
  const folder = nodePath.join(stateDir, "read-states");
  const exclusively = exclusivelyIn(folder, lockFolder);
  const filesIn = (files: unknown): Readonly<Record<string, unknown>> => (isRecord(files) ? files : {});
  return {
    async load(session, since): Promise<SavedSession | undefined> {
      const stored = load(folder, session);
      const saves = stored?.saves ?? 1;
      if (stored === undefined || saves <= since) return undefined;
      const files = new Map(Object.entries(filesIn(stored.files)));
      const savedMs = fs.statSync(fileOf(folder, session), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return { version: saves, savedMs, mode: stored.mode, rules: stored.rules ?? [], files };
    },
    save: (session, { mode, rules, files }, since) =>
      exclusively(session, async () => {
        const stored = load(folder, session);
        const saves = stored === undefined ? 0 : (stored.saves ?? 1);
        if (saves !== since) return "conflict";
        const all = new Map(Object.entries(filesIn(stored?.files)));
        for (const [path, entry] of files) {
          if (entry === null) all.delete(path);
          else all.set(path, entry);
        }
        save(folder, session, { files: Object.fromEntries(all), saves: saves + 1, mode, rules });
        return saves + 1;
      }),
    forget: async (session) => fs.rmSync(fileOf(folder, session), { force: true }),
  };
}
