/** Examines an image before the image library gets it; in a worker, because the file determines how long it takes. */

import type { WorkerContext } from "../worker/worker.ts";
import { type Bitmap, decodeBmp } from "./bmp.ts";
import { hasAllParts, type ImageHead, probeImage, type Size } from "./size.ts";

export interface ExamineTask {
  readonly bytes: Uint8Array;
  readonly pixelsMax: number;
  /** Absolute path of the module that decodes HEIC; undefined if it is not installed or no pixels are wanted. */
  readonly heic: string | undefined;
}

export interface Examined {
  readonly head: ImageHead | undefined;
  readonly whole: boolean;
  readonly pixels?: Bitmap | { readonly damaged: string };
}

/** Memory for an image that is decoded whole: 12 megapixels of AVIF, 25 of HEIC, 33 of GIF, 50 of WebP. */
const decodedBytesMax = 200_000_000;

export const pixelsWithin = (head: ImageHead, pixelsMax: number): number =>
  Math.min(pixelsMax, Math.floor(decodedBytesMax / head.decodedBytes));

export function examineHead(bytes: Uint8Array): Examined {
  const head = probeImage(bytes);
  return { head, whole: head !== undefined && hasAllParts(bytes, head.mime) };
}

export async function examineImage({ bytes, pixelsMax, heic }: ExamineTask, context: WorkerContext): Promise<Examined> {
  const examined = examineHead(bytes);
  const { head } = examined;
  if (head === undefined || head.width * head.height > pixelsWithin(head, pixelsMax)) return examined;
  const pixels =
    head.mime === "image/bmp"
      ? decodeBmp(bytes)
      : head.mime === "image/heic" && heic !== undefined
        ? await decodeHeic(bytes, heic, context)
        : undefined;
  if (pixels === undefined) return examined;
  if ("data" in pixels && pixels.data.buffer instanceof ArrayBuffer) context.give(pixels.data.buffer);
  return { ...examined, pixels };
}

type HeicDecode = (file: { readonly buffer: Uint8Array }) => Promise<Size & { readonly data: Uint8Array }>;

async function decodeHeic(bytes: Uint8Array, path: string, context: WorkerContext): Promise<Examined["pixels"]> {
  const decode = context.load(path) as HeicDecode;
  try {
    const { width, height, data } = await decode({ buffer: bytes });
    return { width, height, channels: 4, data };
  } catch (error) {
    if (context.memory.isFull) throw error;
    return { damaged: error instanceof Error ? error.message : String(error) };
  }
}
