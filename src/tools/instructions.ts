/** Instruction files (AGENTS.md, CLAUDE.md) between the root and a file: named once in a session, never read here. */

import * as nodePath from "node:path";
import type { TextOutcome } from "../contract/read.ts";
import type { Bench } from "./tool.ts";

const names = ["AGENTS.md", "CLAUDE.md"];

export function withInstructions(outcome: TextOutcome, bench: Bench): TextOutcome {
  if (bench.offered === undefined) return outcome;
  const { target } = outcome;
  const found: string[] = [];
  for (let folder = nodePath.dirname(target.real); ; folder = nodePath.dirname(folder)) {
    for (const name of names) {
      const path = nodePath.join(folder, name);
      if (path === target.real || bench.offered.has(path)) continue;
      const look = bench.disk.look(path);
      if (look.seen !== "node") continue;
      look.held.close();
      if (look.kind !== "file" || bench.guard.denied("read", [path, look.real], "file") !== undefined) continue;
      bench.offered.add(path);
      found.unshift(path);
    }
    if (folder === target.root || folder === nodePath.dirname(folder)) break;
  }
  return found.length === 0 ? outcome : { ...outcome, instructions: found };
}
