/** Which file is meant, whether this session may touch it, and whether to ask. Every tool goes through `permit`. */

import * as nodePath from "node:path";
import {
  type Disk,
  lookupEnd,
  type FileNode,
  type Handle,
  HandleStack,
  type Lookup,
  type LookupAlso,
  type Nearest,
  timeSlices,
  withHandleClosed,
  type Root,
} from "../disk/disk.ts";
import type { Asker, KeepRule } from "../contract/ask.ts";
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
import { ask, cautionOf, offersFor, offersForAll, type Preview } from "./ask.ts";
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
  waysUp,
} from "./paths.ts";
import { createPolicy, type Judgement, type Policy, type PolicyOptions } from "./policy.ts";
import type { RuleFault } from "./rules.ts";
import { createSessionState, type SessionState } from "./session-state.ts";

export { literalHints } from "./hidden-patterns.ts";
export type { Preview } from "./ask.ts";
export { relativeTo } from "./paths.ts";
import { firstOf } from "./patterns.ts";

export { toolPermission } from "./patterns.ts";
export { createPolicy, type Policy } from "./policy.ts";
export { idleRules, restrictGuard as narrowed } from "./rules.ts";
export { defaultRules } from "./protected.ts";
export { createSessionState, type SessionState } from "./session-state.ts";

// An accented letter is one code point or two (NFC, NFD). macOS, and archives made there, leave NFD names on file
// systems that tell the two apart; models and keyboards write NFC. macOS also puts U+202F before AM and PM in
// screenshot names, others put U+00A0, where models write a space. A reader cannot see the difference, so a path that
// names nothing is looked up in the other forms.

/** The path as the disk spells it, as far as it exists; undefined if no other form helps, or if two do. */
function otherSpelling(path: string, disk: Pick<Disk, "lookup">): string | undefined {
  if (isPlain(path)) return undefined;
  const [top = "", ...names] = path.split(nodePath.sep === "\\" ? /[\\/]/ : "/");
  let found = top;
  let changed = false;
  for (const [at, name] of names.entries()) {
    const spelling = isPlain(name) ? name : spellingOf(name, found, disk);
    // A name that exists in no form is new, and so is everything below it.
    if (spelling === undefined) {
      found = [found, ...names.slice(at)].join(nodePath.sep);
      break;
    }
    changed ||= spelling !== name;
    found += nodePath.sep + spelling;
  }
  return changed ? found : undefined;
}

const isPlain = (text: string): boolean => /^[\x01-\x1f\x21-\x7f]*$/.test(text);

const spaces = /[ \u00a0\u202f]/g;
/** A name with more spaces is tried only with all of them alike: one lookup for each would cost too much. */
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
  // Nothing above a root is looked up.
  const isThere = (spelling: string): boolean =>
    withHandleClosed(disk.lookup(folder + nodePath.sep + spelling)).seen !== "missing";
  if (isThere(name)) return name;
  const there = otherForms(name).filter(isThere);
  return there.length === 1 ? there[0] : undefined;
}

export type { Permission };

const folderIn = (lookup: Lookup): Handle | undefined =>
  lookup.seen === "missing" ? lookup.nearest?.handle : undefined;

export const createGuard = (options: GuardOptions): Guard =>
  guardWith(
    options,
    options.policy ?? createPolicy(options),
    options.state ?? createSessionState(options.mode ?? "default", options.home),
    new Set(),
  );

