/** The door of state/: data that outlives a process, besides the history. */

export {
  containsAll,
  inspectorsFor,
  type RegisteredInspector,
  registerInspector,
  type RegistryFile,
  watchInspectors,
} from "./inspector-registry.ts";
export { createReadStates, type ReadStates } from "./read-states.ts";
export { appendUsage, type Figures, readUsage } from "./usage-log.ts";
