/** The door of this room: a process gives up the rights that it does not need, so that the kernel refuses what the guard should have. */

export { canConfine, confine } from "./landlock.ts";
export { bubblewrapArguments, findMasks, type Mask, type MaskedPath } from "./bubblewrap.ts";
export { commandRights, type ConfinedWorkspace, type Rights, rightsFor } from "./rights.ts";
