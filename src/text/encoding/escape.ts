/** Text from files and file systems, made safe to print: it can neither act on a terminal nor look like something else. */

import { hiddenCharacters, visibleJoins } from "../../contract/hidden-characters.ts";

/** Controls, lone surrogates and what is hidden. The `u` flag is what keeps `\p{Cs}` from matching the halves of a pair. */
const unsafeInNames = new RegExp(`[\\p{Cc}\\p{Cs}${hiddenCharacters}]`, "u");
const everyUnsafeInNames = new RegExp(`(${visibleJoins})|[\\p{Cc}\\p{Cs}${hiddenCharacters}]`, "gu");
const everyHidden = new RegExp(`(${visibleJoins})|[${hiddenCharacters}]`, "gu");

/** Controls but tab and newline. */
const unsafeInContent = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const everyUnsafeInContent = new RegExp(unsafeInContent, "g");

/**
 * A file name on one line. Backslashes stay as they are, so the result is for reading and not for parsing:
 * doubling them would make every Windows path unusable as the next call's argument.
 */
export function escapeName(name: string): string {
  return unsafeInNames.test(name) ? name.replace(everyUnsafeInNames, escapeUnlessVisible) : name;
}

/** File content for a terminal: lines and tabs stay, other controls show as `^[` or `\x9b`. */
export function visibleControls(text: string): string {
  return unsafeInContent.test(text) ? text.replace(everyUnsafeInContent, showControl) : text;
}

/** The same for a person who decides about it: what is hidden shows as well. */
export const visibleText = (text: string): string => visibleControls(text).replace(everyHidden, escapeUnlessVisible);

const escapeUnlessVisible = (character: string, visible: string | undefined): string => visible ?? escaped(character);

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return shortEscapes[character] ?? (code < 0x100 ? hex("\\x", code, 2) : hex("\\u", code, 4));
}

function showControl(character: string): string {
  const unit = character.charCodeAt(0);
  return unit < 0x80 ? `^${String.fromCharCode(unit ^ 0x40)}` : hex("\\x", unit, 2);
}

function hex(prefix: string, unit: number, digits: number): string {
  return prefix + unit.toString(16).padStart(digits, "0");
}

/** Surrogates that are no half of a pair: what a call must not hold, and what stands for bytes that do not decode. */

const lone = /(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/;
const allLone = new RegExp(lone, "g");

/** V8 knows of most texts, without looking, that they hold no surrogate. */
const hasSurrogate = (text: string): boolean => /[\ud800-\udfff]/.test(text);

export const isWellFormed = (text: string): boolean => !hasSurrogate(text) || !lone.test(text);

/** For showing: U+FFFD in their place. */
export const wellFormed = (text: string): string => (hasSurrogate(text) ? text.replace(allLone, "\ufffd") : text);
