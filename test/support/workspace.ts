/** Temporary trees for tests, made from a literal and removed when the test file is done. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll } from "vitest";

/** A folder by its entries. `{ link }` and `{ fifo: true }` alone are a link and a FIFO, so no folder can be just that. */
export interface Tree {
  readonly [name: string]: Node;
}

type Node = string | Uint8Array | Tree | { readonly link: string | Buffer } | { readonly fifo: true };

export interface Workspace {
  /** The folder that holds the tree, its links resolved. */
  readonly top: string;
  /** An absolute path below it. */
  readonly path: (...names: readonly string[]) => string;
}

const made: string[] = [];

afterAll(() => {
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** In memory, where the system has such a place: names change and files sync ten times as fast as on a disk. */
export const inMemory = (): string => {
  try {
    fs.accessSync("/dev/shm", fs.constants.W_OK);
    return "/dev/shm";
  } catch {
    return os.tmpdir();
  }
};

export function workspace(tree: Tree, place: string = os.tmpdir()): Workspace {
  const top = fs.mkdtempSync(path.join(fs.realpathSync(place), "filehand-test-"));
  made.push(top);
  plant(top, tree);
  return { top, path: (...names) => [top, ...names].join("/") };
}

/** Puts a tree into a folder that exists. */
export function plant(folder: string, tree: Tree): void {
  for (const [name, node] of Object.entries(tree)) {
    const place = `${folder}/${name}`;
    if (typeof node === "string" || node instanceof Uint8Array) fs.writeFileSync(place, node);
    else if (isLink(node)) fs.symlinkSync(node.link, place);
    else if (isFifo(node)) execFileSync("mkfifo", [place]);
    else {
      fs.mkdirSync(place);
      plant(place, node);
    }
  }
}

const isOnly = (node: object, key: string): boolean => Object.keys(node).join("/") === key;
const isLink = (node: object): node is { readonly link: string | Buffer } =>
  isOnly(node, "link") && "link" in node && (typeof node.link === "string" || Buffer.isBuffer(node.link));
const isFifo = (node: object): node is { readonly fifo: true } =>
  isOnly(node, "fifo") && "fifo" in node && node.fifo === true;

/** Why FIFOs cannot be made here; undefined if they can. */
export const noFifo: string | undefined = (() => {
  if (process.platform === "win32") return "Windows has no FIFOs in folders";
  try {
    execFileSync("mkfifo", ["--help"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    // The mkfifo of macOS knows no --help, but it is there.
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "there is no mkfifo" : undefined;
  }
})();

/** Why nothing can be tried on `/sys`; undefined if it can. In some containers it is an ordinary, empty folder. */
export const noSys: string | undefined = (() => {
  const sysfs = 0x62656572;
  try {
    return fs.statfsSync("/sys").type === sysfs ? undefined : "sysfs is not mounted on /sys";
  } catch {
    return "there is no /sys";
  }
})();

/** Why git cannot be asked; undefined if it can. `npm test` installs it where it may. */
export const noGit: string | undefined = (() => {
  try {
    execFileSync("git", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no git";
  }
})();

export const onLinux: boolean = process.platform === "linux";
export const onWindows: boolean = process.platform === "win32";

/** Descriptors this process has open; undefined where the system does not tell. */
export function openDescriptors(): number | undefined {
  return onLinux ? fs.readdirSync("/proc/self/fd").length : undefined;
}

/** The same after changes: old files are closed by another thread, and nobody waits for that. `before` is what it should come to. */
export async function openAtLast(before: number | undefined): Promise<number | undefined> {
  for (let looks = 1; looks <= 1_000 && openDescriptors() !== before; looks += 1) await setTimeout(2);
  return openDescriptors();
}
