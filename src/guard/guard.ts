/**
 * Which file is meant, may this session touch it, whom to ask. It looks and asks; it can create nothing and reads no
 * contents. Every tool and every surface goes through `permit`.
 */

import * as nodePath from "node:path";
import {
  type Disk,
  endOf,
  type FileNode,
  type Handle,
  HandleStack,
  type Lookup,
  type LookupAlso,
  type Nearest,
  released,
  type Root,
} from "../disk/disk.ts";
import type { Asker, RuleKeeper } from "../contract/ask.ts";
import { limits } from "../contract/limits.ts";
import {
  type Explanation,
  isNoWrite,
  type Lock,
  type Mode,
  type Permission,
  type RuleText,
} from "../contract/permission.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, RealPath, Target } from "../contract/target.ts";
import { ask, cautionOf, offersFor } from "./ask.ts";
import { explanationOf, externalExplanation, refusedExplanation } from "./explain.ts";
import { admit, judgeOutside } from "./external.ts";
import type { PathName } from "./group.ts";
import { hiddenPatterns, type HiddenPatterns } from "./hidden-patterns.ts";
import {
  atHome,
  foreignForm,
  nameOf,
  namesBeneath,
  namesOf,
  pathFault,
  placeOf,
  realNameOf,
  relativesTo,
  relativeTo,
  resolved,
  waysUp,
} from "./paths.ts";
import { createPolicy, type Judgement, type Policy, type PolicyOptions } from "./policy.ts";
import type { RuleFault } from "./rules.ts";
import { createSessionState, type SessionState } from "./session-state.ts";

// The rest of this room that other rooms use.
export type { HiddenPatterns } from "./hidden-patterns.ts";
export { relativeTo } from "./paths.ts";
export { toolPermission } from "./patterns.ts";
export { createPolicy, type Policy } from "./policy.ts";
export { idleRules, narrowed } from "./rules.ts";
export { defaultRules } from "./secrets.ts";
export { createSessionState, type SessionState } from "./session-state.ts";

// A letter with an accent is one code point or two (NFC, NFD). macOS and archives made there leave the second form on
// disks that take the two for different names; models and keyboards write the first. macOS also puts U+202F before AM and PM in the names
// of screenshots, and others have U+00A0, where models write a space. They are one text to who reads them, so a path that names
// nothing is looked for in the other forms.

/**
 * The path as the disk spells it, as far as it leads: undefined if no name on the way is there in another form alone. A
 * name that is there as asked is never another, and of two other forms neither is taken.
 */
function respelt(path: string, disk: Pick<Disk, "lookup">): string | undefined {
  if (isPlain(path)) return undefined;
  const [top = "", ...names] = path.split(nodePath.sep === "\\" ? /[\\/]/ : "/");
  let found = top;
  let changed = false;
  for (const [at, name] of names.entries()) {
    const spelling = isPlain(name) ? name : spellingOf(name, found, disk);
    // What is not there in any form is a new name, and so is all below it.
    if (spelling === undefined) {
      found = [found, ...names.slice(at)].join(nodePath.sep);
      break;
    }
    changed ||= spelling !== name;
    found += nodePath.sep + spelling;
  }
  return changed ? found : undefined;
}

/** Has one form only. */
const isPlain = (text: string): boolean => /^[\x01-\x1f\x21-\x7f]*$/.test(text);

const spaces = /[ \u00a0\u202f]/g;
/** A name with more spaces is looked for with all of them alike, and not with one that differs. */
const spacesMax = 16;

/** All spaces alike, or one that differs from plain ones; each as NFC and NFD. */
function otherForms(name: string): readonly string[] {
  const forms = new Set([name]);
  const places = [...name.matchAll(spaces)].map(({ index }) => index);
  if (places.length > 0) {
    for (const space of [" ", "\u00a0", "\u202f"]) forms.add(name.replace(spaces, space));
    const plain = name.replace(spaces, " ");
    for (const at of places.length > spacesMax ? [] : places) {
      for (const space of ["\u00a0", "\u202f"]) forms.add(plain.slice(0, at) + space + plain.slice(at + 1));
    }
  }
  const both = [...forms].flatMap((form) => [form, form.normalize("NFC"), form.normalize("NFD")]);
  return [...new Set(both)].filter((form) => form !== name);
}

