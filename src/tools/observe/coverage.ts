/** What an undo could bring back, and what not, by the noted trees. */

import { below, isNotCovered, type NotCoveredWhy, type NotedTree } from "../../history/history.ts";
import type { ObserveLimits } from "./contents.ts";

export interface Coverage {
  /** Files and symlinks whose content is there, and folders. */
  readonly files: number;
  readonly folders: number;
  /** Of the files: those whose content git has. */
  readonly inGit: number;
  readonly copied: number;
  readonly copiedBytes: number;
  readonly limits: ObserveLimits;
  /** False if there are more names than a scan covers, or folders that cannot be read. */
  readonly complete: boolean;
  readonly notCovered: readonly NotCoveredGroup[];
}

export interface NotCoveredGroup {
  readonly why: NotCoveredWhy;
  readonly count: number;
  /** The first few; none for what a rule denies. */
  readonly names: readonly string[];
}

/** Of each reason: a person wants to see which kind it is. */
const namesMax = 10;

export function coverageOf(trees: readonly NotedTree[], limits: ObserveLimits): Coverage {
  const counts = { files: 0, folders: 0, inGit: 0, copied: 0, copiedBytes: 0 };
  const groups = new Map<NotCoveredWhy, { count: number; readonly names: string[] }>();
  for (const tree of trees) {
    for (const [index, folder] of tree.folders.entries()) {
      for (let at = tree.starts[index] ?? 0; at < (tree.starts[index + 1] ?? 0); at += 1) {
        const place = tree.placeAt(at);
        if (isNotCovered(place)) {
          const group = groups.get(place) ?? { count: 0, names: [] };
          group.count += 1;
          if (group.names.length < namesMax && place !== "denied")
            group.names.push(below(folder, tree.names[at] ?? ""));
          groups.set(place, group);
        } else if (place === "folder") counts.folders += 1;
        else {
          counts.files += 1;
          if (place === "stored") {
            counts.copied += 1;
            counts.copiedBytes += tree.sizes[at] ?? 0;
          } else counts.inGit += 1;
        }
      }
    }
  }
  const notCovered = [...groups].map(([why, group]) => ({ why, ...group }));
  return { ...counts, limits, complete: trees.every(({ facts }) => facts.complete), notCovered };
}
