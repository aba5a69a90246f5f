/** Escapes text from files and file systems for display: it can neither control a terminal nor disguise itself. */

import { hiddenCharacters, visibleJoins } from "../../contract/hidden-characters.ts";
import { cutChars } from "./encoding.ts";

/** Control characters, lone surrogates (the `u` flag excludes the halves of pairs) and hidden characters. */
const unsafeInNames = new RegExp(`[\\p{Cc}\\p{Cs}${hiddenCharacters}]`, "u");
const everyUnsafeInNames = new RegExp(`(${visibleJoins})|[\\p{Cc}\\p{Cs}${hiddenCharacters}]`, "gu");
const everyHidden = new RegExp(`(${visibleJoins})|[${hiddenCharacters}]`, "gu");

/** Control characters but tab and newline. */
const unsafeInContent = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const everyUnsafeInContent = new RegExp(unsafeInContent, "g");

/** A file name on one line. Backslashes stay: with doubled ones a Windows path is unusable in the next call. */
export function escapeName(name: string): string {
  return unsafeInNames.test(name) ? name.replace(everyUnsafeInNames, escapeUnlessVisible) : name;
}

/** A name that others chose, for one line: escaped, and cut at a length. */
export function shownName(name: string, charsMax: number): string {
  const shown = escapeName(cutChars(name, charsMax * 2));
  return shown.length > charsMax ? `${cutChars(shown, charsMax - 1)}…` : shown;
}

/** File content for a terminal: newlines and tabs stay, other control characters show as `^[` or `\x9b`. */
export function visibleControls(text: string): string {
  return unsafeInContent.test(text) ? text.replace(everyUnsafeInContent, showControl) : text;
}

/** The same for a person who must approve the text: hidden characters show as well. */
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

/** Lone surrogates: arguments must not contain them, and inside the engine they represent bytes that do not decode. */

export const isWellFormed = (text: string): boolean => text.isWellFormed();

/** For display: U+FFFD in their place. */
export const wellFormed = (text: string): string => text.toWellFormed();
