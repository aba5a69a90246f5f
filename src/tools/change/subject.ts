/** What a change is about: a file that is there, or one that will be. */

import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import type { Permission } from "../../contract/permission.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { type HeldLocks, LockFailed, type LockKey, LockTimeout } from "../../disk/lock/lock.ts";
import type { Found, Held, LookAlso } from "../../disk/lookup/look.ts";
import { refusal, type Resolved } from "../../guard/guard.ts";
import { notFound } from "../locate.ts";
import type { Bench } from "../tool.ts";

export type Subject =
  /** Whoever found it closes `found.held`. */
  | { readonly is: "there"; readonly target: Target; readonly found: Found }
  | {
      readonly is: "new";
      readonly target: Target;
      /** The folder that it will be in, held open, if it is at hand; closed by whoever asked for it. */
      readonly folder: Held | undefined;
    };

/** What whoever asked for the subject has to close. */
export const heldBy = (subject: Subject): Held | undefined =>
  subject.is === "there" ? subject.found.held : subject.folder;

export const subjectOf = (path: string, bench: Bench, also?: LookAlso): Promise<Subject> =>
  subjectFrom(bench.guard.resolve(path, also), bench);

export async function subjectFrom(resolved: Resolved, bench: Bench): Promise<Subject> {
  if (resolved.seen === "missing") {
    const { target, folder } = resolved;
    if (target !== undefined) return { is: "new", target, folder };
    folder?.close();
  }
  if (resolved.seen !== "node") throw await notFound(resolved, "file", bench);
  const { target, found } = resolved;
  if (found.kind === "file") return { is: "there", target, found };
  found.held.close();
  refuseDenied(target, bench);
  if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  throw new Problem({ code: "SPECIAL_FILE", place: target, special: found.kind });
}

/** Behind the name of a file that is there a slash is an ordinary slip; who wants something made there means a folder. */
export function requireFileName({ asked, real }: Target): void {
  const last = asked.split(nodePath.sep === "/" ? "/" : /[\\/]/).at(-1) ?? "";
  if (["", ".", ".."].includes(last)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "names a folder" });
  }
  // Behind a folder that is missing the system was not asked about the names.
  if (!real.split(nodePath.sep).some((name) => sizeOf(name) > limits.nameBytesMax)) return;
  throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "too long" });
}

/** Windows counts UTF-16. */
const sizeOf = (name: string): number => (nodePath.sep === "/" ? Buffer.byteLength(name) : name.length);

/** What a denied path is, and that it is there, is not told: not by any other refusal either. */
export function refuseDenied(
  target: Target,
  { guard }: Bench,
  permissions: readonly Permission[] = ["read", "edit"],
): void {
  const names = [target.absolute, target.real, ...(target.through ?? [])];
  const [rule] = permissions.flatMap((permission) => guard.denied(permission, names, target.is) ?? []);
  if (rule === undefined) return;
  throw new Problem({ code: "ACCESS_DENIED", place: target, reason: "rule", rule: rule.text, source: rule.source });
}

/**
 * Work on files that nobody else works on meanwhile, in this or another process. Nobody may be asked within. `keys` are
 * those of the targets, where they are known already.
 */
export async function exclusively<Result>(
  targets: readonly [Target, ...Target[]],
  bench: Bench,
  work: (held: HeldLocks) => Promise<Result>,
  keys?: readonly LockKey[],
): Promise<Result> {
  const [place] = targets;
  let begun = false;
  try {
    return await bench.locks.exclusively(
      keys ?? targets.map((target) => keyOf(target, bench)),
      bench.signal,
      (held) => {
        begun = true;
        return work(held);
      },
    );
  } catch (error) {
    if (!begun && error instanceof LockTimeout) {
      const holder = error.pid === undefined ? "another process" : `process ${error.pid}`;
      throw new Problem({ code: "LOCKED", place, reason: "busy", holder });
    }
    if (!begun && error instanceof LockFailed) {
      throw new Problem({ code: "LOCKED", place, reason: "no locks", fault: error.fault, remedy: error.remedy });
    }
    throw error;
  }
}

/** The key of a file that was looked for with its folder. */
export function keysOf(subject: Subject): readonly LockKey[] | undefined {
  const folder = subject.is === "there" ? subject.found.folder : subject.folder;
  const { real } = subject.target;
  return folder && [{ folder: lockedFolder(folder, nodePath.dirname(real)), name: nodePath.basename(real) }];
}

const lockedFolder = ({ identity }: Held, path: string): LockKey["folder"] => ({
  device: identity.device,
  inode: identity.inode,
  path,
});

/** Is it still what it was when it was looked for with its folder? A doubt is a no. */
export function isStill(subject: Subject, { disk }: Bench): boolean {
  if (subject.is === "there") return disk.isStill(subject.found);
  return subject.folder !== undefined && disk.isStillMissing(subject.folder, subject.target.real);
}

/** The nearest folder that is there, and the rest of the path. */
function keyOf(target: Target, bench: Bench): LockKey {
  for (let folder = nodePath.dirname(target.real); ; ) {
    const look = bench.disk.look(folder);
    if (look.seen === "node") {
      using held = look.held;
      return { folder: lockedFolder(held, folder), name: nodePath.relative(folder, target.real) };
    }
    if (look.seen !== "missing") throw refusal(target, "errno" in look ? look.errno : "ESTALE", "looking it up");
    const above = look.nearest?.real ?? nodePath.dirname(folder);
    if (above === folder) throw refusal(target, "ESTALE", "looking it up");
    folder = above;
  }
}
