/** The one place where rooms meet: a toolkit holds what is shared, a session what one conversation knows. */

import { homedir } from "node:os";
import * as nodePath from "node:path";
import type { Asker, Clock } from "./contract/ask.ts";
import type { Reply, ToolDefinition } from "./contract/call.ts";
import { FilehandError } from "./contract/failure.ts";
import { type Code, Problem, type ProblemData } from "./contract/problem.ts";
import type { Profile } from "./contract/profile.ts";
import type { RuleText } from "./contract/rule.ts";
import type { Request } from "./contract/verb.ts";
import type { Dialect, Facts } from "./dialects/dialect.ts";
import { type DialectName, type DialectTools, dialectNames, dialects } from "./dialects/index.ts";
import { nearest } from "./dialects/nearest.ts";
import { createDisk, RootError } from "./disk/disk.ts";
import { createIndexStore } from "./disk/index-store.ts";
import { createGuard } from "./guard/guard.ts";
import { relativeTo } from "./guard/paths.ts";
import { compileRestricted } from "./kinds/restricted.ts";
import { renderPages } from "./pages.ts";
import { runTool } from "./tools/index.ts";

export interface FilehandOptions {
  /** The folders that may be worked in. */
  readonly roots: readonly string[];
  /** Where relative paths start; the first root by default. */
  readonly cwd?: string;
  /** The dialect of sessions that name none; `claude` by default. */
  readonly dialect?: DialectName;
  /** Permission rules, such as `Read(secrets/**)`. */
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** The same with the place each rule comes from, for hosts that have several. */
  readonly rules?: readonly RuleText[];
  /** Whom to ask when a rule says so. `"yes"` answers every question about files inside the roots. */
  readonly ask?: Asker | "yes";
  /** Do secrets (`.env`, keys) ask before they are read? They do by default. */
  readonly secrets?: "ask" | "allow";
  /** Changes to the list of restricted extensions and names. */
  readonly restricted?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  /** Tokens of one page in the `claude` dialect; 25,000 by default. */
  readonly pageTokensMax?: number;
  /** Characters after which a line is cut; each dialect has a number of its own. */
  readonly lineCharsMax?: number;
  /** Is the reminder about malware appended in the `claude` dialect? It is by default. */
  readonly reminder?: boolean;
  /** The model that reads the answers. */
  readonly model?: string;
  /** Folder for what is kept between runs, such as the line indexes of large files; nothing is kept without it. */
  readonly stateDir?: string;
  /** What `~` means in rules; the user's home folder by default. */
  readonly home?: string;
  readonly clock?: Clock;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Told now and then how far a long scan is. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** The tools of a dialect as functions. They throw a FilehandError where the dialect throws. */
export type ToolFunctions<Name extends DialectName> = {
  readonly [Tool in keyof DialectTools[Name]]: DialectTools[Name][Tool] extends {
    input: infer Input;
    output: infer Output;
  }
    ? (input: Input, options?: CallOptions) => Promise<Output>
    : never;
};

export interface Session<Name extends DialectName = DialectName> {
  readonly dialect: Name;
  /** One call as a model writes it. Answers with a reply, also for a failure; throws only for a bug. */
  call(tool: string, input: unknown, options?: CallOptions): Promise<Reply>;
  /** One neutral request, answered in the session's dialect. */
  run(request: (profile: Profile) => Request, options?: CallOptions): Promise<Reply>;
  readonly tools: ToolFunctions<Name>;
  /** The tools for an agent loop: name, description, JSON schema, execute. */
  definitions(): readonly ToolDefinition[];
}

export interface Filehand {
  /** The roots with their links resolved. */
  readonly roots: readonly string[];
  session(): Session;
  session<Name extends DialectName>(options: { readonly dialect: Name }): Session<Name>;
  /** Rules that are malformed or can never match. */
  readonly ruleFaults: readonly { readonly text: string; readonly source: string; readonly why: string }[];
}

export function createFilehand(options: FilehandOptions): Filehand {
  const disk = diskAt(options.roots);
  dialectNamed(options.dialect ?? "claude");
  const restricted = compileRestricted(options.restricted);
  const indexes = createIndexStore(options.stateDir);
  const guardOptions = {
    disk,
    base: options.cwd ?? disk.roots[0]?.given ?? "",
    rules: [...rulesOf(options.permissions), ...(options.rules ?? [])],
    secrets: options.secrets ?? "ask",
    home: options.home ?? homedir(),
    asker: options.ask,
  } as const;
  const cwd =
    relativeTo(
      guardOptions.base,
      disk.roots.flatMap(({ given, real }) => [given, real]),
      nodePath,
    ) || ".";
  const clock = options.clock ?? { nowMs: () => performance.now() };

  const session = <Name extends DialectName>(chosen: { readonly dialect: Name }): Session<Name> => {
    const dialect = dialectNamed(chosen.dialect);
    const profile = tuned(dialect.profile, options);
    const guard = createGuard(guardOptions);

    /** The only catch: a Problem becomes a reply, a bug stays a bug. */
    const answer = async (
      tool: string,
      input: unknown,
      toRequest: () => Request,
      given: CallOptions,
    ): Promise<Reply> => {
      const signal = given.signal ?? new AbortController().signal;
      const startedMs = clock.nowMs();
      const facts = (): Facts => {
        const elapsedMs = Math.max(0, clock.nowMs() - startedMs);
        return { tool, input, elapsedMs, cwd, reminder: options.reminder ?? true, model: options.model };
      };
      try {
        signal.throwIfAborted();
        const outcome = await runTool(toRequest(), {
          disk,
          guard,
          restricted,
          indexes,
          signal,
          onProgress: given.onProgress,
        });
        return renderPages(dialect, outcome, facts());
      } catch (error) {
        if (error instanceof Problem) return dialect.renderProblem(error.data, facts());
        if (signal.aborted && error === signal.reason)
          return dialect.renderProblem({ code: "CANCELLED", tool }, facts());
        throw error;
      }
    };

    const call: Session["call"] = (tool, input, given = {}) =>
      answer(tool, input, () => cardNamed(dialect, tool).toRequest(input, profile), given);

    return {
      dialect: chosen.dialect,
      call,
      run: (request, given = {}) =>
        answer(request(profile).verb, { path: request(profile).path }, () => request(profile), given),
      tools: Object.fromEntries(
        dialect.cards.map(({ name }) => [
          name,
          async (input: unknown, given?: CallOptions) => orThrow(dialect, await call(name, input, given)),
        ]),
      ) as ToolFunctions<Name>, // one function per card, and the cards are what DialectTools lists
      definitions: () =>
        dialect.cards.map(({ name, description, inputSchema, readOnly }) => ({
          name,
          description,
          inputSchema,
          readOnly,
          execute: (input, given) => call(name, input, given),
        })),
    };
  };

  return {
    roots: disk.roots.map((root) => root.real),
    session: (chosen?: { readonly dialect: DialectName }) =>
      session(chosen ?? { dialect: options.dialect ?? "claude" }),
    ruleFaults: createGuard(guardOptions).ruleFaults,
  } as Filehand; // the overloads of `session` say which dialect comes back
}

function diskAt(roots: readonly string[]): ReturnType<typeof createDisk> {
  if (!Array.isArray(roots) || roots.length === 0) {
    throw new FilehandError("NO_ROOT", "Cannot start without a workspace: name at least one folder in roots");
  }
  try {
    return createDisk(roots);
  } catch (error) {
    if (error instanceof RootError) throw new FilehandError("NO_ROOT", error.message);
    throw error;
  }
}

function dialectNamed(name: string): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name as DialectName]; // checked by the line itself
  const near = nearest(String(name), dialectNames);
  const hint = near === undefined ? `use one of ${dialectNames.join(", ")}` : `did you mean ${near}`;
  throw new FilehandError("UNKNOWN_DIALECT", `Cannot speak the dialect "${name}": there is no such dialect, ${hint}`);
}

