/** What differs between dialects when a file is read, as plain data inside the request. */

/** What becomes of a file of a kind: shown, refused, or passed on to the next kind that knows it. */
export type Treatment = "read" | "refuse" | "skip";

/** How the number in front of a line looks; a constant of its dialect. */
export interface NumberStyle {
  /** Shorter numbers are filled up with `pad` on the left. */
  readonly digitsMin: number;
  readonly pad: " " | "0";
  /** Between the number and the line. */
  readonly mark: string;
}

export interface Profile {
  /**
   * `split`: lines are what stands between newlines, so a final newline yields one more, empty line and `\r` stays.
   * `terminated`: a newline ends a line, so a final one adds none, and the `\r` of `\r\n` is not shown.
   */
  readonly lines: "split" | "terminated";
  /** UTF-16 units; a longer line is cut there and gets `cutMark`. */
  readonly lineCharsMax: number;
  readonly cutMark: string;
  /** UTF-8 bytes of the cut lines, and one more for every line but the first. */
  readonly pageBytesMax: number;
  /** Bytes that one answer may have, if there is such a limit: a page of more bytes would only be made shorter again. */
  readonly answerBytesMax?: number;
  /** Tokens of a page as a model gets it, if the dialect has such a budget. */
  readonly pageTokensMax: number | undefined;
  /** The numbers that the dialect puts in front of the lines: they are part of what the budget counts. */
  readonly numbers: NumberStyle | undefined;
  /** Is the exact number of lines wanted even where the page ends before the file does? */
  readonly total: "always" | "at the end";
  /** What a start past the end is. */
  readonly pastEnd: "refused" | "empty";
  /** A NUL within this many first bytes makes a file binary. */
  readonly nulSampleBytes: number;
  /** What a code file is answered with that has more than one page, if the call names no part of it. */
  readonly longCode: "first page" | "outline";
  /** What the same part of an unchanged file is answered with, when the session has it already. */
  readonly repeats: "stub" | "content";
  /** Is a document handed out as the file that it is, while it is small enough, or as its pages? */
  readonly documents: "attached" | "pages";
  readonly kinds: {
    readonly directory: Treatment;
    readonly image: Treatment;
    readonly pdf: Treatment;
    readonly notebook: Treatment;
    readonly office: Treatment;
  };
}
