/** The door of state/: data that outlives a process. */

export { type CallLog, createCallLog, type SessionOrigin } from "./folder/call-log.ts";
export { isLogPlace, type LogPage, openQuestions, readCallLog } from "./folder/call-log-reader.ts";
export { readClientNotes, writeClientNotes } from "./client-changes.ts";
export {
  containsAll,
  inspectorsFor,
  overlap,
  type RegisteredInspector,
  registerInspector,
  type RegistryFile,
  watchInspectors,
} from "./folder/inspector-registry.ts";
export { programFiles } from "./own-program.ts";
export { hashOfFile, openBytes, smallBytesMax, storedFile } from "./folder/blobs.ts";
export { openFolderAudit } from "./folder/audit.ts";
export { openFileStore } from "./folder/file-store.ts";
export { type Entry, entriesPerStep, hasCoarseTime, inodeFingerprint } from "./folder/record.ts";
export type {
  Appended,
  BlobRead,
  BlobSize,
  BlobSource,
  HistoryStore,
  Rewrite,
  SessionRecords,
  StoredSession,
} from "./history-store.ts";
export { type AuditFault, type AuditSigner, checkAudit, signerWith } from "./audit-chain.ts";
export type { FolderState } from "./folder/folder-state.ts";
export type {
  Approvals,
  Audit,
  AuditRecord,
  Events,
  SavedSession,
  SessionChange,
  SessionStore,
  SharedEvent,
  SharedWorkspaceState,
  StoredToken,
  Tokens,
  UsageStore,
  WorkspaceState,
} from "./ports.ts";
export type { PostgresState } from "./postgres/postgres.ts";
export { createSessionSync, type SessionSync, type SyncedSession } from "./session-sync.ts";
export { createReadStates, type ReadStates } from "./folder/read-states.ts";
export { openReceipts, type Receipt, type Receipts } from "./folder/receipts.ts";
export { appendShellNotes, followShellNotes, type ShellNote } from "./shell-notes.ts";
export {
  chunksOf,
  findTranscripts,
  type FoundTranscripts,
  openScratch,
  rowsOfDatabase,
  type Scratch,
  smallFile,
  type Transcript,
} from "./transcripts.ts";
export {
  appendError,
  appendUsage,
  type InternalError,
  readErrors,
  readUsage,
  type SessionUsage,
} from "./folder/logs.ts";