function cardNamed(dialect: Dialect, tool: string): Dialect["cards"][number] {
  const card = dialect.cards.find(({ name }) => name === tool);
  if (card !== undefined) return card;
  const known = dialect.cards.map(({ name }) => name);
  const data: ProblemData = { code: "UNKNOWN_TOOL", tool: String(tool), known, nearest: nearest(String(tool), known) };
  throw new Problem(data);
}

/** What the operator may change in a profile. */
function tuned(profile: Profile, options: FilehandOptions): Profile {
  const { pageTokensMax, lineCharsMax } = options;
  return {
    ...profile,
    ...(profile.pageTokensMax !== undefined && pageTokensMax !== undefined ? { pageTokensMax } : {}),
    ...(lineCharsMax === undefined ? {} : { lineCharsMax }),
  };
}

const rulesOf = (permissions: FilehandOptions["permissions"] = {}): readonly RuleText[] =>
  (["allow", "ask", "deny"] as const).flatMap((verdict) =>
    (permissions[verdict] ?? []).map((text) => ({ verdict, text, source: "options" })),
  );

function orThrow(dialect: Dialect, reply: Reply): unknown {
  if (dialect.failures === "returned" || !reply.isError || reply.error === undefined) return reply.structured;
  throw new FilehandError(reply.error.code as Code, reply.error.message); // dialects take the code from the problem
}
