/**
 * Folders outside the roots. A session is admitted to one only if the operator's rules allow it, or if they let it ask
 * and the user approves exactly that folder, symlinks resolved. Inside, everything is judged as beneath a root: on the
 * open handle, never above the folder.
 */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { type Disk, type OuterFolder, outerFolder, RootError } from "../disk/disk.ts";
import { type AskContext, ask } from "./ask.ts";
import { absolutePattern, nameOf, relativeTo } from "./paths.ts";
import type { Policy } from "./policy.ts";

export interface ExternalOptions extends AskContext {
  readonly disk: Disk;
  readonly policy: Policy;
  /** What happens with a folder that no rule covers. */
  readonly externalDirectories: "refuse" | "ask";
  readonly isLocked: boolean;
  readonly isDenied: (names: readonly string[]) => boolean;
}

/** Every lookup compares a path with each of them. A user who needs more should add a root. */
const foldersMax = 32;

/** The decision about the folder of an outside path; undefined if sessions are never admitted there. */
export function judgeOutside(
  path: string,
  options: Pick<ExternalOptions, "disk" | "policy" | "externalDirectories" | "home">,
) {
  const { disk, policy, home, externalDirectories } = options;
  // Most sessions are admitted nowhere; then nothing outside is looked up.
  if (externalDirectories === "refuse" && !policy.speaksOfExternal) return undefined;
  const outer = outerFolder(path);
  if (outer === undefined || disk.roots.length >= foldersMax) return undefined;
  // A path into a root by another name stays outside: it would be unclear which rules apply.
  if (disk.roots.some(({ real }) => relativeTo(outer.real, [real], nodePath) !== undefined)) return undefined;
  // A folder that contains a root or the home folder is too much to admit; the operator can make it a root.
  const kept = [...disk.roots.map(({ real }) => real), ...(home === undefined ? [] : [home])];
  if (kept.some((one) => relativeTo(one, [outer.real], nodePath) !== undefined)) return undefined;
  const names = [outer.real, outer.given].map((folder) => nameOf(folder, [], "folder"));
  const decision = policy.judgeExternal(names);
  if (decision.rule === undefined && externalDirectories === "refuse") return undefined;
  return { outer, decision };
}

/** A disk with one more folder, and for how long; undefined if there is nothing to ask. Throws if the user refuses. */
export async function admit(place: Place, path: string, options: ExternalOptions, signal: AbortSignal) {
  const judged = judgeOutside(path, options);
  if (judged === undefined || judged.decision.verdict === "deny") return undefined;
  const { disk } = options;
  const { outer, decision } = judged;
  // Denied files, including Filehand's own, are never asked about.
  const file = nodePath.join(outer.real, nodePath.basename(place.absolute));
  if (options.isDenied([place.absolute, file])) return undefined;
  if (decision.verdict === "allow") return wider(place, outer, disk, "always");

  const rule = `external_directory(${absolutePattern(outer.real)}/**)`;
  const keep = options.keepRule === undefined || decision.rule !== undefined ? [] : (["user"] as const);
  const { holds } = await ask(
    {
      permission: "external_directory",
      place,
      reals: [outer.real],
      names: [nameOf(outer.real, [], "folder")],
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

function wider(place: Place, { real, given }: OuterFolder, disk: Disk, holds: "once" | "always") {
  try {
    const made = disk.including(given);
    // The approval was for that folder; another folder may have replaced it since.
    if (made.roots.at(-1)?.real !== real) throw new Problem({ code: "CHANGED", place });
    return { disk: made, root: real, holds };
  } catch (error) {
    if (error instanceof RootError) throw new Problem({ code: "CHANGED", place });
    throw error;
  }
}
