/** The selected interval after a key. */

/** Undefined means the whole time, and comes before the first interval. */
export function partAfterKey(key: string, at: number | undefined, parts: number): number | undefined {
  const last = parts - 1;
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return at === undefined ? 0 : Math.min(last, at + 1);
    case "ArrowLeft":
    case "ArrowDown":
      return at === undefined || at === 0 ? undefined : at - 1;
    case "PageUp":
      return Math.min(last, (at ?? -1) + 10);
    case "PageDown":
      return at === undefined || at < 10 ? undefined : at - 10;
    case "Home":
    case "Escape":
      return undefined;
    case "End":
      return last;
    default:
      return at;
  }
}
