/** Copies owner, attributes, then mode: a new owner clears the set-user-id bits, and an ACL changes the mode. */

import { spawn } from "node:child_process";
import type { BigIntStats } from "node:fs";
import { errnoName } from "../errno.ts";
import { programOnPath, systemPath } from "../programs.ts";
import type { AttributeCalls, System } from "../system.ts";
import { asWriteFailed, during, duringLater, type WriteNote } from "./write-failed.ts";

/** The replacement cannot get the file's metadata, so the file must be written in place. */
export class MetadataRefused extends Error {
  override readonly name = "MetadataRefused";
  readonly errno: string;
  constructor(errno: string) {
    super(errno);
    this.errno = errno;
  }
}

const step = "carrying over owner, mode and attributes";

/** Throws MetadataRefused, or WriteFailed if the disk fails. `oldPath` leads to exactly the old file. */
export async function copyMetadata(
  fd: number,
  fresh: BigIntStats,
  old: BigIntStats,
  oldPath: string,
  system: System,
): Promise<readonly WriteNote[]> {
  if (system.platform === "win32") return []; // no owners or attributes by descriptor; the folder's ACL applies
  if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
    orCannot(["EPERM", "EINVAL"], () => system.changeOwner(fd, Number(old.uid), Number(old.gid)));
  }
  const attributes = await keepAttributes(fd, oldPath, system);
  const mode = Number(old.mode) & 0o7777;
  return [...attributes, ...changeMode(fd, mode, mode, system)];
}

/** Notes if the file has not the wanted bits then: the system silently clears set-group-id for a group that we are not in. */
export function changeMode(fd: number, mode: number, wanted: number, system: System): readonly WriteNote[] {
  during(step, () => system.changeMode(fd, mode));
  const isSet = (wanted & 0o6000) === 0 || (Number(during(step, () => system.stat(fd)).mode) & 0o7777) === wanted;
  return isSet ? [] : ["special mode bits not kept"];
}

/** These errors mean "not permitted" or "not supported", a reason to write in place; any other stops the change. */
function orCannot(errnos: readonly string[], call: () => void): void {
  try {
    call();
  } catch (error) {
    const errno = errnoName(error);
    if (errno !== undefined && errnos.includes(errno)) throw new MetadataRefused(errno);
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

/** Labels that the system itself puts on every file and rightly lets few users set. */
const ownedBySystem = new Set(["security.selinux", "security.ima", "security.evm", "security.SMACK64"]);

/** Linux has one number for the two names of "not supported". */
const notPossibleErrnos = ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP"];

function copyAttributes(fd: number, oldPath: string, calls: AttributeCalls): void {
  const wanted = during(step, () => calls.list(oldPath));
  // The new file may have inherited an ACL from its folder that the old one lacks.
  for (const name of during(step, () => calls.listOf(fd))) {
    if (wanted.includes(name) || ownedBySystem.has(name)) continue;
    orCannot(notPossibleErrnos, () => calls.remove(fd, name));
  }
  for (const name of wanted) {
    const value = during(step, () => calls.get(oldPath, name));
    try {
      orCannot(notPossibleErrnos, () => calls.set(fd, name, value));
    } catch (error) {
      if (!(error instanceof MetadataRefused && ownedBySystem.has(name))) throw error;
    }
  }
}

/** Without `koffi`, `cp` copies all but the times. A child reaches our descriptors through our process id. */
function copyByProgram(fd: number, oldPath: string): Promise<boolean> {
  // From the system's own folders, because npm puts a project's folders first on the PATH. It needs no environment.
  const program = programOnPath("cp", { path: systemPath, platform: "linux", notBeneath: [] });
  if (program === undefined) return Promise.resolve(false);
  const files = [oldPath, `/proc/self/fd/${fd}`].map((path) =>
    path.replace(/^\/proc\/self\//u, `/proc/${process.pid}/`),
  );
  return new Promise((resolve) => {
    const given = ["--attributes-only", "--preserve=mode,ownership,xattr", "--", ...files];
    const child = spawn(program, given, { stdio: "ignore", env: {} });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}
