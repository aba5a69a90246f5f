/** Loaded into a server before its program: says how much memory is in use after a collection, when the test asks. */

process.on("message", () => {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ heapUsed, rss });
});
// A server ends with its input, whether or not somebody could still ask.
process.channel?.unref();
