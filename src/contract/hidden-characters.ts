/**
 * Characters that a person does not see, or that make them see something else: what turns the writing direction, joins, has no width,
 * is blank without being a space, or only selects a form of the character before it. One list for the terminal, for questions over
 * MCP, for names in answers and for the inspector's page, so that whoever approves a change sees all of it everywhere.
 */

/** For use inside the brackets of a regular expression with the flag `u`. Controls and lone surrogates are not among them. */
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

/** Where one of them is at home and seen by what it does: in emoji, and in scripts that join their letters. One at a time. */
export const visibleJoins =
  "\\p{Extended_Pictographic}\\p{Emoji_Modifier}?[\\ufe0e\\ufe0f]?\\u200d?|[0-9#*]\\ufe0f\\u20e3|[\\p{Script=Arabic}\\p{Script=Devanagari}\\p{Script=Bengali}][\\u200c\\u200d]";
