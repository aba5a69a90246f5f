/**
 * Characters that are invisible, or that change how the text around them looks: direction marks, joiners, zero-width
 * characters, blanks that are no spaces, variation selectors. One list for the terminal, MCP questions, names in
 * replies and the inspector's page, so that a person who approves a change sees all of it.
 */

/** For a character class of a regular expression with the flag `u`. Control characters and lone surrogates are not included. */
export const hiddenCharacters = [
  "\\u00ad\\u034f\\u061c", // soft hyphen, grapheme joiner, Arabic letter mark
  "\\u115f\\u1160\\u3164\\uffa0", // Hangul fillers
  "\\u17b4\\u17b5\\u180b-\\u180f", // Khmer vowels without a form, Mongolian selectors
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f", // no width, line ends, directions, invisible operators, deprecated formats
  "\\u2800", // a Braille cell without dots
  "\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}", // variation selectors
  "\\ufeff\\ufff0-\\ufffc", // byte order mark, interlinear notes
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}", // controls of shorthand and of music
  "\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}", // tags, and what is kept for their like
].join("");

/** Sequences in which one such character has a visible effect: emoji, and scripts that join letters. */
export const visibleJoins =
  "\\p{Extended_Pictographic}\\p{Emoji_Modifier}?[\\ufe0e\\ufe0f]?\\u200d?|[0-9#*]\\ufe0f\\u20e3|[\\p{Script=Arabic}\\p{Script=Devanagari}\\p{Script=Bengali}][\\u200c\\u200d]";
