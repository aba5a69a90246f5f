/**
 * Arguments for bubblewrap, which gives a command a view of the disk: only what is listed is there. Landlock cannot take away a file
 * below a folder that it allows, and listing all of its neighbours instead would forbid new files in that folder; a mount on top of
 * the file can. docs/decisions/2026-11-18-confinement.md
 */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { attempt } from "../disk/disk.ts";
import type { Rights } from "./rights.ts";

/** `hidden`: can be neither read nor written. `read-only`: cannot be written. */
export type Mask = "hidden" | "read-only";

export interface MaskedPath {
  readonly path: string;
  readonly mask: Mask;
  readonly is: "file" | "folder";
}

/** Local, since it is what bubblewrap mounts in a second: each is a mount. */
const masksMax = 2_000;
/** Local: a second or two of looking at names. */
const entriesMax = 500_000;

export type Masks =
  | { readonly masked: readonly MaskedPath[] }
  /** More than can be looked at, or mounted. */
  | { readonly tooMany: "names" | "masks" };

/** What the rules take away of the files that exist now. Follows no symlink: the target is what counts, and is judged itself. */
export function findMasks(roots: readonly string[], judge: (path: string) => Mask | undefined): Masks {
  const masked: MaskedPath[] = [];
  const folders = [...roots];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of attempt(() => fs.readdirSync(folder ?? "", { withFileTypes: true })) ?? []) {
      entries += 1;
      if (entries > entriesMax) return { tooMany: "names" };
      if (entry.isSymbolicLink()) continue;
      const path = nodePath.join(folder, entry.name);
      const is = entry.isDirectory() ? "folder" : "file";
      const mask = judge(path);
      if (mask !== undefined) masked.push({ path, mask, is });
      if (masked.length > masksMax) return { tooMany: "masks" };
      if (is === "folder" && mask !== "hidden") folders.push(path);
    }
  }
  return { masked };
}

/** To be put before `--` and the command. A mount that comes later lies on top of those before it. */
export function bubblewrapArguments(rights: Rights, masked: readonly MaskedPath[], cwd: string): readonly string[] {
  const nothing = rights.temporary === undefined ? "/dev/null" : emptyFile(rights.temporary);
  const bind = (option: string, paths: readonly string[]): readonly string[] =>
    paths.filter((path) => !/^\/(?:proc|dev)(?:\/|$)/.test(path)).flatMap((path) => [option, path, path]);
  return [
    // Without privileges, so that the modes below hold for root, too; it ends with us.
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    "--cap-drop",
    "ALL",
    "--tmpfs",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...bind("--ro-bind-try", rights.run),
    ...bind("--ro-bind-try", rights.read),
    ...bind("--bind-try", rights.write),
    ...masked.flatMap(({ path, mask, is }) => {
      if (mask === "read-only") return ["--ro-bind", path, path];
      return is === "folder" ? ["--perms", "0000", "--tmpfs", path] : ["--ro-bind", nothing, path];
    }),
    "--chdir",
    cwd,
  ];
}

/** Lies over a hidden file: its mode lets no one read it, and its mount lets no one change the mode. */
function emptyFile(folder: string): string {
  const path = nodePath.join(folder, "hidden");
  fs.rmSync(path, { force: true });
  fs.writeFileSync(path, "", { mode: 0o000, flag: "wx" });
  return path;
}
