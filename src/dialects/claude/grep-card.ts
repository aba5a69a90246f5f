/** `Grep` in the `claude` dialect. */

import * as z from "zod/mini";
import type { GrepMode } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import type { Card } from "../dialect.ts";
import type { GrepNames } from "../grep-text.ts";
import { integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import description from "./grep.txt";

export const grepNames: GrepNames = { offset: "offset", glob: "glob", multiline: "multiline" };

const entriesDefault = 250;
const lineChars = 500;

const modes = { content: "content", files_with_matches: "files", count: "count" } as const satisfies Readonly<
  Record<string, GrepMode>
>;
export type OutputMode = keyof typeof modes;

const context = () => z.optional(integer({ min: 0, max: limits.contextLinesMax }));

const grepInput = z.strictObject({
  pattern: z.string(),
  path: z.optional(z.string()),
  glob: z.optional(z.string()),
  type: z.optional(z.string()),
  output_mode: z.optional(z.enum(["content", "files_with_matches", "count"])),
  "-A": context(),
  "-B": context(),
  "-C": context(),
  "-n": z.optional(z.boolean()),
  "-i": z.optional(z.boolean()),
  multiline: z.optional(z.boolean()),
  head_limit: z.optional(integer({ min: 0, max: limits.searchEntriesMax })),
  offset: z.optional(integer({ min: 0, max: limits.searchSkipMax })),
});

/** What a call of `Grep` may hold. */
export interface GrepInput {
  /** A regular expression, in ripgrep's syntax. */
  readonly pattern: string;
  /** Folder or file to search; the whole workspace by default. */
  readonly path?: string;
  /** Which files, such as "*.ts" or "src/**". */
  readonly glob?: string;
  /** Which type of files, as ripgrep names them. */
  readonly type?: string;
  /** "files_with_matches" by default. */
  readonly output_mode?: OutputMode;
  /** Lines of context behind, before and around a match; in "content". */
  readonly "-A"?: number;
  readonly "-B"?: number;
  readonly "-C"?: number;
  /** Line numbers; true by default. */
  readonly "-n"?: boolean;
  /** Ignore upper and lower case. */
  readonly "-i"?: boolean;
  /** May a match reach over line ends? */
  readonly multiline?: boolean;
  /** How many lines or files; 250 by default, 0 for as many as one answer holds. */
  readonly head_limit?: number;
  /** How many lines or files to skip first. */
  readonly offset?: number;
}

export const grep: Card = {
  name: "Grep",
  verb: "grep",
  description,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(grepInput, {
      pattern: { description: "Regular expression, in ripgrep's syntax" },
      path: { description: "Folder or file to search; the whole workspace by default" },
      glob: { description: 'Which files to search: "*.ts", "*.{js,mjs}", "src/**", "!*.test.ts"' },
      type: { description: 'Type of files to search, as ripgrep names them: "ts", "py", "rust"' },
      output_mode: {
        description: "Matching lines, only the files they are in, or how many each file has",
        default: "files_with_matches",
      },
      "-A": { description: "Lines to show behind each match (content only)" },
      "-B": { description: "Lines to show before each match (content only)" },
      "-C": { description: "Lines to show before and behind each match (content only)" },
      "-n": { description: "Show line numbers (content only)", default: true },
      "-i": { description: "Ignore upper and lower case", default: false },
      multiline: { description: "Let a match reach over line ends, and let . match them", default: false },
      head_limit: {
        description: "How many lines or files to show; 0 for as many as one answer holds",
        default: entriesDefault,
      },
      offset: { description: "How many lines or files to skip first, to go on where an answer ended", default: 0 },
    });
  },
  toRequest(input) {
    const given = parseArguments(grepInput, "Grep", input);
    const around = given["-C"] ?? 0;
    const limit = given.head_limit ?? entriesDefault;
    return {
      verb: "grep",
      pattern: given.pattern,
      path: given.path ?? undefined,
      glob: given.glob || undefined,
      types: typesOf(given.type),
      mode: modes[given.output_mode ?? "files_with_matches"],
      before: given["-B"] ?? around,
      after: given["-A"] ?? around,
      letterCase: given["-i"] === true ? "any" : "exact",
      reach: given.multiline === true ? "lines" : "line",
      numbers: given["-n"] ?? true,
      skip: given.offset ?? 0,
      entriesMax: limit === 0 ? limits.searchEntriesMax : limit,
      order: "newest",
      lineCharsMax: lineChars,
    };
  },
};

const typesOf = (text: string | null | undefined): readonly string[] =>
  (text ?? "").split(/[\s,]+/).filter((type) => type !== "");
