/**
 * What named conversations have read, kept in the state folder for the process that goes on with them. A file for each
 * conversation, written shortly after a change and when the toolkit closes. What is lost in a crash, or cannot be written, costs
 * the model another read and nothing else.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, makeFolders, noFollow } from "../disk/disk.ts";

export interface ReadStates {
  /** What was kept under this name; undefined if nothing was, or nothing that can be read. Whoever uses it checks its shape. */
  find(name: string): unknown;
  /** Keeps what `state` says under this name from now on. Call the result after each change. */
  follow(name: string, state: () => object): () => void;
  /** Writes what is not written yet. */
  flush(): void;
}

/** Conversations that are kept; the oldest go first. Bytes of one that are read. */
const namesMax = 500;
const bytesMax = 16_777_216;
/** How long a change waits for others. */
const delayMs = 250;
const version = 1;

export function createReadStates(stateDir: string): ReadStates {
  const folder = nodePath.join(stateDir, "read-states");
  /** States with changes that are not written. */
  const waiting = new Map<string, () => object>();
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [name, state] of waiting) save(folder, name, state());
    waiting.clear();
  };
  return {
    find(name) {
      if (waiting.has(name)) flush();
      return load(folder, name);
    },
    follow: (name, state) => () => {
      waiting.set(name, state);
      timer ??= setTimeout(flush, delayMs).unref();
    },
    flush,
  };
}

/** Names are what hosts call their conversations: anything. */
const fileOf = (folder: string, name: string): string =>
  nodePath.join(folder, `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.json`);

function load(folder: string, name: string): unknown {
  try {
    using file = new Descriptor(fs.openSync(fileOf(folder, name), fs.constants.O_RDONLY | noFollow));
    const stat = fs.fstatSync(file.fd);
    if (!stat.isFile() || stat.size > bytesMax) return undefined;
    const kept = JSON.parse(fs.readFileSync(file.fd, "utf8")) as Partial<Record<"version" | "name" | "files", unknown>>;
    return kept.version === version && kept.name === name ? kept.files : undefined;
  } catch {
    return undefined; // there is none, or it is damaged
  }
}

/** Never throws: a full or read-only state folder is not worth a failed call. Readers see the old state or the new one. */
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
