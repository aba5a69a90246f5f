/** The differences between dialects when a file is read, as plain data inside the request. */

/** `skip`: the next kind that recognises the file reads it. */
export type Treatment = "read" | "refuse" | "skip";

export interface NumberStyle {
  /** Shorter numbers are padded with `pad` on the left. */
  readonly digitsMin: number;
  readonly pad: " " | "0";
  /** Between the number and the line. */
  readonly mark: string;
  /** Set if only some lines have a number: those that it divides, the first one of a page, and the last one before a notice. */
  readonly every?: number;
}

/** The forms of line numbers that a host can choose, in dialects whose tradition does not fix the form. */
export const lineNumberForms = ["arrow", "tab", "every-5", "every-10", "none"] as const;
export type LineNumbers = (typeof lineNumberForms)[number];

export interface Profile {
  /**
   * `split`: newlines separate lines, so a final newline yields one more, empty line, and `\r` is part of a line.
   * `terminated`: a newline ends a line, so a final one adds none, and the `\r` of `\r\n` is not shown.
   */
  readonly lines: "split" | "terminated";
  /** UTF-16 units; a longer line is truncated and gets `cutMark`. */
  readonly lineCharsMax: number;
  readonly cutMark: string;
  /** UTF-8 bytes of the truncated lines, plus one for every line but the first. */
  readonly pageBytesMax: number;
  /** The byte limit of a whole reply, if there is one: a larger page would be shortened again. */
  readonly answerBytesMax?: number;
  /** Tokens of a page as the model gets it, if the dialect has a budget. */
  readonly pageTokensMax: number | undefined;
  /** How lines are numbered, where that can be chosen or the budget counts the numbers; undefined: not at all. */
  readonly numbers: NumberStyle | undefined;
  /** `always`: count all lines of the file even if the page ends before the file does. */
  readonly total: "always" | "at the end";
  readonly pastEnd: "refused" | "empty";
  /** A NUL byte within this many first bytes makes a file binary. */
  readonly nulSampleBytes: number;
  /** The reply for a source file of more than one page, if the call selects no part of it. */
  readonly longCode: "first page" | "outline";
  /** Whether the model has a tool for outlines, which the reply for a longer file may name. */
  readonly outlineTool?: boolean;
  /** The reply for a part of an unchanged file that the session has read already. */
  readonly repeats: "stub" | "content";
  /** `attached`: a document that is small enough is returned as a file. */
  readonly documents: "attached" | "pages";
  readonly kinds: {
    readonly directory: Treatment;
    readonly image: Treatment;
    readonly pdf: Treatment;
    readonly notebook: Treatment;
    readonly office: Treatment;
  };
}
