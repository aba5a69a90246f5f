/** What a guard promises to those who ask it, and what it is made of. */

import type { Asker, RuleKeeper } from "../contract/ask.ts";
import type { Lock, Mode } from "../contract/mode.ts";
import type { Explanation, Permission } from "../contract/permission.ts";
import type { RuleText } from "../contract/rule.ts";
import type { Place, Target } from "../contract/target.ts";
import type { Disk } from "../disk/disk.ts";
import type { Found, Held, LookAlso, Root } from "../disk/look.ts";
import type { HiddenPatterns } from "./hidden-patterns.ts";
import type { Policy, PolicyOptions } from "./policy.ts";
import type { RuleFault } from "./rules.ts";
import type { SessionState } from "./session-state.ts";

/** What a path came to. Whoever resolved closes `found.held`. */
export type Resolved =
  | { readonly seen: "node"; readonly target: Target; readonly found: Found }
  | {
      readonly seen: "missing";
      readonly place: Place;
      readonly reason: "missing" | "file on the way";
      /** What a file that is created there would be; undefined where none can be. */
      readonly target: Target | undefined;
      /** The folder that it would be in, if that was asked for and is at hand. Whoever asked closes it. */
      readonly folder?: Held | undefined;
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
  resolve(asked: string, also?: LookAlso): Resolved;
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
