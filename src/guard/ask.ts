/** The question to the user: what it contains, and what follows from the answer. */

import * as nodePath from "node:path";
import type { Answer, Asker, Keep, KeepRule, OfferedHunk } from "../contract/ask.ts";
import type { Decider, Lock, Permission } from "../contract/permission.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import { absolutePattern } from "./paths.ts";
import { escapePattern, type RulePermission } from "./patterns.ts";
import { coversAll, type SessionState } from "./session-state.ts";

export interface Asking {
  readonly permission: RulePermission;
  /** The first file in question, for errors. */
  readonly place: Place;
  /** The real paths in question. */
  readonly reals: readonly string[];
  /** The same paths for rules: an "always" must cover all of them. */
  readonly names: readonly PathName[];
  /** The rule that asks; empty if the default asks. */
  readonly rule: string;
  readonly remedy: string | undefined;
  readonly everyTime: boolean;
  readonly offered: Pick<Offered, "rules" | "keep">;
  readonly metadata: () => Promise<Preview>;
}

/** What a question shows besides the path: its metadata, and the parts of the change that can be accepted one by one. */
export interface Preview extends Readonly<Record<string, unknown>> {
  readonly hunks?: readonly OfferedHunk[];
}

/** How the user agreed. `hunks`: to these parts only, in ascending order. */
export interface Agreed {
  readonly holds: "once" | "always";
  readonly hunks?: readonly number[];
}

export interface AskContext {
  readonly asker: Asker | undefined;
  readonly keepRule: KeepRule | undefined;
  readonly state: SessionState;
  readonly home: string | undefined;
}

/** Throws a Problem unless the user agrees. Returns how long the approval lasts, and what it covers. */
export async function ask(asking: Asking, context: AskContext, signal: AbortSignal): Promise<Agreed> {
  const { permission, place, rule, remedy, everyTime, offered } = asking;
  const refused = { code: "ACCESS_DENIED", place, rule, remedy, everyTime } as const;
  const { asker } = context;
  const nobody = { ...refused, reason: "nobody to ask", feedback: undefined } as const;
  if (asker === undefined) throw new Problem(nobody);
  const { hunks = [], ...shown } = await asking.metadata();
  const metadata = { path: place.absolute, rule, ...shown };
  const always = offered.rules.map(({ here }) => here);
  const question = {
    permission,
    patterns: asking.reals,
    always,
    keep: offered.keep,
    metadata,
    ...(hunks.length > 0 && { hunks }),
  };
  const answer: Partial<Answer> | undefined | null = await asker(question, signal);
  // A host without types may answer anything; only a well-formed approval counts.
  if (!isAnswer(answer)) throw new TypeError(notAnAnswer(place.asked, answer));
  if (answer.reply === "nobody") throw new Problem(answer.closed === true ? { ...nobody, closed: true } : nobody);
  if (answer.reply === "reject") throw new Problem({ ...refused, reason: "rejected", feedback: answer.feedback });
  const fault = hunksFault(answer, hunks.length);
  if (fault !== undefined) throw new TypeError(wrongAnswer(place.asked, ...fault));
  if (answer.reply === "once") {
    if (answer.hunks === undefined) return { holds: "once" };
    return { holds: "once", hunks: answer.hunks.toSorted((a, b) => a - b) };
  }
  if (offered.rules.length === 0) return { holds: "once" };
  const chosen = answer.rule ?? always[0] ?? "";
  // The host may send a rule that does not cover the question.
  if (!coversAll(chosen, permission, asking.names, context.home)) return { holds: "once" };
  context.state.keep(chosen);
  await store(chosen, answer.keep ?? "session", offered, context);
  return { holds: "always" };
}

/** What an approval says of hunks, and what it should say; undefined if that is fine. A host may answer without types. */
function hunksFault(
  answer: Extract<Answer, { readonly reply: "once" | "always" }>,
  offered: number,
): readonly [said: string, way: string] | undefined {
  const { hunks } = answer as { readonly hunks?: unknown }; // whatever the types say
  if (hunks === undefined) return undefined;
  const way =
    offered === 0
      ? "let it answer without hunks, because this question can only be answered as a whole"
      : `let it name each hunk once, as an integer from 0 to ${offered - 1}, or answer { reply: "reject" } if it wants none`;
  if (answer.reply === "always") return ['hunks with the reply "always"', 'let it name hunks with "once" only'];
  if (!Array.isArray(hunks)) return [`hunks that are ${spelled(hunks)}`, way];
  if (hunks.length === 0) return ["an empty list of hunks", way];
  const named = new Set<unknown>();
  for (const hunk of hunks as readonly unknown[]) {
    const isOffered = typeof hunk === "number" && Number.isInteger(hunk) && hunk >= 0 && hunk < offered;
    const shown = typeof hunk === "number" ? String(hunk) : spelled(hunk);
    if (!isOffered) return [`the hunk ${shown} of ${offered}`, way];
    if (named.has(hunk)) return [`the hunk ${shown} twice`, way];
    named.add(hunk);
  }
  return undefined;
}

