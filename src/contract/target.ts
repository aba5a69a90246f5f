/** Which file a call means. */

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

/** Types that can only be made where a value was checked. */

declare const brand: unique symbol;

export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };

/** A line's number. Inside Filehand the first line is 1, always. */
export type LineNumber = Brand<number, "LineNumber">;

/** The only maker of line numbers: callers have checked that `value` is a whole number of at least 1. */
export const lineNumber = (value: number): LineNumber => value as LineNumber;

/** An absolute path with every link resolved, spelled as the file system has it. Made only in `disk/`. */
export type RealPath = Brand<string, "RealPath">;
