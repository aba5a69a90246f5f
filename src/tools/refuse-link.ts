/**
 * Taking a file away through a link would take what it leads to, which the answer does not name, and leave the link behind
 * leading nowhere. A link itself is no file: nobody could bring it back. So neither is done.
 */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { refuseDenied } from "./subject.ts";
import type { Bench } from "./tool.ts";

export async function refuseLink(target: Target, would: "be deleted" | "be moved", bench: Bench): Promise<void> {
  if (!(await isLink(target, bench))) return;
  refuseDenied(target, bench);
  const leadsTo = bench.guard.spell(target.real);
  throw new Problem({ code: "INVALID_PARAM", reason: "link", place: target, leadsTo, would });
}

/** Is its last name one? Links above it are spellings of the same folder. */
async function isLink({ absolute, real }: Target, { disk }: Bench): Promise<boolean> {
  const name = nodePath.basename(absolute);
  const above = disk.look(nodePath.dirname(absolute));
  if (above.seen !== "node") return false;
  try {
    if (nodePath.join(above.real, name) === real) return false;
    const entries = above.kind === "directory" ? await disk.list(above) : { errno: "ENOTDIR" };
    const own = "errno" in entries ? undefined : entries.find((entry) => entry.name === name);
    // A disk may take another spelling for the same name; then it lies where it was asked for.
    return own === undefined ? nodePath.dirname(real) !== above.real : own.kind === "link";
  } finally {
    above.held.close();
  }
}