const replies: readonly unknown[] = ["once", "always", "reject", "nobody"] satisfies readonly Answer["reply"][];

const isAnswer = (answer: Partial<Answer> | undefined | null): answer is Answer => replies.includes(answer?.reply);

function notAnAnswer(asked: string, answer: Partial<Answer> | undefined | null): string {
  const said =
    typeof answer === "object" && answer !== null
      ? `an object whose reply is ${spelled(answer.reply)}`
      : spelled(answer);
  const way = 'let it answer { reply: "once" | "always" | "reject" | "nobody" }';
  return wrongAnswer(asked, said, way);
}

const wrongAnswer = (asked: string, said: string, way: string): string =>
  `Cannot ask about ${JSON.stringify(asked)}: the host's asker answered ${said} and nothing was done, ${way}`;

const spelled = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : typeof value);

/** A rule that cannot be stored lasts for the session; the `KeepRule` reports why. */
async function store(chosen: string, keep: Keep, offered: Asking["offered"], { keepRule }: AskContext): Promise<void> {
  if (keep === "session" || !offered.keep.includes(keep)) return;
  const offer = offered.rules.find(({ here }) => here === chosen);
  await keepRule?.(keep === "user" ? (offer?.anywhere ?? chosen) : chosen, keep);
}

// The rules that would answer a question for good, narrowest first, and where they could be stored. Pure.

export interface Offer {
  readonly here: string;
  readonly anywhere: string;
}

interface Offered {
  /** The rule for exactly this file; a remedy even where nothing can be stored. */
  readonly narrowest: string;
  readonly rules: readonly Offer[];
  readonly keep: readonly Keep[];
}

/** The offers of several files as those of one: rules that cover all of them, and the places that are open to each. */
export function offersForAll(
  offered: readonly [Offered, ...Offered[]],
  permission: RulePermission,
  names: readonly PathName[],
  home: string | undefined,
): Offered {
  const [first, ...others] = offered;
  if (others.length === 0) return first;
  const rules = others.some((one) => one.rules.length === 0)
    ? []
    : first.rules.filter(({ here }) => coversAll(here, permission, names, home));
  const keep = first.keep.filter((place) => others.every((one) => one.keep.includes(place)));
  return { narrowest: rules[0]?.here ?? first.narrowest, rules, keep: rules.length === 0 ? [] : keep };
}

export interface Circumstances {
  readonly by: Decider;
  readonly isExternal: boolean;
  /** `/x` means `x` in every root. */
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
  // Files that can run code later are asked about each time.
  if (at.by === "protected" || at.locked.includes("rules")) return { narrowest: file.here, rules: [], keep: [] };
  const folder = target.realRelative.split("/").slice(0, -1).join("/");
  const wider: Offer[] = [];
  // A folder of secrets is no narrow answer, so only the file itself is offered.
  if (permission === "edit" && !at.isExternal) {
    const real = target.real.slice(0, target.real.length - target.realRelative.length).replace(/[\\/]$/, "");
    if (folder !== "") wider.push(offer(`/${escapePattern(folder)}/**`, `${absolutePattern(`${real}/${folder}`)}/**`));
    wider.push(offer("/**", `${absolutePattern(real)}/**`));
  }
  return { narrowest: file.here, rules: [file, ...wider], keep: keepsFor(at) };
}

function keepsFor({ by, canStore, trustProject }: Circumstances): readonly Keep[] {
  // An allow rule does not override an ask rule, so storing it in settings would not help.
  if (!canStore || by === "rule") return ["session"];
  // Project rules do not override the question about secrets either.
  return by === "secret" || !trustProject ? ["session", "user"] : ["session", "project", "user"];
}

// What the user should know before an unprotected file is changed: programs or agents act on its content later.

/** `build`: names commands that are run. `instructions`: agents follow it. */
export type Caution = "build" | "instructions";

const builds: ReadonlySet<string> = new Set(
  [
    "package.json makefile gnumakefile justfile taskfile.yml rakefile gruntfile.js gulpfile.js dockerfile",
    "docker-compose.yml compose.yaml build.gradle build.gradle.kts pom.xml setup.py pyproject.toml",
    "cargo.toml build.rs cmakelists.txt gemfile composer.json .gitattributes",
  ].flatMap((names) => names.split(" ")),
);

const instructions: ReadonlySet<string> = new Set(["agents.md", "claude.md", "gemini.md", ".cursorrules", "skill.md"]);

export function cautionOf(path: string): Caution | undefined {
  const name = nodePath.basename(path).toLowerCase();
  if (builds.has(name)) return "build";
  return instructions.has(name) ? "instructions" : undefined;
}
