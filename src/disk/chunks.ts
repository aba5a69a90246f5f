/** Walks through many bytes a part at a time, so that other calls get their turn and a cancelled one ends soon. */

import { setImmediate } from "node:timers/promises";
import { bufferBytes, giveBuffer, takeBuffer } from "./buffers.ts";

interface Stoppable {
  readonly signal: AbortSignal | undefined;
}

interface Walk extends Stoppable {
  /** At most `chunkBytes`. */
  readonly stepBytes?: number;
}

export const chunkBytes = 1_048_576;
/** For bytes that are compared with others: both stay near the processor, which halves the time. */
export const comparedBytes = 131_072;
/** Other calls get their turn after so many bytes. */
const bytesPerTurn = 8_388_608;

/** One large buffer, kept for the next time: a new one for every change would cost more than the change. */
let idle: Buffer | undefined;

/** Walks from `from` to `to` with a buffer that is filled or looked at a part at a time. */
export async function inChunks(
  from: number,
  to: number,
  { signal, stepBytes = chunkBytes }: Walk,
  step: (buffer: Buffer, at: number) => Promise<void>,
): Promise<void> {
  const small = to - from <= bufferBytes;
  const whole = small ? takeBuffer() : (idle ?? Buffer.allocUnsafeSlow(chunkBytes));
  if (!small) idle = undefined;
  try {
    let sinceTurn = 0;
    for (let at = from; at < to; ) {
      const buffer = whole.subarray(0, Math.min(whole.length, stepBytes, to - at));
      await step(buffer, at);
      at += buffer.length;
      sinceTurn += buffer.length;
      if (sinceTurn >= bytesPerTurn) {
        signal?.throwIfAborted();
        await setImmediate();
        sinceTurn = 0;
      }
    }
  } finally {
    if (small) giveBuffer(whole);
    else idle = whole;
  }
}

/** The same with bytes that are at hand. */
export async function inSteps(
  bytes: Uint8Array,
  { signal }: Stoppable,
  step: (bytes: Uint8Array, at: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    if (at > 0) {
      signal?.throwIfAborted();
      await setImmediate();
    }
    await step(bytes.subarray(at, at + bytesPerTurn), at);
  }
}
