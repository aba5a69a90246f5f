/**
 * Which file is meant, may this session touch it, whom to ask. It looks and asks; it can create nothing and reads no
 * contents. Every tool and every surface goes through `permit`.
 */

import * as nodePath from "node:path";
import type { Asker } from "../contract/ask.ts";
import type { RealPath } from "../contract/brand.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { RuleText } from "../contract/rule.ts";
import type { Place, Target } from "../contract/target.ts";
import type { Disk } from "../disk/disk.ts";
import type { Found, Look } from "../disk/look.ts";
import { hiddenPatterns, type HiddenPatterns } from "./hidden-patterns.ts";
import { namedLinks } from "./named-links.ts";
import { pathFault, placeOf, relativeTo } from "./paths.ts";
import { ownRules, protectedRules } from "./protected.ts";
import { respelt } from "./respelt.ts";
import { compileRules, type Decision, escapePattern, type PathName, type RuleFault } from "./rules.ts";
import { defaultRules } from "./secrets.ts";

export type Permission = "read" | "edit";

/** What a path came to. Whoever resolved closes `found.held`. */
export type Resolved =
  | { readonly seen: "node"; readonly target: Target; readonly found: Found }
  | {
      readonly seen: "missing";
      readonly place: Place;
      readonly reason: "missing" | "file on the way";
      /** What a file that is created there would be; undefined where none can be. */
      readonly target: Target | undefined;
    }
  | { readonly seen: "outside"; readonly place: Place };

export interface Guard {
  /** Finds what is meant; throws a Problem for what can be neither found nor missing. */
  resolve(asked: string): Resolved;
  /**
   * Throws a Problem unless this session may do that to the target. `preview` is made only if somebody is asked: what
   * the question shows besides the path. Says whether somebody was asked.
   */
  permit(permission: Permission, target: Target, signal: AbortSignal, preview?: Preview): Promise<"free" | "asked">;
  /**
   * The rule that forbids this outright, if there is one: for what is missing, and for what a listing or a suggestion
   * may show. Absolute paths, all of them names of one thing.
   */
  denied(permission: Permission, paths: readonly string[], is: "file" | "folder"): RuleText | undefined;
  /** Is this a file whose content must not be kept anywhere: denied, or commonly a secret? */
  isSecret(path: string): boolean;
  /** Is this file hidden from searches: denied, or nobody has said yes to reading it? Absolute paths, names of one file. */
  hides(paths: readonly string[]): boolean;
  /** What surely is hidden, in the form of gitignore, for a search of a root or of a folder within. */
  hiddenPatterns(where: "root" | "within"): HiddenPatterns;
  /** Is there any rule that denies? If not, nothing needs to be asked about what a listing shows. */
  readonly denies: boolean;
  readonly ruleFaults: readonly RuleFault[];
}

export type Preview = () => Promise<Readonly<Record<string, unknown>>>;

export interface GuardOptions {
  readonly disk: Disk;
  /** Where relative paths start. */
  readonly base: string;
  readonly rules: readonly RuleText[];
  /** What is done about secrets that no rule speaks of. */
  readonly secrets: "ask" | "allow";
  readonly home: string | undefined;
  /** `yes`: every question about a file inside the roots is answered with yes. The border is no question. */
  readonly asker: Asker | "yes" | undefined;
  /** Where Filehand keeps its own files: no tool may touch them. */
  readonly stateDir?: string | undefined;
}

