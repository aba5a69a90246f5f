/** A pool of read buffers: allocating one per page would keep the garbage collector busy. */

export const bufferBytes = 65_536;

/** The pool is process-wide. It only saves allocations: a buffer from it and a new one behave alike. */
const idleBuffers: Buffer[] = [];
/** Half a mebibyte kept idle; more concurrent readers than this allocate their own. */
const idleBuffersMax = 8;

/** A buffer of `bufferBytes` for the caller alone until `giveBuffer`. It may still contain old bytes. */
export function takeBuffer(): Buffer {
  return idleBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
}

export function giveBuffer(buffer: Buffer): void {
  if (idleBuffers.length < idleBuffersMax) idleBuffers.push(buffer);
}
