/**
 * What git has of a workspace: the contents of tracked files, which need no second copy. The repository is a stranger's: git
 * runs no hook, no file system monitor and no filter here, opens no connection, and writes nothing. A content is what git says
 * only if its bytes have the id that git gave it.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { attempt } from "./errno.ts";
import { programOnPath, whyNotStarted } from "./programs.ts";
import { readSmallFile } from "./store/small-file.ts";

/** A tracked file, with the stat that it had when git last compared it. */
export interface TrackedFile {
  /** In hex: sha1, or sha256 in a repository of that kind. */
  readonly id: string;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** The lower 32 bits, as git has it. */
  readonly inode: number;
}

export interface Tracked {
  /** By path relative to the folder, with slashes. Without symlinks, submodules and files in conflict. */
  readonly files: ReadonlyMap<string, TrackedFile>;
  /** When git last wrote its index: a file that changed later than this, or just before, has to be compared by content. */
  readonly indexMs: number;
  /**
   * A filter may have made the bytes of a file other than those in git, with the same size: never, for the pointers of git-lfs
   * only, which are small, or for any file.
   */
  readonly filters: "none" | "small" | "any";
}

/** Git's own pointers to large files are smaller. */
export const pointerBytesMax = 1_024;
/** A larger content of a tracked file is not read into memory. */
export const blobBytesMax = 134_217_728;
/** Of the text that lists tracked files: enough for four million. */
const listBytesMax = 1_073_741_824;
/** Of one file with attributes. */
const attributesBytesMax = 1_048_576;

const safeArguments = [
  "--no-pager",
  "--literal-pathspecs",
  ...["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false", "protocol.allow=never"].flatMap(
    (setting) => ["-c", setting],
  ),
];

export interface Git {
  tracked(signal: AbortSignal): Promise<Tracked | undefined>;
  /** The contents in the order of the ids; undefined for one that is missing, too large, or not what its id says. */
  contents(ids: readonly string[], signal: AbortSignal): AsyncIterable<Buffer | undefined>;
}

/** Undefined if the folder is in no checkout, or there is no git. */
export function openGit(folder: string, env: Readonly<Record<string, string | undefined>>): Git | undefined {
  if (checkoutOf(folder) === undefined) return undefined;
  const { platform } = process;
  const program = programOnPath("git", { path: env["PATH"], platform, runnable: true, notBeneath: [folder] });
  if (program === undefined || whyNotStarted() !== undefined) return undefined;
  const start = (args: readonly string[], signal: AbortSignal): ChildProcessWithoutNullStreams =>
    spawn(program, [...safeArguments, ...args], { cwd: folder, env: scrubbed(env), signal, windowsHide: true });
  return {
    tracked: async (signal) => {
      // One after the other: each is short, and a refused repository fails at the first.
      const index = await textOf(start(["rev-parse", "--git-path", "index", "--git-path", "info/attributes"], signal));
      const [indexFile = "", attributesFile = ""] = index?.split("\n") ?? [];
      if (indexFile === "") return undefined;
      const indexMs = attempt(() => fs.statSync(nodePath.resolve(folder, indexFile)).mtimeMs) ?? 0;
      const drivers = (await textOf(start(["config", "--get-regexp", "^filter\\."], signal))) ?? "";
      const all = await listed(start(["ls-files", "-s", "-z", "--debug"], signal));
      if (all === undefined) return undefined;
      // The line ends of a file may be other than those in git: then it has another size.
      const sizes = start(["cat-file", "--buffer", "--batch-check=%(objectsize)"], signal);
      const files = await ofSameSize(all, sizes);
      const attributes = [...all.keys()].filter((path) => path === gitattributes || path.endsWith(`/${gitattributes}`));
      const texts = [...attributes, attributesFile].map(
        (path) => attempt(() => readSmallFile(nodePath.resolve(folder, path), attributesBytesMax)) ?? "",
      );
      const isEncoded = texts.some((text) => text.includes("working-tree-encoding"));
      const names = new Set(drivers.split("\n").flatMap((line) => /^filter\.(.+)\.[a-z]+ /.exec(line)?.[1] ?? []));
      const isOther = isEncoded || [...names].some((name) => name !== "lfs");
      return { files, indexMs, filters: isOther ? "any" : names.size > 0 ? "small" : "none" };
    },
    contents: (ids, signal) => contentsOf(ids, () => start(["cat-file", "--batch"], signal)),
  };
}

const gitattributes = ".gitattributes";

/** The nearest folder above that has a `.git`. */
function checkoutOf(folder: string): string | undefined {
  if (fs.lstatSync(nodePath.join(folder, ".git"), { throwIfNoEntry: false }) !== undefined) return folder;
  const above = nodePath.dirname(folder);
  return above === folder ? undefined : checkoutOf(above);
}