export function createGuard(options: GuardOptions): Guard {
  const { disk } = options;
  const base = nodePath.resolve(options.base);
  const rootPaths = disk.roots.flatMap((root) => [root.given, root.real]);
  const rules = compileRules(options.rules, { home: options.home });
  const links = namedLinks(options.rules, disk, options.home);
  const defaults = compileRules(options.secrets === "ask" ? defaultRules : [], { home: options.home });
  const secrets = compileRules(defaultRules, { home: options.home });
  const protectedOnes = compileRules(protectedRules, { home: options.home });
  const own = compileRules(ownRules(options.stateDir), { home: options.home });
  /** Rules that a person chose to keep for this session; they answer a question, they lift no deny. */
  let kept: readonly RuleText[] = [];

  /** A rule decides; else a secret asks; else a file inside the roots is free to read. */
  const decide = (permission: Permission, names: readonly PathName[]): Decision => {
    const ownFile = own.decide(permission, names);
    if (ownFile.verdict === "deny") return ownFile;
    const decision = rules.decide(permission, names);
    if (decision.verdict === "deny") return decision;
    const byLink = names.map((name) => links.deny(permission, name.absolute.replace(/\/$/, ""))).find(Boolean);
    if (byLink !== undefined) return { verdict: "deny", rule: byLink };
    const asksAlways = permission === "edit" ? protectedOnes.decide(permission, names) : undefined;
    if (asksAlways?.rule !== undefined) return asksAlways;
    // A project may not talk its reader's secrets free: only the operator's own rules lift the default.
    if (decision.verdict !== "allow" || (decision.rule && decision.rule.source !== "project settings")) return decision;
    const byDefault = defaults.decide(permission, names);
    return byDefault.rule === undefined ? decision : byDefault;
  };

  const denied: Guard["denied"] = (permission, paths, is) => {
    const names = paths.map((path) => nameOf(path, relativeTo(path, rootPaths, nodePath), is));
    const decision = decide(permission, names);
    return decision.verdict === "deny" ? decision.rule : undefined;
  };

  /** Whether a denied path exists, and what is wrong with it, is not told; nor by way of a link to its folder. */
  const refuseIfDenied = (place: Place, wouldBe: string | undefined): void => {
    const names = [place.absolute, wouldBe].filter(
      (name) => name !== undefined && relativeTo(name, rootPaths, nodePath) !== undefined,
    ) as string[]; // the filter leaves no undefined
    const rule = names.length === 0 ? undefined : denied("read", names, "file");
    if (rule === undefined) return;
    throw new Problem({ code: "ACCESS_DENIED", place, reason: "rule", rule: rule.text, source: rule.source });
  };

  return {
    hides(paths) {
      const names = paths.map((path) => nameOf(path, relativeTo(path, rootPaths, nodePath), "file"));
      const { verdict, rule } = decide("read", names);
      if (verdict !== "ask") return verdict === "deny";
      if (options.asker === "yes") return false;
      return rule?.source === "protected" || !names.some((name) => keptRule(kept, "read", name, options.home));
    },
    hiddenPatterns: (where) =>
      hiddenPatterns(options.rules, where, {
        // What a rule or an answer may have lifted is not left out beforehand.
        asked: options.asker !== "yes" && kept.length === 0 ? options.secrets : "allow",
      }),

    ruleFaults: rules.faults,
    denies: options.rules.some(({ verdict }) => verdict === "deny"),
    denied,

    isSecret(path) {
      const names = [nameOf(path, relativeTo(path, rootPaths, nodePath), "file")];
      return decide("read", names).verdict === "deny" || secrets.decide("read", names).rule !== undefined;
    },

    resolve(asked) {
      const fault = pathFault(asked, nodePath);
      if (fault !== undefined) throw new Problem({ code: "INVALID_PARAM", reason: "path", asked, fault });
      // Not normalised: `link/..` is the parent of what the link leads to, and only the walk knows that.
      // A slash behind a file's name is an ordinary slip.
      const typed = (nodePath.isAbsolute(asked) ? asked : `${base}${nodePath.sep}${asked}`).replace(
        /(?<=[^/])\/+$/,
        "",
      );
      const first = disk.look(typed);
      const other = first.seen === "missing" ? respelt(typed, disk) : undefined;
      const path = other ?? typed;
      const look = other === undefined ? first : disk.look(other);
      const place = { ...placeOf(other ?? asked, base, rootPaths, nodePath), asked };
      const above = look.seen === "node" ? undefined : nearestAbove(path, look, disk);
      if (look.seen !== "node") refuseIfDenied(place, above?.real);
      switch (look.seen) {
        case "node":
          return { seen: "node", target: targetOf(place, look, rootPaths), found: look };
        case "missing":
          return { seen: "missing", place, reason: look.reason, target: newTarget(place, above) };
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

    async permit(permission, target, signal, preview) {
      const decision = decide(permission, namesOf(target));
      if (decision.verdict === "allow") return "free";
      const rule = decision.rule;
      const text = rule === undefined ? "" : rule.text;
      if (decision.verdict === "deny") {
        throw new Problem({
          code: "ACCESS_DENIED",
          place: target,
          reason: "rule",
          rule: text,
          source: rule?.source ?? "",
        });
      }
      if (options.asker === "yes") return "free";
      // What can run code later is asked about each time.
      if (rule?.source !== "protected" && answeredBefore(kept, permission, target, options.home)) return "free";
      const narrow = `${permission === "read" ? "Read" : "Edit"}(${patternFor(target, disk)})`;
      // Ask is stronger than allow: a rule can only lift what asks by default.
      const remedy = rule === undefined || rule.source === "default" ? narrow : undefined;
      if (options.asker === undefined) {
        const data = { rule: text, remedy, feedback: undefined };
        throw new Problem({ code: "ACCESS_DENIED", place: target, reason: "nobody to ask", ...data });
      }
      const metadata = { path: target.absolute, rule: text, ...(await preview?.()) };
      const question = { permission, patterns: [target.real], always: [narrow], metadata };
      const answer = await options.asker(question, signal);
      if (answer.reply === "reject") {
        const data = { rule: text, remedy, feedback: answer.feedback };
        throw new Problem({ code: "ACCESS_DENIED", place: target, reason: "rejected", ...data });
      }
      if (answer.reply === "always") {
        kept = [...kept, { verdict: "allow", text: answer.rule ?? narrow, source: "session" }];
      }
      return "asked";
    },
  };
}

interface Above {
  /** The real name that the path would have. */
  readonly real: string;
  readonly root: RealPath;
  readonly kind: Found["kind"];
}

/** For a path that names nothing: the nearest thing above it decides. */
function nearestAbove(path: string, seen: Look, disk: Disk): Above | undefined {
  if (seen.seen === "missing" && seen.nearest !== undefined) {
    const { real, root, rest } = seen.nearest;
    return { real: nodePath.resolve(real, rest), root: root.real, kind: "directory" };
  }
  // A path of thousands of names must not cost as many lookups.
  if (seen.seen === "too long") return undefined;
  let above = nodePath.dirname(path);
  for (let tries = 1; tries <= limits.lookupsAboveMax; tries += 1, above = nodePath.dirname(above)) {
    const look = disk.look(above);
    if (look.seen === "node") {
      look.held.close();
      const real = nodePath.resolve(nodePath.join(look.real, path.slice(above.length)));
      return { real, root: look.root.real, kind: look.kind };
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
  return { ...place, real: above.real as RealPath, realRelative, root: above.root, is: "file" };
}

/** The system's own refusal, in our words. */
export function refusal(place: Place, errno: string, during: string): Problem {
  if (errno === "EACCES" || errno === "EPERM") return new Problem({ code: "ACCESS_DENIED", place, reason: "system" });
  if (errno === "ESTALE" || errno === "ENOENT") return new Problem({ code: "CHANGED", place });
  return new Problem({ code: "IO_ERROR", place, errno, during });
}

function targetOf(place: Place, found: Found, rootPaths: readonly string[]): Target {
  const realRelative = relativeTo(found.real, [found.root.real], nodePath) ?? "";
  const shown = found.bent
    ? {
        asked: place.asked,
        absolute: found.real,
        relative: relativeTo(found.real, rootPaths, nodePath) ?? realRelative,
      }
    : place;
  const is = found.kind === "directory" ? "folder" : "file";
  return { ...shown, real: found.real, realRelative, root: found.root.real, is };
}

/** Both names of a target: a rule may speak of the link or of what it leads to. */
function namesOf(target: Target): readonly PathName[] {
  const real = nameOf(target.real, target.realRelative, target.is);
  if (target.absolute === target.real) return [real];
  const below = target.relative === target.absolute ? undefined : target.relative;
  return [nameOf(target.absolute, below, target.is), real];
}

/** A folder's name ends in a slash, so that a rule for files (`.env`) does not speak of it. */
function nameOf(absolute: string, relative: string | undefined, is: "file" | "folder"): PathName {
  const mark = is === "folder" && relative !== "" ? "/" : "";
  return { absolute: absolute + mark, relative: relative === undefined ? undefined : relative + mark };
}

/** A pattern for this very file. `/x` would mean the `x` of every root. */
function patternFor(target: Target, disk: Disk): string {
  if (disk.roots.length === 1) return `/${escapePattern(target.realRelative)}`;
  const slashed = nodePath.sep === "\\" ? target.real.replaceAll("\\", "/") : target.real;
  return `//${escapePattern(slashed.replace(/^\/+/, ""))}`;
}

/** The question named the real path, so that is what was answered, by whatever link the file is asked for now. */
function answeredBefore(
  kept: readonly RuleText[],
  permission: Permission,
  target: Target,
  home: string | undefined,
): boolean {
  return keptRule(kept, permission, nameOf(target.real, target.realRelative, target.is), home);
}

const keptRule = (
  kept: readonly RuleText[],
  permission: Permission,
  name: PathName,
  home: string | undefined,
): boolean => kept.length > 0 && compileRules(kept, { home }).decide(permission, [name]).rule !== undefined;
