/** What a command is, as data: the same table feeds the parser, the help and the docs. */

import type { Readable, Writable } from "node:stream";

/** What the process hands to a command. Commands touch nothing else of the world. */
export interface Host {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly signal: AbortSignal;
  /** How long something takes; by default the clock of the process. */
  readonly nowMs?: () => number;
  /** Starts this program once more, for work that nobody waits for; left out where nothing may outlive the command. */
  readonly background?: (args: readonly string[]) => void;
  /** Said by a command whose work is not what it prints: from now on it does not end when nobody reads stdout. */
  readonly outliveReaders?: () => void;
  /** Called when nothing is left to do; what it begins is waited for. */
  readonly onIdle?: (work: () => void) => void;
  /** Ends the process at once, and leaves what nobody reads: it would wait for its reader for ever. */
  readonly abandon?: () => void;
  /** What starts this program: Node and the script, by their whole paths. */
  readonly program?: readonly string[];
  /** Are the arguments what was typed? Asked only if they hold the character that stands for what is none. */
  readonly argumentsAreUtf8?: () => boolean;
}

/** How an option's value is read: `flag` has none, `list` may be given several times. */
export interface Option {
  readonly type: "flag" | "text" | "integer" | "list";
  /** The value's name in the help: `--limit N`. */
  readonly value?: string;
  readonly words: string;
  /** One letter that stands for it: `-i`. */
  readonly short?: string;
  /** An empty value, as of a variable that is not set, would mean something that nobody asked for. */
  readonly empty?: "refused";
}

export type Options = Readonly<Record<string, Option>>;

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What stands behind the name: `<path>` is needed, `[path]` may be left out, `[path...]` may be several. */
  readonly parameters: readonly string[];
  readonly options: Options;
  readonly details?: string;
  readonly examples: readonly string[];
  run(given: Given, host: Host): Promise<ExitCode>;
}

/** 0: done. 1: the tool said no. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The command line, parsed: every value has the type that its option says. */
export interface Given {
  readonly parameters: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  integer(name: string): number | undefined;
  list(name: string): readonly string[];
}

/** Wrong usage: told with a hint, ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
