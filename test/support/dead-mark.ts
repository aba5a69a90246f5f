/** The mark of a process that has ended, as it stands in the names of temporary files and in locks. */

import { spawnSync } from "node:child_process";
import { processIdentity } from "../../src/disk/lock/process-identity.ts";

/** The id of a child that was waited for, in the realm of this process: no other machine or boot has the same. */
export function deadMark(): string {
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  return processIdentity().replace(/^\d+-\d+/u, `${pid}-1`);
}
