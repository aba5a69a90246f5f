/** The input of `opencode-legacy` that differs. Made by npm run generate from the tools' parameters; do not edit. */

/** What a call of `read` may hold. */
export interface ReadInput {
  /** Path of the file. */
  readonly filePath: string;
  /** How many lines to skip; 0 is the beginning. */
  readonly offset?: number;
  /** How many lines to return; 2000 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: how many of its characters to skip; only the line after the skipped ones is shown then. */
  readonly column?: number;
}
