/** How processes of one user find running inspectors: each has a private file in the state folder with its address. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { Descriptor, lifeOf, makeFolders, processIdentity, type Watching } from "../../disk/disk.ts";
import { contains } from "../../contract/common.ts";
import { type InspectorPlace, reportProtocol } from "../../contract/event.ts";

/** The name is older than the word inspector; processes of both versions must agree on it. */
const folderName = "lookouts";
/** An address, a key and the roots of the workspaces fit easily; a larger file is not ours. */
const fileBytesMax = 65_536;
/** Few inspectors run at once; a crowded folder must not slow down every call that reports. */
const filesMax = 64;
/** Systems limit a socket's address to 104 bytes or a little more. */
const addressBytesMax = 100;

export interface RegistryFile {
  /** A socket, or a pipe on Windows. */
  readonly address: string;
  /** Makes the inspector visible to others. Throws if the state folder is not writable. */
  announce(text: string): void;
  remove(): void;
}

/** Process-wide by nature: the files of all inspectors of this process need different names. It has no other effect. */
let registered = 0;

/** Throws if the folder cannot be created or is open to other users. */
export function registerInspector(stateDir: string): RegistryFile {
  const folder = nodePath.join(stateDir, folderName);
  makeFolders(folder, 0o700);
  if (!isOwn(folder)) throw new Error(`"${folder}" can be entered by others, run chmod 700 on it`);
  sweep(folder);
  registered += 1;
  const name = `${processIdentity()}.${registered}`;
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
  const scratch = fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-")); // created with mode 700
  return { address: nodePath.join(scratch, "lookout"), scratch };
}

/** The files of other running processes, by name. Never throws; without a folder it costs one system call. */
function readInspectors(stateDir: string): ReadonlyMap<string, string> {
  const folder = nodePath.join(stateDir, folderName);
  const found = new Map<string, string>();
  try {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(".json"));
    if (names.length === 0 || !isOwn(folder)) return found;
    const own = processIdentity();
    for (const name of names.slice(0, filesMax)) {
      const owner = ownerIn(name);
      if (owner === own || lifeOf(owner) !== "alive") continue;
      const text = readRegistryFile(nodePath.join(folder, name));
      if (text !== undefined) found.set(name, text);
    }
  } catch {
    // No inspector has registered yet.
  }
  return found;
}

/** Calls back when an inspector may have come or gone; undefined where the folder cannot be watched. Creates the folder. */
export function watchInspectors(stateDir: string, listener: () => void): Watching | undefined {
  try {
    const folder = nodePath.join(stateDir, folderName);
    makeFolders(folder, 0o700);
    const watcher = fs.watch(folder, { persistent: false }, listener);
    watcher.on("error", () => watcher.close());
    return { stop: () => watcher.close() };
  } catch {
    return undefined; // the state folder cannot be created, or the system has no more watches
  }
}

const ownerIn = (name: string): string => name.slice(0, name.indexOf("."));

function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (lifeOf(ownerIn(name)) === "dead") fs.rmSync(nodePath.join(folder, name), { force: true });
  }
}

function isOwn(folder: string): boolean {
  const stat = fs.lstatSync(folder);
  if (process.geteuid === undefined) return stat.isDirectory();
  return stat.isDirectory() && stat.uid === process.geteuid() && (stat.mode & 0o077) === 0;
}

function readRegistryFile(path: string): string | undefined {
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

export interface RegisteredInspector {
  readonly name: string;
  readonly place: InspectorPlace;
  readonly workspace: string;
}

export function inspectorsFor(stateDir: string, roots: readonly string[]): readonly RegisteredInspector[] {
  return [...readInspectors(stateDir)].flatMap(([name, text]) => {
    const place = placeIn(text);
    const found = place?.workspaces.find((workspace) => containsAll(workspace.roots, roots));
    return place === undefined || found === undefined ? [] : [{ name, place, workspace: found.name }];
  });
}

export const containsAll = (folders: readonly string[], roots: readonly string[]): boolean =>
  roots.length > 0 && roots.every((root) => folders.some((folder) => contains(folder, root)));

export const overlap = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.some((other) => contains(one, other) || contains(other, one)));

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
