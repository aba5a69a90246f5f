/** Read ledgers of named conversations, for a later process. One lost in a crash costs the model another read. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, makeFolders, noFollow } from "../../disk/disk.ts";

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
    for (const [name, state] of unwritten) save(folder, name, state());
    unwritten.clear();
  };
  return {
    find(name) {
      if (unwritten.has(name)) flush();
      return load(folder, name);
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

function load(folder: string, name: string): unknown {
  try {
    using file = new Descriptor(fs.openSync(fileOf(folder, name), fs.constants.O_RDONLY | noFollow));
    const stat = fs.fstatSync(file.fd);
    if (!stat.isFile() || stat.size > bytesMax) return undefined;
    const stored = JSON.parse(fs.readFileSync(file.fd, "utf8")) as Partial<
      Record<"version" | "name" | "files", unknown>
    >;
    return stored.version === version && stored.name === name ? stored.files : undefined;
  } catch {
    return undefined; // missing or damaged
  }
}

/** Never throws: a full or read-only state folder is not worth a failed call. Readers see the old or the new state. */
function save(folder: string, name: string, files: object): void {
  const path = fileOf(folder, name);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFolders(folder, 0o700);
    const isNew = !fs.existsSync(path);
    fs.writeFileSync(temporary, JSON.stringify({ version, name, files }), { mode: 0o600 });
    fs.renameSync(temporary, path);
    if (isNew) prune(folder);
  } catch {
    fs.rmSync(temporary, { force: true });
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
