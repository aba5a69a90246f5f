/**
 * What the second thread of a scan runs: takes pieces from the common counter until none is left. It is a text because
 * a thread's program must be a file of its own or a text, and one bundled file is what the command line ships as.
 */

export const scanWorkerSource = `
"use strict";
const { readSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
const { fd, from, to, counts, shared, module: compiled, unit, shift, blockBytes, chunkBytes, pieceBytes } = workerData;
const kernel = new WebAssembly.Instance(compiled).exports;
kernel.m.grow(chunkBytes / 65536);
const chunk = new Uint8Array(kernel.m.buffer, 0, chunkBytes);
const pieces = Math.ceil((to - from) / pieceBytes);
for (let piece = Atomics.add(shared, 0, 1); piece < pieces; piece = Atomics.add(shared, 0, 1)) {
  const start = from + piece * pieceBytes;
  const end = Math.min(start + pieceBytes, to);
  let block = (piece * pieceBytes) / blockBytes;
  for (let at = start; at < end; at += chunkBytes) {
    const wanted = Math.min(chunkBytes, end - at);
    for (let done = 0; done < wanted; ) {
      const got = readSync(fd, chunk, done, wanted - done, at + done);
      if (got === 0) throw new Error("the file became shorter");
      done += got;
    }
    const found = kernel.blocks(0, wanted, blockBytes, chunkBytes, unit, shift);
    counts.set(new Uint32Array(kernel.m.buffer, chunkBytes, found), block);
    block += found;
  }
  Atomics.store(shared, piece + 1, 1);
}
`;
