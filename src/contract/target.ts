/** Which file a call means. */

import type { RealPath } from "./brand.ts";

/** A path as it was asked for, before anything is known about it. Made only in `guard/`. */
export interface Place {
  /** As the caller typed it. */
  readonly asked: string;
  /** Absolute, as the caller sees the tree (links not resolved). */
  readonly absolute: string;
  /** `absolute` below its root, with forward slashes; empty for the root itself; `absolute` when it lies in no root. */
  readonly relative: string;
}

/** A file or folder that exists beneath a root. Made only in `guard/`. */
export interface Target extends Place {
  /** What the path really names. */
  readonly real: RealPath;
  /** `real` below its root, with forward slashes. */
  readonly realRelative: string;
  /** The root it lies in, links resolved. */
  readonly root: RealPath;
  /** What rules take it for; a device is a file to them. */
  readonly is: "file" | "folder";
  /** Further names of it, by links that lead to other links. */
  readonly through?: readonly string[] | undefined;
}
