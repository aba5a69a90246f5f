/** A refusal by the mode, worded for a model, in words for the person who chose the mode. */
export const modeWords = (text: string): string =>
  text
    .replace(
      /the session is planning and nothing is written[^\n]*$/m,
      "in plan mode nothing is written, use --mode default",
    )
    .replace(
      /the session is read-only and nothing is written[^\n]*$/m,
      "in read-only mode nothing is written, use --mode default",
    );