function scrubbed(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("GIT_"));
  return {
    ...Object.fromEntries(own),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
}

/** What it prints; undefined if it fails or prints too much. */
async function textOf(child: ChildProcessWithoutNullStreams, input = ""): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const code = await new Promise<number | null>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > listBytesMax) child.kill();
      else chunks.push(chunk);
    });
    child.stderr.resume();
    child.on("error", () => resolve(null));
    child.on("close", resolve);
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
  return code === 0 ? Buffer.concat(chunks).toString("utf8") : undefined;
}

const entryShape =
  /(?<mode>[0-7]{6}) (?<id>[0-9a-f]{40,64}) (?<stage>\d)\t(?<path>[^\0]*)\0 {2}ctime: (?<c>\d+):(?<cn>\d+)\n {2}mtime: (?<m>\d+):(?<mn>\d+)\n {2}dev: \d+\tino: (?<ino>\d+)\n {2}uid: \d+\tgid: \d+\n {2}size: (?<size>\d+)\tflags: [0-9a-f]+\n/gy;

async function listed(child: ChildProcessWithoutNullStreams): Promise<ReadonlyMap<string, TrackedFile> | undefined> {
  const text = await textOf(child);
  if (text === undefined) return undefined;
  const files = new Map<string, TrackedFile>();
  entryShape.lastIndex = 0;
  for (let found = entryShape.exec(text); found !== null; found = entryShape.exec(text)) {
    const [, mode = "", id = "", stage, path = "", c, cn, m, mn, inode, size] = found;
    if (stage !== "0" || !mode.startsWith("100")) continue;
    const mtimeMs = Number(m) * 1_000 + Number(mn) / 1_000_000;
    const ctimeMs = Number(c) * 1_000 + Number(cn) / 1_000_000;
    files.set(path, { id, sizeBytes: Number(size), mtimeMs, ctimeMs, inode: Number(inode) });
  }
  return files;
}

async function ofSameSize(
  files: ReadonlyMap<string, TrackedFile>,
  child: ChildProcessWithoutNullStreams,
): Promise<ReadonlyMap<string, TrackedFile>> {
  const lines = (await textOf(child, [...files.values()].map(({ id }) => `${id}\n`).join("")))?.split("\n") ?? [];
  return new Map([...files].filter(([, { sizeBytes }], at) => Number(lines[at]) === sizeBytes));
}

async function* contentsOf(
  ids: readonly string[],
  start: () => ChildProcessWithoutNullStreams,
): AsyncGenerator<Buffer | undefined> {
  if (ids.length === 0) return;
  const child = start();
  const failed = new Promise<void>((resolve) => child.on("error", () => resolve()));
  child.stderr.resume();
  child.stdin.on("error", () => undefined);
  child.stdin.end(ids.map((id) => `${id}\n`).join(""));
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  /** False at the end. */
  const more = async (): Promise<boolean> => {
    const next = await Promise.race([chunks.next().catch(() => undefined), failed.then(() => undefined)]);
    if (next === undefined || next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  try {
    for (const id of ids) {
      let line = rest.indexOf(10);
      while (line < 0 && (await more())) line = rest.indexOf(10);
      if (line < 0) {
        yield undefined;
        continue;
      }
      const [, kind, length] = rest.toString("latin1", 0, line).split(" ");
      rest = rest.subarray(line + 1);
      if (kind === "missing" || length === undefined) {
        yield undefined;
        continue;
      }
      const bytes = await take(Number(length), { rest: () => rest, set: (left) => (rest = left), next: chunks });
      rest = rest.length === 0 && !(await more()) ? rest : rest.subarray(1);
      yield bytes !== undefined && kind === "blob" && idOf(bytes, id.length) === id ? bytes : undefined;
    }
  } finally {
    child.kill();
  }
}

interface Source {
  rest(): Buffer;
  set(left: Buffer): unknown;
  readonly next: AsyncIterator<Buffer>;
}

/** The next bytes; undefined if there are fewer or too many, and then they are passed over. */
async function take(length: number, source: Source): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let missing = length;
  for (let chunk = source.rest(); ; ) {
    const part = chunk.subarray(0, missing);
    if (length <= blobBytesMax) parts.push(part);
    missing -= part.length;
    source.set(chunk.subarray(part.length));
    if (missing === 0) break;
    const next = await source.next.next().catch(() => undefined);
    if (next === undefined || next.done === true) return undefined;
    chunk = next.value;
  }
  return length <= blobBytesMax ? Buffer.concat(parts) : undefined;
}

const idOf = (bytes: Buffer, chars: number): string =>
  createHash(chars === 40 ? "sha1" : "sha256")
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest("hex");
