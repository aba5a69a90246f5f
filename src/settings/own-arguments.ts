/** What the command line asks of the machine at start, for surfaces, which know no disk: its own arguments, and programs on the PATH. */

export { argumentsAreUtf8 } from "../disk/own-arguments.ts";
export { programOnPath } from "../disk/programs.ts";