function spellingOf(name: string, folder: string, disk: Pick<Disk, "lookup">): string | undefined {
  const isThere = (spelling: string): boolean => {
    const lookup = released(disk.lookup(folder + nodePath.sep + spelling));
    // Above a root nothing is looked at.
    return lookup.seen !== "missing";
  };
  if (isThere(name)) return name;
  const there = otherForms(name).filter(isThere);
  return there.length === 1 ? there[0] : undefined;
}

export type { Permission };
export { refusal };

/** What a look at something missing holds. */
const folderIn = (lookup: Lookup): Handle | undefined =>
  lookup.seen === "missing" ? lookup.nearest?.handle : undefined;

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
    const above = released(folder === undefined || folder.isWithin ? undefined : disk.lookup(folder.real));
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
    also?: LookupAlso,
  ): { readonly path: string; readonly lookup: Lookup; readonly place: Place } => {
    const typed = pathOf(asked);
    const first = disk.lookup(typed, also);
    // A path that is denied as it is typed is not looked for under other names.
    const isOpen = first.seen === "missing" && denied("read", [nodePath.resolve(typed)], "file") === undefined;
    const other = isOpen ? respelt(typed, disk) : undefined;
    if (other !== undefined) folderIn(first)?.close();
    const lookup = other === undefined ? first : disk.lookup(other, also);
    const { absolute, relative } = placeOf(other ?? atHome(asked, home, nodePath), base, rootPaths, nodePath);
    return { path: other ?? typed, lookup, place: { asked, absolute, relative } };
  };

  /** The names that a path has, or would have, where it is not there. */
  const wouldBe = (path: string, lookup: Lookup): readonly (string | undefined)[] => [
    lookup.seen === "node" ? undefined : nearestAbove(path, lookup, disk)?.real,
    endOf(lookup)?.real,
    ...(lookup.through ?? []),
  ];

  /** What `denied/../x` leads to would tell whether there is something at `denied`. */
  const refuseByDeniedWay = (place: Place): void => {
    const ways = waysUp(place.asked, nodePath);
    if (ways === "too many") {
      throw new Problem({ code: "INVALID_PARAM", reason: "path", asked: place.asked, fault: "too long" });
    }
    for (const way of ways) {
      const { path, lookup, place: turn } = lookAt(way);
      if (lookup.seen === "node") lookup.handle.close();
      // A root is no secret.
      if (turn.relative !== "") refuseIfDenied(place, [turn.absolute, ...wouldBe(path, lookup)]);
    }
  };

  /** A folder named `$HOME` would be made for a path that meant another place. */
  const refuseForeign = (asked: string, folder: Handle | undefined): void => {
    const fault = foreignForm(asked, nodePath);
    if (fault === undefined) return;
    const [first = ""] = asked.split("/");
    const lookup = disk.lookup(pathOf(first));
    if (lookup.seen === "node") {
      lookup.handle.close();
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
      const { path, lookup, place } = lookAt(asked, also);
      const above = lookup.seen === "node" ? undefined : nearestAbove(path, lookup, disk);
      const folder = folderIn(lookup);
      using handles = new HandleStack();
      handles.use(folder);
      if (lookup.seen === "node") handles.use(lookup.handle);
      refuseByDeniedWay(place);
      if (lookup.seen !== "node") refuseIfDenied(place, [above?.real, endOf(lookup)?.real, ...(lookup.through ?? [])]);
      handles.move();
      switch (lookup.seen) {
        case "node":
          return { seen: "node", target: targetOf(place, lookup, rootPaths), node: lookup };
        case "missing":
          refuseForeign(asked, folder);
          refuseOnOtherMount(place, lookup.nearest);
          return { seen: "missing", place, reason: lookup.reason, target: newTarget(place, above), folder };
        case "outside":
          return { seen: "outside", place };
        case "loop":
          throw new Problem({ code: "LINK_LOOP", place });
        case "other mount":
        case "other names":
          throw new Problem({ code: "ACCESS_DENIED", place, reason: lookup.seen });
        case "root changed":
          throw new Problem({ code: "ACCESS_DENIED", place, reason: "root changed" });
        case "too long":
          throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "too long" });
        case "changed":
          throw new Problem({ code: "CHANGED", place });
        case "refused":
          throw refusal(place, lookup.errno, "looking it up");
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
      const { path, lookup, place } = lookAt(asked);
      if (lookup.seen === "node") lookup.handle.close();
      const target =
        lookup.seen === "node"
          ? targetOf(place, lookup, rootPaths)
          : newTarget(place, nearestAbove(path, lookup, disk));
      if (lookup.seen === "outside" || lookup.seen === "root changed") {
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
      return explanationOf({ ...facts, names, exists: lookup.seen === "node", judge, narrow });
    },
  };
}

