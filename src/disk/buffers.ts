/** Buffers for one read, used again and again: a new one for every page would keep the garbage collector busy. */

export const bufferBytes = 65_536;

const idleBuffers: Buffer[] = [];
const idleBuffersMax = 8;

/** A buffer of `bufferBytes`, nobody else's until it is given back. What it held before is still in it. */
export function takeBuffer(): Buffer {
  return idleBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
}

export function giveBuffer(buffer: Buffer): void {
  if (idleBuffers.length < idleBuffersMax) idleBuffers.push(buffer);
}
