/** The door of state/: what outlives a process, besides the history. Other rooms import from here and from nothing else in this room. */

export {
  holdsAll,
  inspectorsFor,
  type RegisteredInspector,
  registerInspector,
  type RegistryFile,
  watchInspectors,
} from "./inspector-registry.ts";
export { createReadStates, type ReadStates } from "./read-states.ts";
export { appendUsage, type Figures, readUsage } from "./usage-log.ts";
