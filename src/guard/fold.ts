/**
 * Names as disks that do not tell upper from lower case compare them. Such disks know more pairs than A and a: `ſ` is
 * an s, the Kelvin sign a k, and some take `ß` for ss. Only for rules that narrow access; what widens it is taken to
 * the letter. Pure.
 */

const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** One character for one, so that `?` and brackets in patterns keep their meaning. ASCII is left to who compares. */
export function foldCase(text: string): string {
  return isPlain(text) ? text : text.normalize("NFC").replace(/[^\0-\x7f]/gu, foldOne);
}

/** Also what is folded to several characters: `ß` to ss, the ligature `ﬁ` to fi. */
export function foldCaseFully(text: string): string {
  if (isPlain(text)) return text;
  const folded = text.normalize("NFC").replace(/[^\0-\x7f]/gu, (character) => {
    const lower = character.toLowerCase();
    const upper = lower.toUpperCase();
    return upper.length > lower.length ? upper.toLowerCase() : lower;
  });
  return foldCase(folded);
}

/** The same for a pattern: a character that is folded to ASCII needs the backslash no more that may stand before it. */
export function foldPattern(line: string, fold: (text: string) => string): string {
  if (isPlain(line)) return line;
  return fold(line.replace(/\\\\|\\([^\0-\x7f])/gu, (found, escaped: string | undefined) => escaped ?? found));
}

function foldOne(character: string): string {
  const upper = character.toUpperCase();
  const lower = (isOne(upper) ? upper : character).toLowerCase();
  return isOne(lower) ? lower : character;
}

/** One code point. */
const isOne = (text: string): boolean => /^.$/su.test(text);
