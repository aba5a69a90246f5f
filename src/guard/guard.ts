/**
 * Which file is meant, may this session touch it, whom to ask. It looks and asks; it can create nothing and reads no
 * contents. Every tool and every surface goes through `permit`.
 */

import * as nodePath from "node:path";
import { isNoWrite } from "../contract/mode.ts";
import type { Permission } from "../contract/permission.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import { endOf, type Held, type Look, type LookAlso, type Nearest } from "../disk/look.ts";
import { ask } from "./asking.ts";
import { cautionOf } from "./caution.ts";
import { explanationOf, externalExplanation, refusedExplanation } from "./explain.ts";
import { admit, judgeOutside } from "./external.ts";
import { nameOf, namesBeneath, namesOf, realNameOf } from "./names.ts";
import { offersFor } from "./offers.ts";
import { hiddenPatterns } from "./hidden-patterns.ts";
import { atHome, foreignForm, pathFault, placeOf, relativesTo, relativeTo, waysUp } from "./paths.ts";
import { createPolicy, type Judgement, type Policy } from "./policy.ts";
import type { Guard, GuardOptions, Hidden } from "./promise.ts";
import { respelt } from "./respelt.ts";
import type { PathName } from "./group.ts";
import { createSessionState, type SessionState } from "./session-state.ts";
import { nearestAbove, newTarget, refusal, targetOf } from "./targets.ts";

export type { Guard, GuardOptions, Hidden, How, Resolved, SearchView, Wider } from "./promise.ts";
export type { Permission };
export { refusal };

/** What a look at something missing holds. */
const folderIn = (look: Look): Held | undefined => (look.seen === "missing" ? look.nearest?.held : undefined);

export const createGuard = (options: GuardOptions): Guard =>
  guardWith(
    options,
    options.policy ?? createPolicy(options),
    options.state ?? createSessionState(options.mode ?? "default", options.home),
    new Set(),
  );

