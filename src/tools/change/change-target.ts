/** The file that a call changes, existing or new: how its path is resolved, and how it is locked. */

import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import type { Permission } from "../../contract/permission.ts";
import { Problem } from "../../contract/problem.ts";
import { StateFailed } from "../../contract/state.ts";
import type { Target } from "../../contract/target.ts";
import {
  type FileNode,
  type Handle,
  type HeldLocks,
  LockFailed,
  type LockKey,
  LockTimeout,
  type LookupAlso,
  timeSlices,
} from "../../disk/disk.ts";
import { deniedBy, refusal } from "../../guard/guard.ts";
import { notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";

export type ChangeTarget =
  /** The caller closes `node.handle`. */
  | { readonly is: "there"; readonly target: Target; readonly node: FileNode }
  | {
      readonly is: "new";
      readonly target: Target;
      /** The folder that it will be in, if the lookup opened it; the caller closes it. */
      readonly folder: Handle | undefined;
    };

export const handleOf = (changeTarget: ChangeTarget): Handle | undefined =>
  changeTarget.is === "there" ? changeTarget.node.handle : changeTarget.folder;

export async function resolveChangeTarget(
  path: string,
  context: ToolContext,
  also?: LookupAlso,
): Promise<ChangeTarget> {
  const resolved = context.guard.resolve(path, also);
  if (resolved.seen === "missing") {
    const { target, folder } = resolved;
    if (target !== undefined) return { is: "new", target, folder };
    folder?.close();
  }
  if (resolved.seen !== "node") throw await notFound(resolved, "file", context);
  const { target, node } = resolved;
  if (node.kind === "file") return { is: "there", target, node };
  node.handle.close();
  refuseDenied(target, context);
  if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
}

/** Throws for a name that no new file can have. A slash after the name of an existing file is harmless and accepted elsewhere. */
export function requireFileName({ asked, real }: Target): void {
  const last = asked.split(nodePath.sep === "/" ? "/" : /[\\/]/).at(-1) ?? "";
  if (["", ".", ".."].includes(last)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "names a folder" });
  }
  // Models sometimes copy a path with the quotes around it.
  if (/^(["'`]).+\1$/s.test(asked)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "quoted" });
  }
  // The system has not checked names below a missing folder.
  if (!real.split(nodePath.sep).some((name) => sizeOf(name) > limits.nameBytesMax)) return;
  throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "too long" });
}

/** Windows counts UTF-16. */
const sizeOf = (name: string): number => (nodePath.sep === "/" ? Buffer.byteLength(name) : name.length);

/** Called before any other refusal, which would show that a denied path exists and what it is. */
export function refuseDenied(
  target: Target,
  { guard }: Pick<ToolContext, "guard">,
  permissions: readonly Permission[] = ["read", "edit"],
): void {
  const names = [target.absolute, target.real, ...(target.through ?? [])];
  const [rule] = permissions.flatMap((permission) => guard.denied(permission, names, target.is) ?? []);
  if (rule !== undefined) throw deniedBy(rule, target);
}

/** Runs `work` while the files are locked. It MUST NOT ask a person anything. `keys`: of the targets, if known. */
export async function exclusively<Result>(
  targets: readonly [Target, ...Target[]],
  context: ToolContext,
  work: (locks: HeldLocks) => Promise<Result>,
  keys?: readonly LockKey[],
): Promise<Result> {
  const [place] = targets;
  let isLocked = false;
  try {
    const { sharedLocks, signal } = context;
    const locally = async (): Promise<Result> =>
      context.locks.exclusively(keys ?? (await keysOf(targets, context)), signal, (locks) => {
        isLocked = true;
        return work(locks);
      });
    if (sharedLocks === undefined) return await locally();
    const paths = targets.map(({ real }) => real);
    return await sharedLocks.exclusively(paths, signal, locally);
  } catch (error) {
    if (!isLocked && error instanceof StateFailed) {
      throw new Problem({ code: "STATE_UNAVAILABLE", place, fault: error.message });
    }
    if (!isLocked && error instanceof LockTimeout) {
      const holder = error.pid === undefined ? "another process" : `process ${error.pid}`;
      throw new Problem({ code: "LOCKED", place, reason: "busy", holder });
    }
    if (!isLocked && error instanceof LockFailed) {
      throw new Problem({ code: "LOCKED", place, reason: "no locks", fault: error.fault, remedy: error.remedy });
    }
    throw error;
  }
}

/** The lock key, if the lookup opened the folder as well. */
export function lockKeysOf(changeTarget: ChangeTarget): readonly LockKey[] | undefined {
  const folder = changeTarget.is === "there" ? changeTarget.node.folder : changeTarget.folder;
  const { real } = changeTarget.target;
  return folder && [{ folder: lockedFolder(folder, nodePath.dirname(real)), name: nodePath.basename(real) }];
}

const lockedFolder = ({ identity, reads }: Handle, path: string): LockKey["folder"] => ({
  device: identity.device,
  inode: identity.inode,
  path,
  isLocal: reads === "at once",
});

/** Does the path still lead to the same file, or still to none? False if in doubt. */
export function isStill(changeTarget: ChangeTarget, { disk }: ToolContext): boolean {
  if (changeTarget.is === "there") return disk.isStill(changeTarget.node);
  return changeTarget.folder !== undefined && disk.isStillMissing(changeTarget.folder, changeTarget.target.real);
}

async function keysOf(targets: readonly Target[], context: ToolContext): Promise<readonly LockKey[]> {
  const slices = timeSlices(context.signal);
  const keys: LockKey[] = [];
  for (const target of targets) {
    keys.push(keyOf(target, context));
    if (slices.isOver()) await slices.next();
  }
  return keys;
}

/** The nearest existing folder, and the rest of the path. */
function keyOf(target: Target, context: ToolContext): LockKey {
  for (let folder = nodePath.dirname(target.real); ; ) {
    const lookup = context.disk.lookup(folder);
    if (lookup.seen === "node") {
      using handle = lookup.handle;
      return { folder: lockedFolder(handle, folder), name: nodePath.relative(folder, target.real) };
    }
    if (lookup.seen !== "missing") throw refusal(target, "errno" in lookup ? lookup.errno : "ESTALE", "looking it up");
    const above = lookup.nearest?.real ?? nodePath.dirname(folder);
    if (above === folder) throw refusal(target, "ESTALE", "looking it up");
    folder = above;
  }
}
