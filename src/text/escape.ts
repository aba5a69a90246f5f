/** Text from files and file systems, made safe to print: it can neither act on a terminal nor look like something else. */

/**
 * Controls, lone surrogates, line and paragraph separators, what changes the writing direction and what has no width.
 * The `u` flag is what keeps `\p{Cs}` from matching the halves of a pair.
 */
const unsafeInNames = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;
const everyUnsafeInNames = new RegExp(unsafeInNames, "gu");

/** Controls but tab and newline. */
const unsafeInContent = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const everyUnsafeInContent = new RegExp(unsafeInContent, "g");

/**
 * A file name on one line. Backslashes stay as they are, so the result is for reading and not for parsing:
 * doubling them would make every Windows path unusable as the next call's argument.
 */
export function escapeName(name: string): string {
  return unsafeInNames.test(name) ? name.replace(everyUnsafeInNames, escapeUnit) : name;
}

/** File content for a terminal: lines and tabs stay, other controls show as `^[` or `\x9b`. */
export function visibleControls(text: string): string {
  return unsafeInContent.test(text) ? text.replace(everyUnsafeInContent, showControl) : text;
}

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Everything unsafe is a single UTF-16 unit. */
function escapeUnit(character: string): string {
  const unit = character.charCodeAt(0);
  return shortEscapes[character] ?? (unit < 0x100 ? hex("\\x", unit, 2) : hex("\\u", unit, 4));
}

function showControl(character: string): string {
  const unit = character.charCodeAt(0);
  return unit < 0x80 ? `^${String.fromCharCode(unit ^ 0x40)}` : hex("\\x", unit, 2);
}

function hex(prefix: string, unit: number, digits: number): string {
  return prefix + unit.toString(16).padStart(digits, "0");
}
