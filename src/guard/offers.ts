/** Which rules would answer a question for good, narrowest first, and where they could be kept. Pure. */

import type { Keep } from "../contract/ask.ts";
import type { Lock } from "../contract/mode.ts";
import type { Decider, Permission } from "../contract/permission.ts";
import type { Target } from "../contract/target.ts";
import { absolutePattern } from "./names.ts";
import { escapePattern } from "./patterns.ts";

/** A rule for this workspace, and one that means the same in settings that hold for others too. */
export interface Offer {
  readonly here: string;
  readonly anywhere: string;
}

export interface Offered {
  /** For this very file; it would help also where nothing can be kept. */
  readonly narrowest: string;
  readonly rules: readonly Offer[];
  readonly keep: readonly Keep[];
}

export interface Circumstances {
  readonly by: Decider;
  readonly isExternal: boolean;
  /** `/x` would mean the `x` of every root. */
  readonly roots: number;
  readonly canStore: boolean;
  readonly trustProject: boolean;
  readonly locked: readonly Lock[];
}

export function offersFor(permission: Permission, target: Target, at: Circumstances): Offered {
  const tool = permission === "read" ? "Read" : "Edit";
  const offer = (pattern: string, absolute: string): Offer => {
    const here = at.roots === 1 && !at.isExternal ? pattern : absolute;
    return { here: `${tool}(${here})`, anywhere: `${tool}(${absolute})` };
  };
  const file = offer(`/${escapePattern(target.realRelative)}`, absolutePattern(target.real));
  // What can run code later is asked about each time.
  if (at.by === "protected" || at.locked.includes("rules")) return { narrowest: file.here, rules: [], keep: [] };
  const folder = target.realRelative.split("/").slice(0, -1).join("/");
  const wider: Offer[] = [];
  // Of secrets one is one: a folder of them is not a narrow answer.
  if (permission === "edit" && !at.isExternal) {
    const real = target.real.slice(0, target.real.length - target.realRelative.length).replace(/[\\/]$/, "");
    if (folder !== "") wider.push(offer(`/${escapePattern(folder)}/**`, `${absolutePattern(`${real}/${folder}`)}/**`));
    wider.push(offer("/**", `${absolutePattern(real)}/**`));
  }
  return { narrowest: file.here, rules: [file, ...wider], keep: keepsFor(at) };
}

function keepsFor({ by, canStore, trustProject }: Circumstances): readonly Keep[] {
  // An allow rule lifts no ask rule, so in settings it would be of no use.
  if (!canStore || by === "rule") return ["session"];
  // Nor do a project's rules lift the question about secrets.
  return by === "secret" || !trustProject ? ["session", "user"] : ["session", "project", "user"];
}
