/** What the process was started with, as far as Node does not tell. */

export { argumentsAreUtf8 } from "../disk/own-arguments.ts";
