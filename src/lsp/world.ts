/** What this room is handed of the world outside: it opens no files itself. */

export interface World {
  /** Where a program lies that may be run for a project in `folder`; undefined if there is none. */
  find(command: string, folder: string): string | undefined;
  /** Is there something of this name in the folder? */
  has(folder: string, name: string): boolean;
  /** A file of the workspace as it is now, for places in files that were never opened; undefined where it cannot be told. */
  textOf(path: string): string | undefined;
  /** The sign of the file's state now; undefined if it is gone. */
  stampOf(path: string): string | undefined;
  /** The environment that servers' own is taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The roots of the workspace, links resolved. */
  readonly roots: readonly string[];
}
