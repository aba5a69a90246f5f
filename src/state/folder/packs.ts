/**
 * Small contents, first stored together: each process appends to a pack of its own, which costs a tenth of creating a
 * file, and less still on a busy file system. A collection later gives each needed content a file and removes the pack.
 * Only its maker appends to a pack, and a pack is collected only after its maker has ended or released it; so a process
 * relies only on its own pack and on files, never on a pack that may be removed.
 *
 * An entry is a newline, `<sha256> <b|r> <length>`, a newline, and that many bytes: compressed or raw.
 */

import { randomBytes } from "node:crypto";
import { lifeOf, processIdentity, type StoreFolder } from "../../disk/disk.ts";

export interface PackEntry {
  readonly content: string;
  readonly compressed: boolean;
  readonly pack: string;
  readonly from: number;
  readonly bytes: number;
}

export type Packs = ReturnType<typeof openPacks>;

/** A larger pack is released for collection, and the process begins another. */
const packBytesMax = 8_388_608;
const headerShape = /^\n([0-9a-f]{64}) ([br]) (\d{8})\n$/u;
const headerBytes = 77;
/** After this long a pack of another machine counts as finished, since its process cannot be checked. */
const dayMs = 86_400_000;

interface Scan {
  readonly inode: bigint;
  readonly to: number;
  readonly entries: ReadonlyMap<string, PackEntry>;
}

interface Window {
  readonly pack: string;
  /** Of the pack when it was scanned: if it was written to since, it is scanned again. */
  readonly mtimeNs: bigint;
  readonly from: number;
  readonly bytes: Buffer;
}

const windowBytes = 65_536;

export function openPacks(folder: StoreFolder) {
  const scans = new Map<string, Scan>();
  const own = new Map<string, PackEntry>();
  let name: string | undefined;
  /** The bytes last read and those after them: contents of one turn are adjacent, and entries never change. */
  let window: Window | undefined;

  /** Scans a pack; of one scanned before, only what was added. */
  const scan = (pack: string): ReadonlyMap<string, PackEntry> => {
    const before = scans.get(pack);
    const stored = folder.look(`packs/${pack}`);
    if (window?.pack === pack && window.mtimeNs !== stored?.mtimeNs) window = undefined;
    if (stored === undefined) return new Map();
    const isSame = before?.inode === stored.inode && before.to <= stored.sizeBytes;
    if (isSame && before.to === stored.sizeBytes) return before.entries;
    const start = isSame ? before.to : 0;
    const entries = new Map(isSame ? before.entries : []);
    const to = scanFrom(folder, pack, start, entries);
    scans.set(pack, { inode: stored.inode, to, entries });
    return entries;
  };

  const putAside = (): void => {
    if (name !== undefined) folder.rename(`packs/${name}`, `packs/full-${randomBytes(8).toString("hex")}`);
    name = undefined;
    own.clear();
  };

  const all = (): readonly string[] => folder.list("packs");

  return {
    put(content: string, payload: Uint8Array, compressed: boolean): void {
      name ??= `${processIdentity()}-${randomBytes(6).toString("hex")}`;
      const header = `\n${content} ${compressed ? "b" : "r"} ${String(payload.length).padStart(8, "0")}\n`;
      const pack = name;
      let end: number;
      try {
        end = folder.append(`packs/${pack}`, Buffer.concat([Buffer.from(header, "latin1"), payload]));
      } catch (error) {
        name = undefined; // nothing after half an entry would be found
        own.clear();
        throw error;
      }
      const from = end - payload.length;
      if (from === headerBytes) own.clear(); // another process removed the pack
      own.set(content, { content, compressed, pack, from, bytes: payload.length });
      if (end > packBytesMax) putAside();
    },
    /** Whether it is in this process's own pack, which stays while it is used. */
    isOwn(content: string): boolean {
      const entry = own.get(content);
      return entry !== undefined && (folder.look(`packs/${entry.pack}`)?.sizeBytes ?? 0) >= entry.from + entry.bytes;
    },
    /** In every pack that has it, or only in those already scanned. */
    *find(content: string, which: "all" | "known" = "all"): IterableIterator<PackEntry> {
      // A pack that had it a moment ago most likely still has it; only otherwise are all packs listed.
      const known = [...scans].filter(([, { entries }]) => entries.has(content)).map(([pack]) => pack);
      const others = function* (): Iterable<string> {
        for (const pack of all()) if (!known.includes(pack)) yield pack;
      };
      for (const packs of which === "known" ? [known] : [known, others()]) {
        for (const pack of packs) {
          const entry = scan(pack).get(content);
          if (entry !== undefined) yield entry;
        }
      }
    },
    read({ pack, from, bytes }: PackEntry): Buffer | undefined {
      if (window?.pack !== pack || from < window.from || from + bytes > window.from + window.bytes.length) {
        window = windowOf(folder, pack, from, Math.max(bytes, windowBytes));
      }
      const at = from - (window?.from ?? 0);
      const payload = window?.bytes.subarray(at, at + bytes);
      return payload === undefined || payload.length < bytes ? undefined : Buffer.from(payload);
    },
    /** The entry is faulty and no longer counts as stored. */
    forget(content: string): void {
      own.delete(content);
      window = undefined;
    },
    *entries(): Iterable<PackEntry> {
      for (const pack of all()) yield* scan(pack).values();
    },
    /** Packs that may be taken apart: no process appends to them, and none has for `graceMs`. */
    finished(graceMs: number): readonly string[] {
      if (graceMs === 0) putAside();
      return all().filter((pack) => {
        const ageMs = Date.now() - (folder.look(`packs/${pack}`)?.ctimeMs ?? 0);
        if (ageMs < graceMs) return false;
        if (pack.startsWith("full-")) return true;
        const life = lifeOf(pack.slice(0, pack.lastIndexOf("-")));
        return life === "dead" || (life === "elsewhere" && ageMs > dayMs);
      });
    },
    remove(pack: string): void {
      scans.delete(pack);
      folder.remove(`packs/${pack}`);
    },
  };
}

function windowOf(folder: StoreFolder, pack: string, from: number, length: number): Window | undefined {
  using file = folder.open(`packs/${pack}`);
  if (file === undefined) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  return { pack, mtimeNs: file.mtimeNs, from, bytes: bytes.subarray(0, file.read(bytes, from)) };
}

/** Adds the entries from an offset on; returns the end of the last whole entry. Reads many small entries at once. */
function scanFrom(folder: StoreFolder, pack: string, start: number, into: Map<string, PackEntry>): number {
  using file = folder.open(`packs/${pack}`);
  if (file === undefined) return start;
  const buffer = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(headerBytes, file.sizeBytes - start)));
  let [at, from, got] = [start, start, 0];
  for (;;) {
    if (at + headerBytes > from + got) {
      from = at;
      got = file.read(buffer, at);
    }
    const header = buffer.toString("latin1", at - from, Math.min(at - from + headerBytes, got));
    const [, content = "", method, length] = headerShape.exec(header) ?? [];
    const end = at + headerBytes + Number(length);
    if (length === undefined || end > file.sizeBytes) return at;
    const compressed = method === "b";
    into.set(content, { content, compressed, pack, from: at + headerBytes, bytes: Number(length) });
    at = end;
  }
}
