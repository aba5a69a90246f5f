/**
 * Lets the event loop turn between calls. A read of what the system has in memory waits for nothing, so a host that reads
 * in a loop, or a hundred files at once, would keep timers, sockets and everybody else waiting until its last answer.
 */

/** So many calls may begin before the loop turns, as long as they take no more than so many milliseconds. */
const callsMax = 16;
const shareMs = 8;

/** Since the loop turned. */
let calls = 0;
let sinceMs = 0;
/** In the order in which they came: changes of one file keep theirs. */
const waiting: (() => void)[] = [];

/** Undefined if the call may begin at once. */
export function nextTurn(): Promise<void> | undefined {
  if (calls === 0) {
    calls = 1;
    sinceMs = performance.now();
    setImmediate(turned);
    return undefined;
  }
  calls += 1;
  if (waiting.length === 0 && calls <= callsMax && performance.now() - sinceMs < shareMs) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Who had to wait gets a turn of the loop alone. */
function turned(): void {
  const first = waiting.shift();
  calls = first === undefined ? 0 : 1;
  if (first === undefined) return;
  sinceMs = performance.now();
  setImmediate(turned);
  first();
}
