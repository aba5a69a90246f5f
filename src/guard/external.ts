/**
 * Folders outside the roots. A session is let into one only if the operator's rules say so, or if they let it ask and
 * somebody says yes to that very folder, links resolved. Inside, everything is judged as it is beneath a root: on the
 * open handle, never above the folder.
 */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { type Disk, type OuterFolder, outerFolder, RootError } from "../disk/disk.ts";
import { type AskContext, ask } from "./ask.ts";
import { absolutePattern, nameOf, relativeTo } from "./paths.ts";
import type { Policy } from "./policy.ts";
import type { Decision } from "./rules.ts";

export interface ExternalOptions extends AskContext {
  readonly disk: Disk;
  readonly policy: Policy;
  /** What is done about a folder that no rule speaks of. */
  readonly externalDirectories: "refuse" | "ask";
  readonly isLocked: boolean;
  readonly isDenied: (names: readonly string[]) => boolean;
}

/** A disk that reaches into one more folder, and for how long. */
export interface Admitted {
  readonly disk: Disk;
  readonly root: string;
  readonly holds: "once" | "always";
}

/** More would make every lookup slow; who needs so many should name a root. */
const foldersMax = 32;

interface Outside {
  readonly outer: OuterFolder;
  readonly decision: Decision;
}

/** What would be said about the folder that a path outside leads to; undefined if sessions are not let in there at all. */
export function judgeOutside(
  path: string,
  options: Pick<ExternalOptions, "disk" | "policy" | "externalDirectories" | "home">,
): Outside | undefined {
  const { disk, policy, home, externalDirectories } = options;
  // Most sessions are let in nowhere; then nothing outside is even looked at.
  if (externalDirectories === "refuse" && !policy.speaksOfExternal) return undefined;
  const outer = outerFolder(path);
  if (outer === undefined || disk.roots.length >= foldersMax) return undefined;
  // What lies in a root and is reached by another name stays outside: nobody could say which rules hold for it.
  if (disk.roots.some(({ real }) => relativeTo(outer.real, [real], nodePath) !== undefined)) return undefined;
  // A folder that holds a root, or everything of a person, is no folder to be let into: name it as a root, if so.
  const kept = [...disk.roots.map(({ real }) => real), ...(home === undefined ? [] : [home])];
  if (kept.some((one) => relativeTo(one, [outer.real], nodePath) !== undefined)) return undefined;
  const names = [outer.real, outer.given].map((folder) => nameOf(folder, [], "folder"));
  const decision = policy.judgeExternal(names);
  if (decision.rule === undefined && externalDirectories === "refuse") return undefined;
  return { outer, decision };
}

/** Undefined if there is nothing to ask: the path stays outside. Throws a Problem if somebody was to be asked and said no. */
export async function admit(
  place: Place,
  path: string,
  options: ExternalOptions,
  signal: AbortSignal,
): Promise<Admitted | undefined> {
  const judged = judgeOutside(path, options);
  if (judged === undefined || judged.decision.verdict === "deny") return undefined;
  const { disk } = options;
  const { outer, decision } = judged;
  // About what is denied anyway, Filehand's own files among it, nobody is asked.
  const file = nodePath.join(outer.real, nodePath.basename(place.absolute));
  if (options.isDenied([place.absolute, file])) return undefined;
  if (decision.verdict === "allow") return wider(place, outer, disk, "always");

  const rule = `external_directory(${absolutePattern(outer.real)}/**)`;
  const keep = options.keepRule === undefined || decision.rule !== undefined ? [] : (["user"] as const);
  const holds = await ask(
    {
      permission: "external_directory",
      place,
      real: outer.real,
      name: nameOf(outer.real, [], "folder"),
      rule: decision.rule?.text ?? "external_directory",
      remedy: decision.rule === undefined ? rule : undefined,
      everyTime: false,
      offered: options.isLocked
        ? { rules: [], keep: [] }
        : { rules: [{ here: rule, anywhere: rule }], keep: ["session", ...keep] },
      metadata: async () => ({ folder: outer.real }),
    },
    options,
    signal,
  );
  return wider(place, outer, disk, holds);
}

function wider(
  place: Place,
  { real, given }: { readonly real: string; readonly given: string },
  disk: Disk,
  holds: Admitted["holds"],
): Admitted {
  try {
    const made = disk.including(given);
    // A yes was said to that folder; if another one stands there by now, it was said to nothing.
    if (made.roots.at(-1)?.real !== real) throw new Problem({ code: "CHANGED", place });
    return { disk: made, root: real, holds };
  } catch (error) {
    if (error instanceof RootError) throw new Problem({ code: "CHANGED", place });
    throw error;
  }
}
