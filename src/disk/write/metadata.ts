/**
 * Carries owner, attributes and mode of a file over to its successor. The order matters: a change of owner takes the
 * set-user-id bits away, and an ACL is written with its attributes, so the mode comes last.
 */

import { spawn } from "node:child_process";
import type { BigIntStats } from "node:fs";
import { errnoName } from "../errno.ts";
import { programOnPath, systemPath } from "../programs.ts";
import type { AttributeCalls, System } from "../system.ts";
import { asWriteFailed, during, duringLater, type WriteNote } from "./write-failed.ts";

/** The successor cannot be made like the file; whoever wants to change it must write into it. */
export class CannotKeep extends Error {
  override readonly name = "CannotKeep";
  readonly errno: string;
  constructor(errno: string) {
    super(errno);
    this.errno = errno;
  }
}

const step = "carrying over owner, mode and attributes";

/**
 * Throws CannotKeep, or WriteFailed if the disk fails. `fresh` is what the successor is so far. `oldPath` leads to the
 * very file, as a handle's path does.
 */
export async function keepMetadata(
  fd: number,
  fresh: BigIntStats,
  old: BigIntStats,
  oldPath: string,
  system: System,
): Promise<readonly WriteNote[]> {
  if (system.platform === "win32") return []; // neither owners nor attributes by descriptor; the folder's ACL counts
  if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
    orCannot(["EPERM", "EINVAL"], () => system.changeOwner(fd, Number(old.uid), Number(old.gid)));
  }
  const attributes = await keepAttributes(fd, oldPath, system);
  const mode = Number(old.mode) & 0o7777;
  during(step, () => system.changeMode(fd, mode));
  // The system takes set-group-id away in silence if the group is not one of ours.
  const kept = (mode & 0o6000) === 0 || (Number(during(step, () => system.stat(fd)).mode) & 0o7777) === mode;
  return kept ? attributes : [...attributes, "special mode bits not kept"];
}

/** Errors that say "not you" or "not so" are a reason to write in place; any other is one to stop. */
function orCannot(errnos: readonly string[], call: () => void): void {
  try {
    call();
  } catch (error) {
    const errno = errnoName(error);
    if (errno !== undefined && errnos.includes(errno)) throw new CannotKeep(errno);
    throw asWriteFailed(error, step);
  }
}

async function keepAttributes(fd: number, oldPath: string, system: System): Promise<readonly WriteNote[]> {
  const calls = await duringLater(step, () => system.attributes());
  if (calls !== undefined) {
    copyAttributes(fd, oldPath, calls);
    return [];
  }
  if (system.platform !== "linux") return [];
  return (await copyByProgram(fd, oldPath)) ? [] : ["attributes not kept"];
}

/** Labels that the system itself gives to every file; it is right that it does not let everyone set them. */
const ownedBySystem = new Set(["security.selinux", "security.ima", "security.evm", "security.SMACK64"]);

/** Linux has one number for the two names of "not supported". */
const notSo = ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP"];

function copyAttributes(fd: number, oldPath: string, calls: AttributeCalls): void {
  const wanted = during(step, () => calls.list(oldPath));
  // The new file may have inherited an ACL from its folder that the old one does not have.
  for (const name of during(step, () => calls.listOf(fd))) {
    if (wanted.includes(name) || ownedBySystem.has(name)) continue;
    orCannot(notSo, () => calls.remove(fd, name));
  }
  for (const name of wanted) {
    const value = during(step, () => calls.get(oldPath, name));
    try {
      orCannot(notSo, () => calls.set(fd, name, value));
    } catch (error) {
      if (!(error instanceof CannotKeep && ownedBySystem.has(name))) throw error;
    }
  }
}

/**
 * Without `koffi` the system's own `cp` does it, at the price of a process. The times are left out: new content has
 * the time at which it was written. A child has descriptors of its own, so ours are named by our process id.
 */
function copyByProgram(fd: number, oldPath: string): Promise<boolean> {
  const seenFromChild = (path: string): string => path.replace(/^\/proc\/self\//u, `/proc/${process.pid}/`);
  // From the system's own folders, whatever the PATH says: npm puts those of a project first. It needs nothing of our environment.
  const program = programOnPath("cp", { path: systemPath, platform: "linux", notBeneath: [] });
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(
      program,
      [
        "--attributes-only",
        "--preserve=mode,ownership,xattr",
        "--",
        seenFromChild(oldPath),
        `/proc/${process.pid}/fd/${fd}`,
      ],
      { stdio: "ignore", env: {} },
    );
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}
