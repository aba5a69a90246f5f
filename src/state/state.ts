/** The door of state/: data that outlives a process, besides the history. */

export { type CallLog, createCallLog, type SessionOrigin } from "./call-log.ts";
export { isLogPlace, type LogPage, openQuestions, readCallLog } from "./call-log-reader.ts";
export { readClientNotes, writeClientNotes } from "./client-changes.ts";
export {
  containsAll,
  inspectorsFor,
  overlap,
  type RegisteredInspector,
  registerInspector,
  type RegistryFile,
  watchInspectors,
} from "./inspector-registry.ts";
export { programFiles } from "./own-program.ts";
export { createReadStates, type ReadStates } from "./read-states.ts";
export { openReceipts, type Receipt, type Receipts } from "./receipts.ts";
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
} from "./logs.ts";