/** `external`: roots of the disk that are none of the workspace. */
function guardWith(options: GuardOptions, policy: Policy, state: SessionState, external: ReadonlySet<string>): Guard {
  const { disk, home, locked = [] } = options;
  const base = nodePath.resolve(options.base);
  const ownRoots = disk.roots.filter(({ real }) => !external.has(real));
  const rootPaths = [...new Set(ownRoots.flatMap((root) => [root.given, root.real as string]))];
  /** A rule of a root within another hides more than the patterns of a search through the outer one can say. */
  const hasNested = ownRoots.some(({ real }) => relativesTo(real, rootPaths, nodePath).some((below) => below !== ""));
  const start = ownRoots.find(({ given, real }) => base === nodePath.resolve(given) || base === real);
  const startPaths = start === undefined ? [] : [start.given, start.real];
  const links = policy.linksOn(disk);
  const asker = options.asker === "yes" ? undefined : options.asker;
  const asks = { asker, keepRule: options.keepRule, state, home };
  const isExternal = ({ root }: Target): boolean => external.has(root);
  const pathNames = (path: string, is: "file" | "folder"): PathName =>
    nameOf(path, relativesTo(path, rootPaths, nodePath), is);

  /** What rules say, then what the mode makes of it. */
  const decide = (permission: Permission, names: readonly PathName[], dryRun = false): Judgement => {
    const judged = policy.judge(permission, names, links);
    if (permission === "read" || judged.verdict === "deny") return judged;
    if (dryRun) return { verdict: "allow", rule: undefined, by: "no rule" };
    if (isNoWrite(state.mode)) return { verdict: "deny", rule: undefined, by: "mode" };
    const isInside = names.every(({ relative }) => relative !== undefined);
    const accepted = state.mode === "accept-edits" && judged.by === "no rule" && isInside;
    return accepted ? { verdict: "allow", rule: undefined, by: "mode" } : judged;
  };

  /** For every search alike: what a read would get without a question is not hidden. */
  const hiddenAs = (
    names: readonly PathName[],
    seen: Parameters<Policy["judge"]>[2],
    where: "inside" | "outside",
  ): Hidden | undefined => {
    const { verdict, by } = policy.judge("read", names, seen);
    if (verdict !== "ask") return verdict === "deny" ? "denied" : undefined;
    // As in `permit`: nobody has said yes to what lies outside the roots.
    if (options.asker === "yes" && where === "inside") return undefined;
    return by === "protected" || !names.some((name) => state.isAnswered("read", name)) ? "asks" : undefined;
  };

  const denied: Guard["denied"] = (permission, paths, is) => {
    const names = paths.map((path) => pathNames(path, is));
    return policy.denied(permission, names, links);
  };

  /** Whether a denied path exists, and what is wrong with it, is not told; nor by way of a link to it or to its folder. */
  const refuseIfDenied = (place: Place, wouldBe: readonly (string | undefined)[]): void => {
    const all = new Set([place.absolute, ...wouldBe.filter((name) => name !== undefined)]);
    const names = [...all].filter((name) => relativeTo(name, rootPaths, nodePath) !== undefined);
    const rule = names.length === 0 ? undefined : denied("read", names, "file");
    if (rule === undefined) return;
    throw new Problem({ code: "ACCESS_DENIED", place, reason: "rule", rule: rule.text, source: rule.source });
  };

  /** What is missing there is refused like what is there. */
  const refuseOnOtherMount = (place: Place, folder: Nearest | undefined): void => {
    const above = folder === undefined || folder.isWithin ? undefined : disk.look(folder.real);
    if (above?.seen === "node") above.held.close();
    if (above?.seen === "other mount") throw new Problem({ code: "ACCESS_DENIED", place, reason: "other mount" });
  };

  const requireWriting = (place: Place): void => {
    const { mode } = state;
    if (isNoWrite(mode)) throw new Problem({ code: "ACCESS_DENIED", place, reason: "mode", mode });
  };

  // Not normalised: `link/..` is the parent of what the link leads to, and only the walk knows that.
  // A slash behind a file's name is an ordinary slip.
  const pathOf = (typed: string): string => {
    const asked = atHome(typed, home, nodePath);
    const path = nodePath.isAbsolute(asked) ? asked : `${base}${nodePath.sep}${asked}`;
    return path.endsWith("/") ? path.replace(/(?<=[^/])\/+$/, "") : path;
  };

  const lookAt = (
    asked: string,
    also?: LookAlso,
  ): { readonly path: string; readonly look: Look; readonly place: Place } => {
    const typed = pathOf(asked);
    const first = disk.look(typed, also);
    // A path that is denied as it is typed is not looked for under other names.
    const isOpen = first.seen === "missing" && denied("read", [nodePath.resolve(typed)], "file") === undefined;
    const other = isOpen ? respelt(typed, disk) : undefined;
    if (other !== undefined) folderIn(first)?.close();
    const look = other === undefined ? first : disk.look(other, also);
    const { absolute, relative } = placeOf(other ?? atHome(asked, home, nodePath), base, rootPaths, nodePath);
    return { path: other ?? typed, look, place: { asked, absolute, relative } };
  };

  /** The names that a path has, or would have, where it is not there. */
  const wouldBe = (path: string, look: Look): readonly (string | undefined)[] => [
    look.seen === "node" ? undefined : nearestAbove(path, look, disk)?.real,
    endOf(look)?.real,
    ...(look.through ?? []),
  ];

  /** What `denied/../x` leads to would tell whether there is something at `denied`. */
  const refuseByDeniedWay = (place: Place): void => {
    const ways = waysUp(place.asked, nodePath);
    if (ways === "too many") {
      throw new Problem({ code: "INVALID_PARAM", reason: "path", asked: place.asked, fault: "too long" });
    }
    for (const way of ways) {
      const { path, look, place: turn } = lookAt(way);
      if (look.seen === "node") look.held.close();
      // A root is no secret.
      if (turn.relative !== "") refuseIfDenied(place, [turn.absolute, ...wouldBe(path, look)]);
    }
  };

  /** A folder named `$HOME` would be made for a path that meant another place. */
  const refuseForeign = (asked: string, folder: Held | undefined): void => {
    const fault = foreignForm(asked, nodePath);
    if (fault === undefined) return;
    const [first = ""] = asked.split("/");
    const look = disk.look(pathOf(first));
    if (look.seen === "node") {
      look.held.close();
      return;
    }
    folder?.close();
    throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault });
  };

  const offersOf = (permission: Permission, target: Target, by: Judgement["by"]) =>
    offersFor(permission, target, {
      by,
      isExternal: isExternal(target),
      roots: ownRoots.length,
      canStore: options.keepRule !== undefined,
      trustProject: options.trustProject ?? false,
      locked,
    });

  return {
    hidesBeneath(folders) {
      const seen = links.now();
      const namers = folders.map((folder) => namesBeneath(folder, rootPaths));
      return (below) => {
        const names = namers.map((name) => name(below, "file"));
        return hiddenAs(names, seen, names.every(({ relative }) => relative !== undefined) ? "inside" : "outside");
      };
    },
    hiddenPatterns: (where) =>
      hiddenPatterns(policy.rules, where, {
        // What a rule or an answer may have lifted is not left out beforehand.
        asked: options.asker !== "yes" && state.kept.length === 0 ? options.secrets : "allow",
        elsewhere: hasNested || rootPaths.some((root) => policy.keepsNear(root)) || links.now().leads,
      }),

    ruleFaults: policy.faults,
    denies: policy.denies,
    roots: ownRoots,
    spell(absolute) {
      const below = relativeTo(absolute, startPaths, nodePath);
      if (below === "") return ".";
      // A name that begins with two backslashes is taken for a network path where nothing stands before it.
      return below === undefined || pathFault(below, nodePath) !== undefined ? absolute : below;
    },
    denied,
    requireWriting,
    get mode() {
      return state.mode;
    },

    isSecret(path) {
      const names = [pathNames(path, "file")];
      return policy.denied("read", names, links) !== undefined || policy.isSecret(names);
    },

    search(root) {
      const seen = links.now();
      const mayDeny = policy.mayDenyBelow(root);
      const where = disk.roots.some(({ real }) => real === root && external.has(real)) ? "outside" : "inside";
      const name = namesBeneath(root, rootPaths);
      return {
        hides: (relative, is) => mayDeny(relative) && policy.denied("read", [name(relative, is)], seen) !== undefined,
        shows: (relative) => hiddenAs([name(relative, "file")], seen, where) === undefined,
      };
    },

    resolve(asked, also) {
      const fault = pathFault(asked, nodePath);
      if (fault !== undefined) throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault });
      const { path, look, place } = lookAt(asked, also);
      const above = look.seen === "node" ? undefined : nearestAbove(path, look, disk);
      const folder = folderIn(look);
      try {
        refuseByDeniedWay(place);
        if (look.seen !== "node") refuseIfDenied(place, [above?.real, endOf(look)?.real, ...(look.through ?? [])]);
      } catch (error) {
        folder?.close();
        if (look.seen === "node") look.held.close();
        throw error;
      }
      switch (look.seen) {
        case "node":
          return { seen: "node", target: targetOf(place, look, rootPaths), found: look };
        case "missing":
          refuseForeign(asked, folder);
          refuseOnOtherMount(place, look.nearest);
          return { seen: "missing", place, reason: look.reason, target: newTarget(place, above), folder };
        case "outside":
          return { seen: "outside", place };
        case "loop":
          throw new Problem({ code: "LINK_LOOP", place });
        case "other mount":
        case "other names":
          throw new Problem({ code: "ACCESS_DENIED", place, reason: look.seen });
        case "root changed":
          throw new Problem({ code: "ACCESS_DENIED", place, reason: "root changed" });
        case "too long":
          throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "too long" });
        case "changed":
          throw new Problem({ code: "CHANGED", place });
        case "refused":
          throw refusal(place, look.errno, "looking it up");
      }
    },

    async permit(permission, target, signal, { preview, dryRun } = {}) {
      const { verdict, rule, by } = decide(permission, namesOf(target, rootPaths), dryRun);
      if (verdict === "allow") return "free";
      const text = rule?.text ?? "";
      if (verdict === "deny") {
        if (by === "mode") requireWriting(target);
        const source = rule?.source ?? "";
        throw new Problem({ code: "ACCESS_DENIED", place: target, reason: "rule", rule: text, source });
      }
      if (options.asker === "yes" && !isExternal(target)) return "free";
      const name = realNameOf(target, rootPaths);
      const everyTime = by === "protected";
      if (!everyTime && state.isAnswered(permission, name)) return "free";
      const offered = offersOf(permission, target, by);
      // Ask is stronger than allow: a rule can only lift what asks by default.
      const remedy = by === "rule" || everyTime ? undefined : offered.narrowest;
      const caution = permission === "edit" ? cautionOf(target.real) : undefined;
      const metadata = async () => ({ ...(caution === undefined ? {} : { caution }), ...(await preview?.()) });
      const asking = { permission, place: target, real: target.real, name, rule: text, remedy, everyTime, offered };
      await ask({ ...asking, metadata }, asks, signal);
      return "asked";
    },

    async admit(place, signal) {
      if (options.asker === "yes" && !policy.speaksOfExternal) return undefined;
      const { externalDirectories = "refuse" } = options;
      const isLocked = locked.includes("rules");
      const isDenied = (names: readonly string[]): boolean => denied("read", names, "file") !== undefined;
      const admitted = await admit(
        place,
        pathOf(place.asked),
        { ...asks, disk, policy, externalDirectories, isLocked, isDenied },
        signal,
      );
      if (admitted === undefined) return undefined;
      const wider = { ...options, disk: admitted.disk };
      const guard = guardWith(wider, policy, state, new Set([...external, admitted.root]));
      return { disk: admitted.disk, guard, holds: admitted.holds };
    },

    explain(tool, permission, asked) {
      const { mode } = state;
      const facts = { tool, permission, path: asked, mode };
      if (pathFault(asked, nodePath) !== undefined) return refusedExplanation(facts, "path", asked);
      const { path, look, place } = lookAt(asked);
      if (look.seen === "node") look.held.close();
      const target =
        look.seen === "node" ? targetOf(place, look, rootPaths) : newTarget(place, nearestAbove(path, look, disk));
      if (look.seen === "outside" || look.seen === "root changed") {
        const { externalDirectories = "refuse" } = options;
        const judged = judgeOutside(pathOf(asked), { disk, policy, home, externalDirectories });
        return judged === undefined
          ? refusedExplanation(facts, "outside", place.absolute)
          : externalExplanation(facts, judged.decision, [place.absolute, judged.outer.real]);
      }
      const names = target === undefined ? [pathNames(place.absolute, "file")] : namesOf(target, rootPaths);
      const judge = (some: readonly PathName[]): Judgement => {
        const judged = decide(permission, some);
        const name = target === undefined ? undefined : realNameOf(target, rootPaths);
        const isKept = name !== undefined && judged.by !== "protected" && state.isAnswered(permission, name);
        if (judged.verdict !== "ask" || !isKept) return judged;
        return { verdict: "allow", rule: state.kept.at(-1), by: "rule" };
      };
      const { by } = judge(names);
      const narrow = target === undefined ? undefined : offersOf(permission, target, by).narrowest;
      return explanationOf({ ...facts, names, exists: look.seen === "node", judge, narrow });
    },
  };
}
