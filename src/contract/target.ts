/** Paths: as a caller writes them, and as the files that they name. */

/** A path as the caller wrote it, before it is looked up. Made only in `guard/`. */
export interface Place {
  readonly asked: string;
  /** Absolute, symlinks not resolved. */
  readonly absolute: string;
  /** `absolute` relative to its root, with forward slashes; empty for the root itself; `absolute` outside the roots. */
  readonly relative: string;
}

/** A file or folder that exists below a root. Made only in `guard/`. */
export interface Target extends Place {
  /** `absolute` with symlinks resolved. */
  readonly real: RealPath;
  /** `real` relative to its root, with forward slashes. */
  readonly realRelative: string;
  /** The root that contains it, symlinks resolved. */
  readonly root: RealPath;
  /** What rules treat it as; a device counts as a file. */
  readonly is: "file" | "folder";
  /** Further names of it: links on the way from `absolute` to `real`. */
  readonly through?: readonly string[] | undefined;
}

/** Brands: types that only the function that checks a value can make. */

declare const brand: unique symbol;

export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };

/** Inside Filehand the first line is 1, always. */
export type LineNumber = Brand<number, "LineNumber">;

/** The only maker of line numbers. Callers MUST have checked that `value` is an integer of at least 1. */
export const lineNumber = (value: number): LineNumber => value as LineNumber;

/** An absolute path with every symlink resolved, spelled as on the disk. Made only in `disk/`. */
export type RealPath = Brand<string, "RealPath">;