// What a path that was looked up is called: the target that exists, or the one that would be made.

interface Above {
  /** The real name that the path would have. */
  readonly real: string;
  readonly root: RealPath;
  readonly kind: FileNode["kind"];
}

/** For a path that names nothing: the nearest thing above it decides. */
function nearestAbove(path: string, seen: Lookup, disk: Disk): Above | undefined {
  if (seen.seen === "missing" && seen.nearest !== undefined) {
    const { real, root, rest } = seen.nearest;
    return { real: resolved(real, rest, nodePath), root: root.real, kind: "directory" };
  }
  // A path of thousands of names must not cost as many lookups.
  if (seen.seen === "too long") return undefined;
  let above = nodePath.dirname(path);
  for (let tries = 1; tries <= limits.lookupsAboveMax; tries += 1, above = nodePath.dirname(above)) {
    const lookup = disk.lookup(above);
    if (lookup.seen === "node") {
      lookup.handle.close();
      const real = nodePath.resolve(nodePath.join(lookup.real, path.slice(above.length)));
      return { real, root: lookup.root.real, kind: lookup.kind };
    }
    if (above === nodePath.dirname(above)) return undefined;
  }
  return undefined;
}

/** A file that is not there yet. Its folder is; or the folders between it and one that is will be made. */
function newTarget(place: Place, above: Above | undefined): Target | undefined {
  if (above === undefined || above.kind !== "directory") return undefined;
  const realRelative = relativeTo(above.real, [above.root], nodePath);
  if (realRelative === undefined || realRelative === "") return undefined;
  const { asked, absolute, relative } = place;
  return { asked, absolute, relative, real: above.real as RealPath, realRelative, root: above.root, is: "file" };
}

/** The system's own refusal, in our words. */
function refusal(place: Place, errno: string, during: string): Problem {
  if (errno === "EACCES" || errno === "EPERM") return new Problem({ code: "ACCESS_DENIED", place, reason: "system" });
  if (errno === "ESTALE" || errno === "ENOENT") return new Problem({ code: "CHANGED", place });
  return new Problem({ code: "IO_ERROR", place, errno, during });
}

function targetOf(place: Place, node: FileNode, rootPaths: readonly string[]): Target {
  const realRelative = relativeTo(node.real, [node.root.real], nodePath) ?? "";
  const is = node.kind === "directory" ? "folder" : "file";
  const through = node.through?.filter((name) => name !== place.absolute && name !== node.real) ?? [];
  const further = through.length === 0 ? {} : { through };
  const real = { real: node.real, realRelative, root: node.root.real, is, ...further } as const;
  const { asked } = place;
  if (!node.bent) return { asked, absolute: place.absolute, relative: place.relative, ...real };
  return {
    asked,
    absolute: node.real,
    relative: relativeTo(node.real, rootPaths, nodePath) ?? realRelative,
    ...real,
  };
}

// What a guard promises to those who ask it, and what it is made of.

/** What a path came to. Whoever resolved closes `found.held`. */
export type Resolved =
  | { readonly seen: "node"; readonly target: Target; readonly node: FileNode }
  | {
      readonly seen: "missing";
      readonly place: Place;
      readonly reason: "missing" | "file on the way";
      /** What a file that is created there would be; undefined where none can be. */
      readonly target: Target | undefined;
      /** The folder that it would be in, if that was asked for and is at hand. Whoever asked closes it. */
      readonly folder?: Handle | undefined;
    }
  | { readonly seen: "outside"; readonly place: Place };

