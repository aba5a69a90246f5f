/** The door of state/: data that outlives a process, besides the history. */

export {
  containsAll,
  inspectorsFor,
  overlap,
  type RegisteredInspector,
  registerInspector,
  type RegistryFile,
  watchInspectors,
} from "./inspector-registry.ts";
export { createReadStates, type ReadStates } from "./read-states.ts";
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
export { appendUsage, readUsage, type SessionUsage } from "./usage-log.ts";
