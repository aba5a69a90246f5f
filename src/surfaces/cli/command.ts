/** A command as data: the same table feeds the parser, the help and the docs. */

import type { Readable, Writable } from "node:stream";

/** What a command gets of the process. Commands use nothing else of the outside world. */
export interface Host {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly signal: AbortSignal;
  /** A monotonic clock; by default that of the process. */
  readonly nowMs?: () => number;
  /** Starts this program again for work in the background; left out if no process may outlive the command. */
  readonly background?: (args: readonly string[]) => void;
  /** Called by a command whose work is not its output: from then on a closed stdout does not end it. */
  readonly outliveReaders?: () => void;
  /** Called at the end; work that it starts is awaited. */
  readonly onIdle?: (work: () => void) => void;
  /** Ends the process at once without flushing output, which could wait for its reader forever. */
  readonly abandon?: () => void;
  /** Absolute paths of Node and of the script of this program. */
  readonly program?: readonly string[];
  /** Whether the arguments are as typed. Asked only if they contain U+FFFD, which replaces invalid bytes. */
  readonly argumentsAreUtf8?: () => boolean;
}

/** How an option's value is read: `flag` has none, `list` may be given several times. */
export interface Option {
  readonly type: "flag" | "text" | "integer" | "list";
  /** The value's name in the help: `--limit N`. */
  readonly value?: string;
  readonly words: string;
  /** Its one-letter form: `-i`. */
  readonly short?: string;
  /** Refuses an empty value, such as that of an unset variable, because it would change the meaning of the command. */
  readonly empty?: "refused";
  readonly min?: number;
  readonly max?: number;
}

export type Options = Readonly<Record<string, Option>>;

type More = Omit<Option, "type" | "words">;

export const notEmpty: More = { empty: "refused" };

export const option = {
  flag: (words: string, short?: string): Option => ({ type: "flag", words, ...(short && { short }) }),
  text: (value: string, words: string, more?: More): Option => ({ type: "text", value, words, ...more }),
  list: (value: string, words: string, more?: More): Option => ({ type: "list", value, words, ...more }),
  integer: (words: string, more?: More): Option => ({ type: "integer", value: "N", words, ...more }),
};

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The arguments: `<path>` is required, `[path]` is optional, `[path...]` may be several. */
  readonly parameters: readonly string[];
  readonly options: Options;
  readonly details?: string;
  readonly examples: readonly string[];
  run(given: Given, host: Host): Promise<ExitCode>;
}

/** 0: done. 1: the tool refused or failed. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2 | CommandExit;

/** That of the command which `filehand run` ran. */
export type CommandExit = number & { readonly brand: "CommandExit" };

export interface Given {
  /** All arguments after the name of the command, as typed. */
  readonly argv: readonly string[];
  readonly parameters: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  integer(name: string): number | undefined;
  list(name: string): readonly string[];
}

/** Wrong usage: reported with a hint, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
