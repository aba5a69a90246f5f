/** What this machine offers to Filehand, as data for `filehand doctor`. */

import type { Unconfined } from "./confinement.ts";

export interface Checkup {
  readonly node: { readonly version: string; readonly needed: string; readonly enough: boolean };
  readonly ripgrep: { readonly kind: "package" | "path" | "wasm"; readonly command: string } | undefined;
  readonly parts: ReadonlyMap<OptionalPart | "koffi", PartState>;
  readonly stateDir: ({ readonly path: string } & FolderFacts) | undefined;
  readonly locks: readonly (LockFolderState & FolderFacts)[];
  readonly roots: readonly RootFacts[];
  readonly git: string | undefined;
  readonly languageServers: readonly FoundServer[];
  /** Whether servers can be confined here; as if nothing was said about it. */
  readonly confinement: { readonly is: "possible"; readonly abi: number } | Unconfined;
}

/** Packages that can be done without. */
export type OptionalPart = "sharp" | "libheif-js" | "@embedpdf/pdfium";

/** `broken`: it is installed and cannot be loaded. */
export type PartState = "there" | "missing" | "broken";

export interface RootFacts extends FolderFacts {
  readonly path: string;
  /** The lock that a change takes besides the lock files of the user. Undefined if the folder cannot be opened. */
  readonly locks: LockReach | undefined;
}

/**
 * `kernel`: reaches all processes of this machine. `beside`: a lock beside the file, which reaches all that share its folder.
 * `lock files`: none, only processes of the user exclude each other.
 */
export type LockReach = "kernel" | "beside" | "lock files";

export interface FolderFacts {
  readonly there: "folder" | "something else" | "nothing";
  /** For a missing folder: of the nearest one above. */
  readonly writable: boolean;
  /** True if its mode gives rights to other users. */
  readonly openToOthers: boolean;
  readonly ownedByAnother: boolean;
  /** True if `a` and `A` are one name in it; undefined if no name shows it. */
  readonly foldsCase: boolean | undefined;
  readonly fileSystem: FileSystemTraits | undefined;
  readonly isLocal: boolean | undefined;
}

export interface FileSystemTraits {
  readonly name: string;
  readonly hardLinks: boolean;
  readonly attributes: boolean;
  /** `perhaps`: depends on how the file system was created. */
  readonly clones: boolean | "perhaps";
}

export interface LockFolderState {
  readonly path: string;
  readonly fault: string | undefined;
  /** Another user created it first, so we take no locks there. */
  readonly leftAlone: boolean;
}

export interface FoundServer {
  readonly name: string;
  /** Servers of one group are alternatives. */
  readonly group: string;
  readonly command: string;
  /** The path of its program; undefined if it is not installed. */
  readonly program: string | undefined;
  readonly extensions: readonly string[];
  /** How to install it, where that is known. */
  readonly install: string | undefined;
  /** A missing program without which the server finds no errors. */
  readonly lacks?: { readonly program: string; readonly install: string | undefined } | undefined;
}
