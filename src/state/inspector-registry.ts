/** Inspectors of other processes, for surfaces: how to be found, and how to find. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { Descriptor, lifeOf, makeFolders, processIdentity, type Watching } from "../disk/disk.ts";
import { type InspectorPlace, reportProtocol } from "../contract/event.ts";

// How processes of one user find the inspectors that listen: each has a file in the state folder that says where. The folder and
// its files are their owner's alone. A file whose process has ended counts for nothing, and goes when the next one comes.

const folderName = "lookouts";
const fileBytesMax = 65_536;
const filesMax = 64;
/** What the systems have room for in the address of a socket is 104 bytes or a little more. */
const addressBytesMax = 100;

export interface RegistryFile {
  /** For a socket, or for a pipe on Windows. */
  readonly address: string;
  /** From here on it is found. Throws where the state folder cannot be written. */
  announce(text: string): void;
  remove(): void;
}

let made = 0;

/** Throws where the folder cannot be made, or is not ours alone. */
export function registerInspector(stateDir: string): RegistryFile {
  const folder = nodePath.join(stateDir, folderName);
  makeFolders(folder, 0o700);
  if (!isOwn(folder)) throw new Error(`"${folder}" can be entered by others, run chmod 700 on it`);
  sweep(folder);
  made += 1;
  const name = `${processIdentity()}.${made}`;
  const path = nodePath.join(folder, `${name}.json`);
  const { address, scratch } = addressFor(nodePath.join(folder, `${name}.sock`));
  return {
    address,
    announce(text) {
      const temporary = `${path}.tmp`;
      fs.writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
      fs.renameSync(temporary, path);
    },
    remove() {
      fs.rmSync(path, { force: true });
      if (scratch !== undefined) fs.rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function addressFor(path: string): { readonly address: string; readonly scratch?: string } {
  if (process.platform === "win32") return { address: `\\\\.\\pipe\\filehand-${randomBytes(16).toString("hex")}` };
  if (Buffer.byteLength(path) <= addressBytesMax) return { address: path };
  const scratch = fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-")); // its owner's alone, by its nature
  return { address: nodePath.join(scratch, "lookout"), scratch };
}

/** What the files of other processes say that run. Never throws; where there is no folder it costs one look. */
function readInspectors(stateDir: string): ReadonlyMap<string, string> {
  const folder = nodePath.join(stateDir, folderName);
  const found = new Map<string, string>();
  try {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(".json"));
    if (names.length === 0 || !isOwn(folder)) return found;
    const own = processIdentity();
    for (const name of names.slice(0, filesMax)) {
      const mark = markIn(name);
      if (mark === own || lifeOf(mark) !== "alive") continue;
      const text = textOf(nodePath.join(folder, name));
      if (text !== undefined) found.set(name, text);
    }
  } catch {
    // None yet.
  }
  return found;
}

/** Tells when one may have come or gone; undefined where that cannot be watched. Makes the folder. */
export function watchInspectors(stateDir: string, listener: () => void): Watching | undefined {
  try {
    const folder = nodePath.join(stateDir, folderName);
    makeFolders(folder, 0o700);
    const watcher = fs.watch(folder, { persistent: false }, listener);
    watcher.on("error", () => watcher.close());
    return { stop: () => watcher.close() };
  } catch {
    return undefined; // no state folder can be made, or the system has no more watches to give
  }
}

const markIn = (name: string): string => name.slice(0, name.indexOf("."));

function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (lifeOf(markIn(name)) === "dead") fs.rmSync(nodePath.join(folder, name), { force: true });
  }
}

/** A real folder that nobody else can look into. */
function isOwn(folder: string): boolean {
  const stat = fs.lstatSync(folder);
  if (process.geteuid === undefined) return stat.isDirectory();
  return stat.isDirectory() && stat.uid === process.geteuid() && (stat.mode & 0o077) === 0;
}

function textOf(path: string): string | undefined {
  try {
    const flags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);
    using file = new Descriptor(fs.openSync(path, flags));
    const stat = fs.fstatSync(file.fd);
    if (!stat.isFile() || stat.size > fileBytesMax) return undefined;
    if (process.geteuid !== undefined && stat.uid !== process.geteuid()) return undefined;
    return fs.readFileSync(file.fd, "utf8");
  } catch {
    return undefined; // gone meanwhile
  }
}

/** One that listens, and which of its workspaces holds the roots that were asked about. */
export interface RegisteredInspector {
  readonly name: string;
  readonly place: InspectorPlace;
  readonly workspace: string;
}

/** Those that watch all of these roots. What a file says is looked at field by field. */
export function inspectorsFor(stateDir: string, roots: readonly string[]): readonly RegisteredInspector[] {
  return [...readInspectors(stateDir)].flatMap(([name, text]) => {
    const place = placeIn(text);
    const found = place?.workspaces.find((workspace) => holdsAll(workspace.roots, roots));
    return place === undefined || found === undefined ? [] : [{ name, place, workspace: found.name }];
  });
}

/** Do all of these lie in one of those folders, or are they such a folder? */
export const holdsAll = (folders: readonly string[], roots: readonly string[]): boolean =>
  roots.length > 0 && roots.every((root) => folders.some((folder) => holds(folder, root)));

function holds(folder: string, path: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}

function placeIn(text: string): InspectorPlace | undefined {
  let value: Partial<InspectorPlace> | null;
  try {
    value = JSON.parse(text) as Partial<InspectorPlace> | null; // every field is looked at below
  } catch {
    return undefined;
  }
  const { protocol, address, key, workspaces } = value ?? {};
  if (protocol !== reportProtocol || typeof address !== "string" || typeof key !== "string") return undefined;
  if (!Array.isArray(workspaces) || !workspaces.every(isWorkspace)) return undefined;
  return { protocol, address, key, workspaces };
}

const isWorkspace = (value: unknown): value is InspectorPlace["workspaces"][number] =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  typeof value.name === "string" &&
  "roots" in value &&
  Array.isArray(value.roots) &&
  value.roots.every((root) => typeof root === "string");
