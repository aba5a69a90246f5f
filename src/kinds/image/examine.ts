/** Examines an image before the image library gets it; in a worker, because the file determines how long it takes. */

import type { WorkerContext } from "../worker/worker.ts";
import { type Bitmap, decodeBmp } from "./bmp.ts";
import { hasAllParts, type ImageHead, probeImage, type Size } from "./size.ts";

export interface ExamineTask {
  readonly bytes: Uint8Array;
  readonly pixelsMax: number;
  /** Absolute path of libheif, which decodes HEIC; undefined if it is not installed or no pixels are wanted. */
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
  if (head === undefined) return examined;
  const decodedMax = pixelsWithin(head, pixelsMax);
  if (head.width * head.height > decodedMax) return examined;
  const pixels =
    head.mime === "image/bmp"
      ? decodeBmp(bytes)
      : head.mime === "image/heic" && heic !== undefined
        ? await decodeHeic(bytes, heic, decodedMax, context)
        : undefined;
  if (pixels === undefined) return examined;
  if ("data" in pixels && pixels.data.buffer instanceof ArrayBuffer) context.give(pixels.data.buffer);
  return { ...examined, pixels };
}

/** What is used of libheif. `heif_js_decode_image2` answers with a view of its memory: `HeifImage.display` copies the pixels once more. */
interface Libheif {
  readonly HeifDecoder: new () => { readonly decoder: object; decode(file: Uint8Array): readonly HeifImage[] };
  readonly heif_colorspace: { readonly heif_colorspace_RGB: object };
  readonly heif_chroma: {
    readonly heif_chroma_interleaved_RGB: object;
    readonly heif_chroma_interleaved_RGBA: object;
  };
  heif_js_decode_image2(
    handle: object,
    colours: object,
    order: object,
  ): Promise<HeifPixels | { readonly code: object }>;
  heif_image_release(image: object): void;
  heif_context_free(decoder: object): void;
}
interface HeifImage {
  readonly handle: object;
  has_alpha_channel(): boolean;
  free(): void;
}
interface HeifPixels {
  readonly image: object;
  readonly channels: readonly (Size & { readonly stride: number; readonly data: Uint8Array })[];
}

async function decodeHeic(
  bytes: Uint8Array,
  path: string,
  pixelsMax: number,
  context: WorkerContext,
): Promise<Examined["pixels"]> {
  const libheif = context.load(path) as Libheif;
  const decoder = new libheif.HeifDecoder();
  let images: readonly HeifImage[] = [];
  try {
    images = decoder.decode(bytes);
    const [image] = images;
    if (image === undefined) throw new Error("it has no picture");
    const { heif_chroma_interleaved_RGB: rgb, heif_chroma_interleaved_RGBA: rgba } = libheif.heif_chroma;
    const channels = image.has_alpha_channel() ? 4 : 3;
    const { heif_colorspace_RGB: colours } = libheif.heif_colorspace;
    const decoded = await libheif.heif_js_decode_image2(image.handle, colours, channels === 4 ? rgba : rgb);
    const [found] = "code" in decoded ? [] : decoded.channels;
    if ("code" in decoded || found === undefined) throw new Error("its pixels do not decode");
    const { width, height, stride } = found;
    if (width * height > pixelsMax) throw new Error("it has more pixels than its header says");
    const rowBytes = width * channels;
    const data = new Uint8Array(rowBytes * height);
    for (let row = 0; row < height; row += 1) {
      data.set(found.data.subarray(row * stride, row * stride + rowBytes), row * rowBytes);
    }
    libheif.heif_image_release(decoded.image);
    return { width, height, channels, data };
  } catch (error) {
    if (context.memory.isFull) throw error;
    return { damaged: error instanceof Error ? error.message : String(error) };
  } finally {
    for (const image of images) image.free();
    libheif.heif_context_free(decoder.decoder);
  }
}
