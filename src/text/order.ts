/** Sort orders of names: the same on every system and in every locale. */

/** By code points, as UTF-8 bytes are. `<` compares UTF-16 units and puts astral characters before U+E000. */
export function compareCodePoints(a: string, b: string): number {
  const common = Math.min(a.length, b.length);
  for (let at = 0; at < common; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // Below the surrogates a unit is a code point; any surrogate is greater than all of these.
    if (left < 0xd800 || right < 0xd800) return left - right;
    const from = isInsidePair(a, at) || isInsidePair(b, at) ? at - 1 : at;
    return (a.codePointAt(from) ?? 0) - (b.codePointAt(from) ?? 0);
  }
  return a.length - b.length;
}

/** Name by name, by code points: the content of a folder comes before names that have the folder's name as a prefix. */
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
  // Most names are decided by their first ASCII letters, without a lower-cased copy.
  for (let at = 0; at < common; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left >= 0x80 || right >= 0x80) break;
    const difference = lowerAscii(left) - lowerAscii(right);
    if (difference !== 0) return difference;
  }
  return compareCodePoints(a.toLowerCase(), b.toLowerCase()) || compareCodePoints(a, b);
}

export function isInsidePair(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function lowerAscii(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
}
