/** The orders in which names are listed: the same on every system and in every locale. */

/**
 * By code points. `<` on strings compares UTF-16 units and so puts astral characters before U+E000..U+FFFF;
 * the order here is also that of the UTF-8 bytes.
 */
export function compareCodePoints(a: string, b: string): number {
  const common = Math.min(a.length, b.length);
  for (let at = 0; at < common; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // Below the surrogates a unit is a code point, and a surrogate, paired or not, is greater than all of these.
    if (left < 0xd800 || right < 0xd800) return left - right;
    return compareFrom(a, b, isInsidePair(a, at) || isInsidePair(b, at) ? at - 1 : at);
  }
  return a.length - b.length;
}

/** Paths name by name, by code points: what lies in a folder stays together, before names that only begin like it. */
export function comparePaths(a: string, b: string): number {
  const common = Math.min(a.length, b.length);
  for (let at = 0; at < common; at += 1) {
    if (a.charCodeAt(at) === b.charCodeAt(at)) continue;
    if (a[at] === "/") return -1;
    return b[at] === "/" ? 1 : compareCodePoints(a, b);
  }
  return a.length - b.length;
}

/** By lower-cased name; names that differ in case only, by the name itself. */
export function compareNames(a: string, b: string): number {
  const common = Math.min(a.length, b.length);
  // Most names are decided by their first ASCII letters: no lower-cased copy is made for those.
  for (let at = 0; at < common; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left >= 0x80 || right >= 0x80) break;
    const difference = lowerAscii(left) - lowerAscii(right);
    if (difference !== 0) return difference;
  }
  return compareCodePoints(a.toLowerCase(), b.toLowerCase()) || compareCodePoints(a, b);
}

function compareFrom(a: string, b: string, at: number): number {
  return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0);
}

/** Whether the unit is the second half of a pair. */
function isInsidePair(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function lowerAscii(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
}
