/**
 * Loaded into a server before its program: says how much memory is in use after collections, when the test asks.
 *
 * What is only held by weak references or waits for its finalizer (the SDK's requests and their signals are and do) goes no sooner than
 * one turn of the event loop after a collection has found it. So there are several collections with turns between, until nothing goes
 * any more: one alone left up to 2.5 MB of such things in place, now more and now fewer of them.
 */

const roundsMax = 20;

process.on("message", () => void tell());

async function tell() {
  let before = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= roundsMax; round += 1) {
    globalThis.gc?.();
    const { heapUsed } = process.memoryUsage();
    if (round > 3 && before - heapUsed < 4_096) break;
    before = heapUsed;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ heapUsed, rss });
}
// A server ends with its input, whether or not somebody could still ask.
process.channel?.unref();
