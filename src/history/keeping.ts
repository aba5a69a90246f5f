/** Stores one change: the old and the new content, then one record, all before the file changes. */

import type { ChangeRecord, FileVersion, VersionIs } from "../contract/history.ts";
import { FileTruncated, type Identity, type OpenFile, ReadFailed, StoreFailed } from "../disk/disk.ts";
import { type BlobSource, type HistoryStore, inodeFingerprint, smallBytesMax } from "../state/state.ts";

interface AfterFile {
  readonly is?: VersionIs | undefined;
  readonly mode?: number | undefined;
  /** Hard links that it will have; 1 by default. */
  readonly links?: number | undefined;
}

export interface Keeping {
  readonly messageId: string;
  readonly path: string;
  readonly relative: string;
  readonly tool: string;
  readonly before:
    | "absent"
    | {
        readonly file: OpenFile;
        readonly is?: VersionIs | undefined;
        readonly bytes?: Uint8Array | undefined;
        readonly will: BlobSource["will"];
        /** A path that certainly leads to the file, if the change has one: `path` may lead elsewhere by now. */
        readonly at?: string | undefined;
      };
  /** The whole new content, or its size if it is not in memory; then `done` reports the rest. */
  readonly after:
    | "absent"
    | (AfterFile & { readonly bytes: Uint8Array })
    | (AfterFile & { readonly sizeBytes: number });
  readonly movedTo?: string | undefined;
  readonly movedFrom?: string | undefined;
  /** The previous result for the same change, if the change has to be made in another way than planned. */
  readonly instead?: Kept | undefined;
}

/** The result. Failures are not thrown: the caller decides whether to make a change that cannot be undone. */
export interface Kept {
  /** The id of its record; undefined if not even that could be written. */
  readonly id: string | undefined;
  readonly before: FileVersion;
  readonly after: FileVersion;
  readonly failed: string | undefined;
}

export interface KeepingRules {
  readonly isSecret: (path: string) => boolean;
  readonly fileBytesMax: number;
}

export interface Versions {
  readonly before: FileVersion;
  readonly after: FileVersion;
  readonly failed: string | undefined;
}

export async function keepVersions(keeping: Keeping, store: HistoryStore, rules: KeepingRules): Promise<Versions> {
  const failures: string[] = [];
  const before = await keepBefore(keeping, store, rules, failures);
  const mode = before.kind === "file" ? before.mode : undefined;
  const after = await keepAfter(keeping, mode, store, rules, failures);
  return { before, after, failed: failures[0] };
}

async function keepBefore(
  { path, before }: Keeping,
  store: HistoryStore,
  rules: KeepingRules,
  failures: string[],
): Promise<FileVersion> {
  if (before === "absent") return { kind: "absent" };
  const { file, bytes, will, at = path, is } = before;
  const { sizeBytes, mode } = file;
  const version = { kind: "file", ...kindOf(is), sizeBytes, mode, ...linksOf(file.links) } as const;
  // Where a link leads to is no secret.
  if (is === undefined && rules.isSecret(path))
    return { ...version, mark: inodeFingerprint(file.identity), notKept: "secret" };
  const mark = sizeBytes > smallBytesMax ? { mark: inodeFingerprint(file.identity) } : {};
  if (sizeBytes > rules.fileBytesMax) return { ...version, ...mark, notKept: "too large" };
  const content = await orFailure(() => store.putFile({ file, path: at, bytes, will }), failures);
  return content === undefined ? { ...version, ...mark, notKept: "failed" } : { ...version, ...mark, content };
}

async function keepAfter(
  { path, after }: Keeping,
  modeBefore: number | undefined,
  store: HistoryStore,
  rules: KeepingRules,
  failures: string[],
): Promise<FileVersion> {
  if (after === "absent") return { kind: "absent" };
  const sizeBytes = "bytes" in after ? after.bytes.length : after.sizeBytes;
  const mode = after.mode ?? modeBefore;
  const version = {
    kind: "file",
    ...kindOf(after.is),
    sizeBytes,
    ...(mode === undefined ? {} : { mode }),
    ...linksOf(after.links),
  } as const;
  if (after.is === undefined && rules.isSecret(path)) return { ...version, notKept: "secret" };
  // The new content is needed to recognise it and to show it beside others' changes; a large one is not worth the cost.
  if (!("bytes" in after) || sizeBytes > smallBytesMax) return { ...version, notKept: "too large" };
  const { bytes } = after;
  const content = await orFailure(() => store.putBytes(bytes), failures);
  return content === undefined ? { ...version, notKept: "failed" } : { ...version, content };
}

const kindOf = (is: VersionIs | undefined): { readonly is?: VersionIs } => (is === undefined ? {} : { is });

const linksOf = (links = 1): { readonly links?: number } => (links > 1 ? { links } : {});

export function doneVersion(after: FileVersion, identity: Identity, mode: number | undefined): FileVersion {
  if (after.kind === "absent") return after;
  const known = mode === undefined ? {} : { mode };
  // The size that the system has for a folder says nothing.
  if (after.is !== undefined) return { ...after, ...known };
  // Also for a secret: the fingerprint reveals whether another program changed it, and nothing about its content.
  const mark = after.content === undefined ? { mark: inodeFingerprint(identity) } : {};
  return { ...after, sizeBytes: identity.sizeBytes, ...known, ...mark };
}

export const changeOf = (keeping: Keeping, { before, after }: Versions, timeMs: number): ChangeRecord => ({
  type: "change",
  messageId: keeping.messageId,
  path: keeping.path,
  relative: keeping.relative,
  before,
  after,
  tool: keeping.tool,
  timeMs,
  ...(keeping.movedTo === undefined ? {} : { movedTo: keeping.movedTo }),
  ...(keeping.movedFrom === undefined ? {} : { movedFrom: keeping.movedFrom }),
});

async function orFailure(put: () => Promise<string>, failures: string[]): Promise<string | undefined> {
  try {
    return await put();
  } catch (error) {
    failures.push(failureOf(error));
    return undefined;
  }
}

/** The failure of a store or a file as text; a bug is thrown on. */
export function failureOf(error: unknown): string {
  if (error instanceof StoreFailed) return error.message;
  if (error instanceof ReadFailed) return `Cannot keep the old content: reading it fails with ${error.errno}`;
  if (error instanceof FileTruncated) return "Cannot keep the old content: the file became shorter meanwhile";
  throw error;
}
