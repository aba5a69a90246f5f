/**
 * Transcripts that agent programs keep in the home folder, which are only read, and a scratch folder in the system's folder for
 * temporary files, in which `filehand replay` rebuilds the files of a conversation.
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";

/** A file to read, or a session of opencode, which has a folder of small files. */
export type Transcript =
  | { readonly is: "file"; readonly path: string; readonly sizeBytes: number; readonly named: boolean }
  | {
      readonly is: "parts";
      readonly path: string;
      readonly sizeBytes: number;
      readonly files: () => readonly string[];
    };

export type FoundTranscripts = readonly Transcript[] | { readonly why: string };

/** Files below a named folder, and folders in folders. */
const filesMax = 200_000;
const depthMax = 12; // a project folder of a client has two or three levels

/**
 * The transcripts at a path. In a folder, those whose names end in `.jsonl`, `.json` or `.db`, without following symlinks; or why there
 * are none, as words to follow `Cannot read "x": `.
 */
export function findTranscripts(path: string): FoundTranscripts {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { why: "it does not exist, name a transcript or a folder with transcripts" };
  if (stat.isFile()) return [{ is: "file", path, sizeBytes: stat.size, named: true }];
  if (!stat.isDirectory())
    return { why: "it is no file and no folder, name a transcript or a folder with transcripts" };
  const found: Transcript[] = [];
  const walk = (folder: string, depth: number): void => {
    if (depth > depthMax || found.length >= filesMax) return;
    const entries = entriesOf(folder);
    const isStorage = ["message", "part"].every((name) =>
      entries.some((entry) => entry.isDirectory() && entry.name === name),
    );
    if (isStorage) return void found.push(...sessionsIn(folder));
    for (const entry of entries) {
      const inner = nodePath.join(folder, entry.name);
      if (entry.isDirectory()) walk(inner, depth + 1);
      else if (entry.isFile() && /\.(?:jsonl|json|db)$/.test(entry.name) && found.length < filesMax) {
        found.push({ is: "file", path: inner, sizeBytes: fs.statSync(inner).size, named: false });
      }
    }
  };
  walk(path, 0);
  return found;
}

/** An unreadable folder is like an empty one. */
function entriesOf(folder: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** The sessions of opencode's storage folder: `session/<project>/<id>.json`, `message/<id>/*.json`, `part/<message>/*.json`. */
function sessionsIn(storage: string): readonly Transcript[] {
  const json = (folder: string): readonly string[] =>
    entriesOf(folder).flatMap((entry) =>
      entry.isFile() && entry.name.endsWith(".json") ? [nodePath.join(folder, entry.name)] : [],
    );
  return entriesOf(nodePath.join(storage, "session")).flatMap((project) =>
    json(nodePath.join(storage, "session", project.name)).map((path): Transcript => {
      const id = nodePath.basename(path, ".json");
      const files = (): readonly string[] => [
        path,
        ...json(nodePath.join(storage, "message", id)).flatMap((message) =>
          json(nodePath.join(storage, "part", nodePath.basename(message, ".json"))),
        ),
      ];
      return { is: "parts", path, sizeBytes: 0, files };
    }),
  );
}

/** Local: fits a worker's message and one read of a disk. */
const chunkBytes = 262_144;

export async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = await fs.promises.open(path, "r");
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** All bytes of a small file; undefined if it is larger or cannot be read. */
export function smallFile(path: string, bytesMax: number): Buffer | undefined {
  try {
    return fs.statSync(path).size > bytesMax ? undefined : fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

// Databases of opencode, for versions of Node that have SQLite (22.13 and later).

interface Sqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly readOnly: boolean },
  ) => {
    prepare(sql: string): { iterate(): Iterable<Readonly<Record<string, unknown>>> };
    close(): void;
  };
}

/** `opencode.db` as JSON texts: each session, followed by its parts. A copy is opened: SQLite writes files beside what it opens. */
export function* rowsOfDatabase(
  path: string,
  scratch: Scratch,
): Generator<string, { readonly why: string } | undefined> {
  const modules: { getBuiltinModule?(name: string): unknown } = process; // since Node 22.3
  const sqlite = modules.getBuiltinModule?.("node:sqlite") as Sqlite | undefined; // as Node documents it
  if (sqlite === undefined) {
    return {
      why: `it is a SQLite database, which Node ${process.versions.node} cannot open: use Node 22.13 or later, or name the output of "opencode export"`,
    };
  }
  const copy = nodePath.join(scratch.folder, "opencode.db");
  fs.copyFileSync(path, copy);
  if (fs.existsSync(`${path}-wal`)) fs.copyFileSync(`${path}-wal`, `${copy}-wal`);
  try {
    const database = new sqlite.DatabaseSync(copy, { readOnly: false });
    try {
      const parts = database.prepare(
        "select s.id as session, s.directory as directory, p.data as data from part p join session s on s.id = p.session_id order by s.time_created, s.id, p.id",
      );
      let session: unknown;
      for (const row of parts.iterate()) {
        if (row["session"] !== session) {
          session = row["session"];
          yield JSON.stringify({ id: session, directory: row["directory"] });
        }
        if (typeof row["data"] === "string") yield row["data"];
      }
    } finally {
      database.close();
    }
  } catch {
    return { why: "it is a SQLite database, but none of opencode, name a transcript" };
  } finally {
    for (const end of ["", "-wal", "-shm"]) fs.rmSync(`${copy}${end}`, { force: true });
  }
  return undefined;
}

// Scratch folders.

export type Scratch = ReturnType<typeof openScratch>;

/** Undefined also where a part of the path is a file. */
function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** A new folder with the files of a replay. Paths are relative to it and MUST NOT lead out of it: callers make them. */
export function openScratch() {
  const folder = fs.mkdtempSync(nodePath.join(fs.realpathSync(tmpdir()), "filehand-replay-"));
  const place = (relative: string): string => nodePath.join(folder, relative);
  return {
    folder,
    /** Makes a folder inside. A file in its way is removed. */
    make(relative: string): string {
      let path = folder;
      for (const name of relative.split("/").filter((part) => part !== "")) {
        path = nodePath.join(path, name);
        const stat = statOf(path);
        if (stat?.isDirectory() === true) continue;
        if (stat !== undefined) fs.rmSync(path, { force: true });
        fs.mkdirSync(path);
      }
      return path;
    },
    /** Makes the file this text; null removes it, with all that is below if it is a folder. */
    put(relative: string, text: string | null): void {
      const path = place(relative);
      const stat = statOf(path);
      if (stat !== undefined && (text === null || !stat.isFile())) fs.rmSync(path, { recursive: true, force: true });
      if (text === null) return;
      this.make(nodePath.posix.dirname(relative));
      fs.writeFileSync(path, text);
    },
    /** Null where there is no file. */
    text(relative: string): string | null {
      try {
        return fs.readFileSync(place(relative), "utf8");
      } catch {
        return null;
      }
    },
    /** Removes all that is in a folder, and not the folder itself, which a server may have open. */
    empty(relative: string): void {
      for (const name of fs.readdirSync(this.make(relative))) {
        fs.rmSync(place(nodePath.join(relative, name)), { recursive: true, force: true, maxRetries: 3 });
      }
    },
    remove(): void {
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