export interface Guard {
  /** The roots of the workspace: those of the disk without folders outside that the session was let into. */
  readonly roots: readonly Root[];
  /**
   * How an answer names an absolute path, so that it means the same when a call gives it back: below the root where
   * relative paths start, with forward slashes, and whole in any other root or where they start within one.
   */
  readonly spell: (absolute: string) => string;
  /** Finds what is meant; throws a Problem for what can be neither found nor missing. */
  resolve(asked: string, also?: LookupAlso): Resolved;
  /** Throws a Problem unless this session may do that to the target. Says whether somebody was asked. */
  permit(permission: Permission, target: Target, signal: AbortSignal, how?: How): Promise<"free" | "asked">;
  /** Throws a Problem if nothing is written in this session's mode. The last thing before a file is changed. */
  requireWriting(place: Place): void;
  /**
   * The rule that forbids this outright, if there is one: for what is missing, and for what a listing or a suggestion
   * may show. Absolute paths, all of them names of one thing.
   */
  denied(permission: Permission, paths: readonly string[], is: "file" | "folder"): RuleText | undefined;
  /**
   * For a search through a root: what it may show, as of now. Cheap for very many paths, since nothing is looked up;
   * whoever follows a link asks about both of its names.
   */
  search(root: string): SearchView;
  /** Is this a file whose content must not be kept anywhere: denied, or commonly a secret? */
  isSecret(path: string): boolean;
  /**
   * Which files below a folder, as of now, are hidden from searches: denied, or nobody has said yes to reading them? The
   * folder by all of its absolute names; what is asked about is a path below it. Cheap for very many, as in `search`.
   */
  hidesBeneath(folders: readonly string[]): (below: string) => Hidden | undefined;
  /** What surely is hidden, in the form of gitignore, for a search of a root or of a folder within. */
  hiddenPatterns(where: "root" | "within"): HiddenPatterns;
  /** Is there any rule that denies? If not, nothing needs to be asked about what a listing shows. */
  readonly denies: boolean;
  readonly ruleFaults: readonly RuleFault[];
  readonly mode: Mode;
  /** For a path outside the roots: the same with one more folder, if the session is let in. Throws a Problem if not. */
  admit(place: Place, signal: AbortSignal): Promise<Wider | undefined>;
  explain(tool: string, permission: Permission, asked: string): Explanation;
}

/** `denied`: not even its name may be told. `asks`: somebody would have to be asked; its name is no secret. */
export type Hidden = "denied" | "asks";

/** Paths are below the root, with forward slashes and without `.` and `..`. */
export interface SearchView {
  /** May not even be named: denied. What lies in a hidden folder is hidden too, so it need not be entered. */
  readonly hides: (relative: string, is: "file" | "folder") => boolean;
  /** May content of this file be shown without anybody being asked? False for all that is hidden, and for secrets to which nobody has said yes. */
  readonly shows: (relative: string) => boolean;
}

export interface How {
  /** Made only if somebody is asked: what the question shows besides the path. */
  readonly preview?: () => Promise<Readonly<Record<string, unknown>>>;
  /** Nothing will be written, so nobody is asked and no mode is in the way. A deny holds. */
  readonly dryRun?: boolean;
}

export interface Wider {
  readonly disk: Disk;
  readonly guard: Guard;
  /** `once`: for this call only. */
  readonly holds: "once" | "always";
}

export interface GuardOptions extends PolicyOptions {
  readonly disk: Disk;
  /** Where relative paths start. */
  readonly base: string;
  /** `yes`: every question about a file inside the roots is answered with yes. The border is no question. */
  readonly asker: Asker | "yes" | undefined;
  /** Compiled before, for several sessions. */
  readonly policy?: Policy | undefined;
  /** What the session decided for itself; by default it begins in `mode`. */
  readonly state?: SessionState | undefined;
  readonly mode?: Mode | undefined;
  readonly locked?: readonly Lock[] | undefined;
  readonly keepRule?: RuleKeeper | undefined;
  readonly externalDirectories?: "refuse" | "ask" | undefined;
}
