/** The arguments of this process as the system has them. Node decodes them, and what is no UTF-8 becomes another character. */

import { isUtf8 } from "node:buffer";
import * as fs from "node:fs";

/** True where the system does not tell. */
export function argumentsAreUtf8(): boolean {
  try {
    return isUtf8(fs.readFileSync("/proc/self/cmdline"));
  } catch {
    return true;
  }
}