/** `external`: roots of the disk that are not part of the workspace. */
function guardWith(options: GuardOptions, policy: Policy, state: SessionState, external: ReadonlySet<string>): Guard {
  const { disk, home, locked = [] } = options;
  const base = nodePath.resolve(options.base);
  const ownRoots = disk.roots.filter(({ real }) => !external.has(real));
  const rootPaths = [...new Set(ownRoots.flatMap((root) => [root.given, root.real as string]))];
  /** A rule of a nested root hides more than patterns for a search of the outer root can express. */
  const hasNested = ownRoots.some(({ real }) => relativesTo(real, rootPaths, nodePath).some((below) => below !== ""));
  const start = ownRoots.find(({ given, real }) => base === nodePath.resolve(given) || base === real);
  const startPaths = start === undefined ? [] : [start.given, start.real];
  const links = policy.linksOn(disk);
  const asker = options.asker === "yes" ? undefined : options.asker;
  const asks = { asker, keepRule: options.keepRule, state, home };
  const isExternal = ({ root }: Target): boolean => external.has(root);
  const pathNames = (path: string, is: "file" | "folder"): PathName =>
    nameOf(path, relativesTo(path, rootPaths, nodePath), is);

  const decide = (permission: Permission, names: readonly PathName[], dryRun = false): Judgement => {
    const judged = policy.judge(permission, names, links);
    if (permission === "read" || judged.verdict === "deny") return judged;
    if (dryRun) return { verdict: "allow", rule: undefined, by: "no rule" };
    if (isNoWrite(state.mode)) return { verdict: "deny", rule: undefined, by: "mode" };
    const isInside = names.every(({ relative }) => relative !== undefined);
    const accepted = state.mode === "accept-edits" && judged.by === "no rule" && isInside;
    return accepted ? { verdict: "allow", rule: undefined, by: "mode" } : judged;
  };

  /** The same for every search: a file that a read would return without a question is not hidden. */
  const hiddenAs = (
    names: readonly PathName[],
    seen: Parameters<Policy["judge"]>[2],
    where: "inside" | "outside",
  ): Hidden | undefined => {
    const { verdict, by } = policy.judge("read", names, seen);
    if (verdict !== "ask") return verdict === "deny" ? "denied" : undefined;
    // As in `permit`: `yes` does not cover paths outside the roots.
    if (options.asker === "yes" && where === "inside") return undefined;
    return by === "protected" || !names.some((name) => state.isAnswered("read", name)) ? "asks" : undefined;
  };

  const denied: Guard["denied"] = (permission, paths, is) => {
    const names = paths.map((path) => pathNames(path, is));
    return policy.denied(permission, names, links);
  };

  /** An error must not reveal whether a denied path exists, not even through a symlink to it or to its folder. */
  const refuseIfDenied = (place: Place, wouldBe: readonly (string | undefined)[]): void => {
    const all = new Set([place.absolute, ...wouldBe.filter((name) => name !== undefined)]);
    const names = [...all].filter((name) => relativeTo(name, rootPaths, nodePath) !== undefined);
    const rule = names.length === 0 ? undefined : denied("read", names, "file");
    if (rule !== undefined) throw deniedBy(rule, place);
  };

  /** A missing path on another mount is refused like an existing one. */
  const refuseOnOtherMount = (place: Place, folder: Nearest | undefined): void => {
    const above = withHandleClosed(folder === undefined || folder.isWithin ? undefined : disk.lookup(folder.real));
    if (above?.seen === "other mount") throw new Problem({ code: "ACCESS_DENIED", place, reason: "other mount" });
  };

  const requireWriting = (place: Place): void => {
    const { mode } = state;
    if (isNoWrite(mode)) throw new Problem({ code: "ACCESS_DENIED", place, reason: "mode", mode });
  };

  // Not normalised: `link/..` is the parent of the symlink's target, which only the lookup knows. A slash after a file
  // name is a common slip.
  const pathOf = (typed: string): string => {
    const asked = atHome(typed, home, nodePath);
    const path = nodePath.isAbsolute(asked) ? asked : `${base}${nodePath.sep}${asked}`;
    return path.endsWith("/") ? path.replace(/(?<=[^/])\/+$/, "") : path;
  };

  const lookAt = (asked: string, also?: LookupAlso) => {
    const typed = pathOf(asked);
    const first = disk.lookup(typed, also);
    // A path that is denied as typed is not looked up in other forms.
    const isOpen = first.seen === "missing" && denied("read", [nodePath.resolve(typed)], "file") === undefined;
    const other = isOpen ? otherSpelling(typed, disk) : undefined;
    if (other !== undefined) folderIn(first)?.close();
    const lookup = other === undefined ? first : disk.lookup(other, also);
    const { absolute, relative } = placeOf(other ?? atHome(asked, home, nodePath), base, rootPaths, nodePath);
    return { path: other ?? typed, lookup, place: { asked, absolute, relative } };
  };

  const wouldBe = (path: string, lookup: Lookup): readonly (string | undefined)[] => [
    lookup.seen === "node" ? undefined : nearestAbove(path, lookup, disk)?.real,
    lookupEnd(lookup)?.real,
    ...(lookup.through ?? []),
  ];

  /** The result of `denied/../x` would reveal whether `denied` exists. */
  const refuseByDeniedWay = (place: Place): void => {
    const ways = waysUp(place.asked, nodePath);
    if (ways === "too many") {
      throw new Problem({ code: "INVALID_PARAM", reason: "path", asked: place.asked, fault: "too long" });
    }
    for (const way of ways) {
      const { path, lookup, place: turn } = lookAt(way);
      if (lookup.seen === "node") lookup.handle.close();
      // The existence of a root is no secret.
      if (turn.relative !== "") refuseIfDenied(place, [turn.absolute, ...wouldBe(path, lookup)]);
    }
  };

  /** Refuses to create a folder named `$HOME` for a path that meant another place. */
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

  /** The question about a target that is still open; undefined if the target is permitted without one. Throws if it is denied. */
  const openQuestion = (
    permission: Permission,
    target: Target,
    dryRun: boolean | undefined,
  ): OpenQuestion | undefined => {
    const { verdict, rule, by } = decide(permission, namesOf(target, rootPaths), dryRun);
    if (verdict === "allow") return undefined;
    if (verdict === "deny") {
      if (by === "mode") requireWriting(target);
      throw deniedBy({ text: "", source: "", ...rule }, target);
    }
    if (options.asker === "yes" && !isExternal(target)) return undefined;
    const name = realNameOf(target, rootPaths);
    const everyTime = by === "protected";
    if (!everyTime && state.isAnswered(permission, name)) return undefined;
    return { target, name, rule, by, everyTime };
  };

  const permitAll: Guard["permitAll"] = async (permission, targets, signal, { preview, dryRun } = {}) => {
    const open: OpenQuestion[] = [];
    const slices = timeSlices(signal);
    for (const target of targets) {
      const question = openQuestion(permission, target, dryRun);
      if (question !== undefined) open.push(question);
      if (slices.isOver()) await slices.next();
    }
    const [first, ...others] = open;
    if (first === undefined) return "free";
    const caution = permission === "edit" ? firstOf(open, ({ target }) => cautionOf(target.real)) : undefined;
    const metadata = async (): Promise<Preview> => ({
      ...(caution === undefined ? {} : { caution }),
      ...(await preview?.()),
    });
    return askAbout(permission, [first, ...others], metadata, signal);
  };

  /** One question about all that is open. Throws a Problem unless the user agrees. */
  const askAbout = async (
    permission: Permission,
    open: readonly [OpenQuestion, ...OpenQuestion[]],
    metadata: () => Promise<Preview>,
    signal: AbortSignal,
  ): Promise<Exclude<Permit, "free">> => {
    const [first, ...others] = open;
    const names = open.map(({ name }) => name);
    const everyTime = open.some((one) => one.everyTime);
    const offers = others.map((one) => offersOf(permission, one.target, one.by));
    const offered = offersForAll([offersOf(permission, first.target, first.by), ...offers], permission, names, home);
    // Ask overrides allow: a rule can only replace a question that the default asks.
    const remedy = everyTime || open.some(({ by }) => by === "rule") ? undefined : offered.narrowest;
    const reals = open.map(({ target }) => target.real);
    const rule = firstOf(open, (one) => one.rule?.text) ?? "";
    const asking = { permission, place: first.target, reals, names, rule, remedy, everyTime, offered, metadata };
    const { hunks } = await ask(asking, asks, signal);
    return hunks === undefined ? "asked" : { hunks };
  };

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
        // A rule or an answer may permit what the defaults hide, so the search leaves nothing out in advance.
        asked: options.asker !== "yes" && state.kept.length === 0 ? options.secrets : "allow",
        elsewhere: hasNested || rootPaths.some((root) => policy.keepsNear(root)) || links.now().leads,
      }),

    ruleFaults: policy.faults,
    denies: policy.denies,
    roots: ownRoots,
    spell(absolute) {
      const below = relativeTo(absolute, startPaths, nodePath);
      if (below === "") return ".";
      // A name that begins with two backslashes would be read as a network path, so it is shown whole.
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
      if (lookup.seen !== "node")
        refuseIfDenied(place, [above?.real, lookupEnd(lookup)?.real, ...(lookup.through ?? [])]);
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
        case "root changed":
          throw new Problem({ code: "ACCESS_DENIED", place, reason: lookup.seen });
        case "too long":
          throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault: "too long" });
        case "changed":
          throw new Problem({ code: "CHANGED", place });
        case "refused":
          throw refusal(place, lookup.errno, "looking it up");
      }
    },

    permit: (permission, target, signal, how) => permitAll(permission, [target], signal, how),
    permitAll,

    async permitTree(uses, entries, signal, { preview, dryRun, askAnyway = false } = {}) {
      const [{ target }] = uses;
      const slices = timeSlices(signal);
      /** Paths below the tops: an entry counts once, whatever names it has. */
      const [denied, protectedFiles] = [new Set<string>(), new Set<string>()];
      let questions = 0;
      let asking: Judgement | undefined;
      for (const { target: top, permissions, only } of uses) {
        const namers = [...new Set([top.real as string, top.absolute])].map((path) => namesBeneath(path, rootPaths));
        for (const { below, is } of only === true ? onlyItself : entries) {
          if (slices.isOver()) await slices.next();
          const slashed = nodePath.sep === "/" ? below : below.replaceAll(nodePath.sep, "/");
          const names = below === "" ? namesOf(top, rootPaths) : namers.map((name) => name(slashed, is));
          const judged = permissions.map((permission) => decide(permission, names, dryRun));
          if (judged.some(({ verdict, by }) => verdict === "deny" && by === "mode")) requireWriting(top);
          // Read and Edit deny alike: what a rule hides is neither moved nor deleted.
          const rules = (["read", "edit"] as const).flatMap((one) => policy.denied(one, names, links) ?? []);
          if (rules[0] !== undefined && entries.length === 1) throw deniedBy(rules[0], top);
          if (rules.length > 0) denied.add(below);
          for (const [at, one] of judged.entries()) {
            if (one.verdict !== "ask") continue;
            const isOwn = one.by === "protected";
            const [name] = names.slice(-1);
            if (!isOwn && name !== undefined && state.isAnswered(permissions[at] ?? "edit", name)) continue;
            questions += 1;
            if (isOwn) protectedFiles.add(below);
            if (asking === undefined || isOwn) asking = one;
          }
        }
      }
      if (denied.size > 0) {
        throw new Problem({
          code: "INVALID_PARAM",
          reason: "folder",
          place: target,
          fault: "hidden by rules",
          count: denied.size,
        });
      }
      // A dry run changes nothing, but what may not be read without a question is not looked into either.
      if (questions === 0 && (dryRun === true || !askAnyway)) return "free";
      if (options.asker === "yes" && !uses.some(({ target: top }) => isExternal(top))) return "free";
      const everyTime = protectedFiles.size > 0 || askAnyway;
      const by = everyTime ? "protected" : (asking?.by ?? "no rule");
      const top = { target, name: realNameOf(target, rootPaths), rule: asking?.rule, by, everyTime };
      return askAbout("edit", [top], async () => ({ ...(await preview?.(protectedFiles.size)) }), signal);
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

// The target of a lookup: the file that exists, or the one that would be created.

interface Above {
  readonly real: string;
  readonly root: RealPath;
  readonly kind: FileNode["kind"];
}

function nearestAbove(path: string, seen: Lookup, disk: Disk): Above | undefined {
  if (seen.seen === "missing" && seen.nearest !== undefined) {
    const { real, root, rest } = seen.nearest;
    return { real: nodePath.resolve(real, rest), root: root.real, kind: "directory" };
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

function newTarget(place: Place, above: Above | undefined): Target | undefined {
  if (above === undefined || above.kind !== "directory") return undefined;
  const realRelative = relativeTo(above.real, [above.root], nodePath);
  if (realRelative === undefined || realRelative === "") return undefined;
  const { asked, absolute, relative } = place;
  return { asked, absolute, relative, real: above.real as RealPath, realRelative, root: above.root, is: "file" };
}

export const deniedBy = ({ text, source }: Pick<RuleText, "text" | "source">, place: Place): Problem =>
  new Problem({ code: "ACCESS_DENIED", place, reason: "rule", rule: text, source });

export function refusal(place: Place, errno: string, during: string): Problem {
  if (errno === "EACCES" || errno === "EPERM") return new Problem({ code: "ACCESS_DENIED", place, reason: "system" });
  if (errno === "ESTALE" || errno === "ENOENT") return new Problem({ code: "CHANGED", place });
  return new Problem({ code: "IO_ERROR", place, errno, during });
}

/** A target that a person must be asked about. */
interface OpenQuestion extends Pick<Judgement, "rule" | "by"> {
  readonly target: Target;
  readonly name: ReturnType<typeof realNameOf>;
  /** No earlier answer counts, and none is kept. */
  readonly everyTime: boolean;
}

function targetOf(place: Place, node: FileNode, rootPaths: readonly string[]): Target {
  const realRelative = relativeTo(node.real, [node.root.real], nodePath) ?? "";
  const is = node.kind === "directory" ? "folder" : "file";
  const through = node.through?.filter((name) => name !== place.absolute && name !== node.real) ?? [];
  const further = through.length === 0 ? {} : { through };
  const real = { real: node.real, realRelative, root: node.root.real, is, ...further } as const;
  const { asked, absolute, relative } = place;
  if (!node.bent) return { asked, absolute, relative, ...real };
  return { asked, absolute: node.real, relative: relativeTo(node.real, rootPaths, nodePath) ?? realRelative, ...real };
}

/** The result of `resolve`. The caller closes `node.handle`. */
export type Resolved =
  | { readonly seen: "node"; readonly target: Target; readonly node: FileNode }
  | {
      readonly seen: "missing";
      readonly place: Place;
      readonly reason: "missing" | "file on the way";
      /** The file that would be created there; undefined where none can be. */
      readonly target: Target | undefined;
      readonly folder?: Handle | undefined;
    }
  | { readonly seen: "outside"; readonly place: Place };

export interface Guard {
  /** The roots of the workspace, without the folders outside that the session was admitted to. */
  readonly roots: readonly Root[];
  /** An absolute path as a later call can use it: relative to where relative paths start, or else absolute. */
  readonly spell: (absolute: string) => string;
  resolve(asked: string, also?: LookupAlso): Resolved;
  /** Throws a Problem unless this session may do this to the target. */
  permit(permission: Permission, target: Target, signal: AbortSignal, how?: How): Promise<Permit>;
  /** The same for several targets, with one question about all of them for which a question is needed. */
  permitAll(permission: Permission, targets: readonly Target[], signal: AbortSignal, how?: How): Promise<Permit>;
  /**
   * The same for everything in a tree, as one question about its top, the first of `uses`. `entries` are the paths below each
   * top. Throws a Problem with the number of entries that a rule denies, without their names. `askAnyway`: no rule and no
   * earlier answer is enough.
   */
  permitTree(
    uses: readonly [TreeUse, ...TreeUse[]],
    entries: readonly { readonly below: string; readonly is: "file" | "folder" }[],
    signal: AbortSignal,
    how?: Omit<How, "preview"> & {
      readonly preview?: (protectedFiles: number) => Promise<Readonly<Record<string, unknown>>>;
      readonly askAnyway?: boolean;
    },
  ): Promise<Permit>;
  /** Throws a Problem if the session's mode writes nothing. The last check before a file is changed. */
  requireWriting(place: Place): void;
  /** The rule that denies this, also for missing and for listed files. `paths`: absolute names of one file. */
  denied(permission: Permission, paths: readonly string[], is: "file" | "folder"): RuleText | undefined;
  /** What a search may show as of now. It looks nothing up: a caller that follows a symlink asks about both names. */
  search(root: string): SearchView;
  /** Whether the content must not be stored anywhere: the file is denied, or commonly a secret. */
  isSecret(path: string): boolean;
  /** Which files below a folder searches hide as of now. `folders`: all names of the folder. It looks nothing up. */
  hidesBeneath(folders: readonly string[]): (below: string) => Hidden | undefined;
  /** gitignore patterns for files that are certainly hidden, for a search of a root or of a folder within. */
  hiddenPatterns(where: "root" | "within"): HiddenPatterns;
  /** Whether any rule denies; if none does, a listing need not ask about its entries. */
  readonly denies: boolean;
  readonly ruleFaults: readonly RuleFault[];
  readonly mode: Mode;
  /** The guard with one more folder, if the session is admitted to it. Throws a Problem if the user refuses. */
  admit(place: Place, signal: AbortSignal): Promise<Wider | undefined>;
  explain(tool: string, permission: Permission, asked: string): Explanation;
}

/** `denied`: not even its name may be shown. `asks`: reading needs approval; its name is no secret. */
export type Hidden = "denied" | "asks";

/** Paths are below the root, with forward slashes and without `.` and `..`. */
export interface SearchView {
  /** Whether not even the name may be shown. A hidden folder hides all its content, so a walk need not enter it. */
  readonly hides: (relative: string, is: "file" | "folder") => boolean;
  /** Whether content may be shown without a question: false for hidden files and for secrets without approval. */
  readonly shows: (relative: string) => boolean;
}

const onlyItself = [{ below: "", is: "file" }] as const;

export interface TreeUse {
  readonly target: Target;
  readonly permissions: readonly Permission[];
  /** Set for a single file that changes with the tree. */
  readonly only?: true;
}

/** Whether the user was asked, and which of the offered hunks the user chose, if not all of the change. */
export type Permit = "free" | "asked" | { readonly hunks: readonly number[] };

export interface How {
  /** What the question shows besides the path; called only if there is a question. */
  readonly preview?: () => Promise<Preview>;
  /** Nothing will be written, so there is no question and the mode does not matter. Deny rules apply. */
  readonly dryRun?: boolean;
}

export interface Wider {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly holds: "once" | "always";
}

export interface GuardOptions extends PolicyOptions {
  readonly disk: Disk;
  readonly base: string;
  /** `yes` approves every question about a file inside the roots, and none about folders outside. */
  readonly asker: Asker | "yes" | undefined;
  readonly policy?: Policy | undefined;
  readonly state?: SessionState | undefined;
  readonly mode?: Mode | undefined;
  readonly locked?: readonly Lock[] | undefined;
  readonly keepRule?: KeepRule | undefined;
  readonly externalDirectories?: "refuse" | "ask" | undefined;
}
