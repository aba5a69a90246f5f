/** Fits an image into a token budget: a decode proves the file intact, then encodings get smaller until one fits. */

import { Buffer } from "node:buffer";
import type { Sharp, SharpConstructor, SharpOptions } from "sharp";
import { limits } from "../../contract/limits.ts";
import { imageType } from "../kind.ts";
import { hasFailed, runInWorker, packageFiles } from "../worker/host.ts";
import { type Examined, examineHead, pixelsWithin } from "./examine.ts";
import { type ImageHead, pngInflates, type Size } from "./size.ts";

export interface ImageBudget {
  /** Estimated tokens (`base64.length * 0.125`) that the image may cost. */
  readonly tokensMax: number;
  /** Pixels of the longer side, and of either side, of the returned image. */
  readonly longEdgeMax: number;
  readonly sideMax: number;
  /** Pixels that are decoded at all, by the header; fewer if the format takes much memory to decode. */
  readonly pixelsMax: number;
}

export const imageBudget = (tokensMax: number): ImageBudget => ({
  tokensMax,
  longEdgeMax: limits.imageLongEdgeMax,
  sideMax: limits.imageSideMax,
  pixelsMax: limits.imagePixelsMax,
});

export interface ImageResult {
  readonly kind: "image";
  readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly base64: string;
  readonly originalMime: string;
  readonly original: Size;
  readonly display: Size;
  /** Frames of an animation or pages of a TIFF; the first is shown. */
  readonly frames: number;
  /** Above the budget only if even the last resort exceeds it. */
  readonly tokens: number;
  /** The vendor's count for an image of this size, at most. */
  readonly vendorTokens: number;
  readonly steps: "untouched" | "resized" | "compressed" | "last resort";
}

export type ImageFailure =
  | { readonly kind: "damaged"; readonly detail: string }
  | { readonly kind: "too large"; readonly limit: string }
  /** `install`: the package that could read it. */
  | { readonly kind: "no codec"; readonly mime: string; readonly install: "sharp" | "libheif-js" };

export interface Codecs {
  loadSharp(): Promise<SharpConstructor | undefined>;
  heic(): string | undefined;
}

const installedCodecs: Codecs = {
  async loadSharp() {
    const module = await import("sharp").catch(() => undefined);
    if (module === undefined) return undefined;
    // The host needs its other cores, and no image is decoded twice.
    module.default.concurrency(1);
    module.default.cache(false);
    return module.default;
  },
  heic: () => packageFiles({ heic: "libheif-js/wasm-bundle" })?.heic,
};

/** A decoder that takes longer is stuck in a hostile file: the largest allowed images take a few seconds. */
const decodeSecondsMax = 20;
const lastResort = { sideMax: 400, quality: 20 } as const;

export async function readImage(
  bytes: Uint8Array,
  budget: ImageBudget,
  signal: AbortSignal,
  codecs: Codecs = installedCodecs,
): Promise<ImageResult | ImageFailure> {
  signal.throwIfAborted();
  const sharp = await codecs.loadSharp();
  const heic = sharp === undefined ? undefined : codecs.heic();
  const examined = await examine(bytes, budget, heic, signal);
  if ("kind" in examined) return examined;
  const { head, whole } = examined;
  if (head === undefined) return { kind: "damaged", detail: "the image header is missing, cut off or makes no sense" };
  const { width, height } = head;
  const pixelsMax = pixelsWithin(head, budget.pixelsMax);
  if (width * height > pixelsMax) {
    return { kind: "too large", limit: `${width}x${height} pixels of at most ${pixelsMax}` };
  }

  if (sharp === undefined) return withoutCodec(bytes, examined, budget);
  signal.throwIfAborted();
  const source = openSource(bytes, examined, sharp, pixelsMax);
  if ("kind" in source) return source;
  const decoded = await decode(source.image, budget);
  if ("kind" in decoded) return decoded;
  signal.throwIfAborted();

  const facts = { originalMime: head.mime, original: decoded.original, frames: Math.max(head.frames, decoded.frames) };
  // If header and decoder disagree about the size, another decoder may follow the header.
  const agreed = decoded.plain && decoded.original.width === width && decoded.original.height === height;
  if (agreed && whole && mayStay(head, bytes, budget)) {
    return result(facts, { mime: head.mime, data: bytes, size: head, steps: "untouched" });
  }
  return result(facts, await encode(sharp, decoded, head, bytes.length, budget, signal));
}

/** Up to this size the header of a common format is read in less time than sending the file to a worker takes. */
const examinedHereBytesMax = 131_072;

async function examine(
  bytes: Uint8Array,
  { pixelsMax }: ImageBudget,
  heic: string | undefined,
  signal: AbortSignal,
): Promise<Examined | ImageFailure> {
  const mime = imageType(bytes);
  const here = bytes.length <= examinedHereBytesMax && mime !== "image/bmp" && mime !== "image/heic";
  if (here) return examineHead(bytes);
  const msMax = decodeSecondsMax * 1_000;
  const { imageMegabytesMax: megabytesMax } = limits;
  const examined = await runInWorker("image", { bytes, pixelsMax, heic }, { signal, msMax, megabytesMax });
  if (!hasFailed(examined)) return examined;
  if (examined.failed === "crash") return { kind: "damaged", detail: "its decoder failed" };
  const limit = examined.failed === "time" ? `${decodeSecondsMax} seconds of work` : `${megabytesMax} MB of memory`;
  return { kind: "too large", limit };
}

const acceptedMimes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
type AcceptedMime = (typeof acceptedMimes)[number];

const isAccepted = (mime: string): mime is AcceptedMime => acceptedMimes.some((known) => known === mime);

/** Judged by the header; the caller must prove that the bytes decode. */
function mayStay(
  head: ImageHead,
  bytes: Uint8Array,
  budget: ImageBudget,
): head is ImageHead & { readonly mime: AcceptedMime } {
  const fits = Math.max(head.width, head.height) <= edgeMax(budget) && tokensOf(bytes.length) <= budget.tokensMax;
  return fits && isAccepted(head.mime) && head.orientation === 1 && head.frames === 1;
}

/** Without sharp an image is returned only if it is small and provably intact: it cannot be shrunk or decoded. */
async function withoutCodec(
  bytes: Uint8Array,
  { head, whole }: Examined,
  budget: ImageBudget,
): Promise<ImageResult | ImageFailure> {
  const isProven = async (mime: string): Promise<boolean> => mime !== "image/png" || (await pngInflates(bytes));
  if (head === undefined || !whole || !mayStay(head, bytes, budget) || !(await isProven(head.mime))) {
    return { kind: "no codec", mime: head?.mime ?? "", install: "sharp" };
  }
  const original = { width: head.width, height: head.height };
  const facts = { originalMime: head.mime, original, frames: 1 };
  return result(facts, { mime: head.mime, data: bytes, size: original, steps: "untouched" });
}

function openSource(
  bytes: Uint8Array,
  { head, pixels }: Examined,
  sharp: SharpConstructor,
  pixelsMax: number,
): { readonly image: Sharp } | ImageFailure {
  const open = (input: Uint8Array, options: SharpOptions): { readonly image: Sharp } => ({
    image: sharp(input, { limitInputPixels: pixelsMax, ...options }).timeout({ seconds: decodeSecondsMax }),
  });
  if (pixels !== undefined) {
    if ("damaged" in pixels) return damaged(pixels.damaged);
    const { data, ...raw } = pixels;
    return open(data, { raw });
  }
  const mime = head?.mime;
  if (mime === "image/heic") return { kind: "no codec", mime, install: "libheif-js" };
  // libvips reports garbage in a JPEG as a warning; in a PNG or TIFF a warning is only an odd tag.
  return open(bytes, { failOn: mime === "image/jpeg" ? "warning" : "error" });
}

interface Pixels extends Size {
  readonly channels: 1 | 2 | 3 | 4;
  readonly data: Buffer;
}

interface Decoded {
  readonly original: Size;
  readonly frames: number;
  /** The stored pixels look the same in every decoder: upright, and not CMYK. */
  readonly plain: boolean;
  readonly pixels: Pixels;
}

async function decode(image: Sharp, budget: ImageBudget): Promise<Decoded | ImageFailure> {
  try {
    const { autoOrient: original, orientation = 1, pages: frames = 1, space } = await image.metadata();
    const display = fitInside(original, edgeMax(budget));
    const { data, info } = await image
      .autoOrient()
      .resize({ ...display, fit: "fill" })
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    const plain = orientation === 1 && space !== "cmyk";
    return { original, frames, plain, pixels: { ...display, channels: info.channels, data } };
  } catch (error) {
    return damaged(error);
  }
}

/** The decoder's own message, which can have many lines, or none. */
function damaged(error: unknown): ImageFailure {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  const message = line === "Unknown error" ? "" : line.replace(/:?\s*$/, "").slice(0, 200);
  return { kind: "damaged", detail: message === "" ? "its pixels do not decode" : message };
}

interface Encoded {
  readonly mime: AcceptedMime;
  readonly data: Uint8Array;
  readonly size: Size;
  readonly steps: ImageResult["steps"];
}

interface EncodingStep {
  readonly scale: number;
  readonly quality: number;
  readonly share: number;
}

const encodingSteps: readonly EncodingStep[] = [1, 0.75, 0.5, 0.35].flatMap((scale) =>
  [
    { quality: 80, share: 1 },
    { quality: 60, share: 0.65 },
    { quality: 40, share: 0.5 },
  ].map(({ quality, share }) => ({ scale, quality, share: share * scale ** 2 })),
);

/** A step is skipped if it is expected to exceed the budget by this factor: one encoding costs 10 to 20 ms. */
const skipFactor = 1.15;

async function encode(
  sharp: SharpConstructor,
  { pixels, original }: Decoded,
  head: ImageHead,
  bytesRead: number,
  budget: ImageBudget,
  signal: AbortSignal,
): Promise<Encoded> {
  const bytesMax = Math.floor((budget.tokensMax * 8 * 3) / 4);
  const { data: decoded, ...raw } = pixels;
  const image = (): Sharp => sharp(decoded, { raw });
  const fits = (data: Uint8Array): boolean => tokensOf(data.length) <= budget.tokensMax;

  // A resized PNG is no smaller per pixel than before, so a photo in a PNG is not worth trying.
  const expected = (bytesRead * pixels.width * pixels.height) / (original.width * original.height);
  const lossless = ["image/png", "image/gif"].includes(head.mime) ? expected <= bytesMax : head.mime === "image/bmp";
  if (lossless) {
    const data = await image().png().toBuffer();
    if (fits(data)) return { mime: "image/png", data, size: pixels, steps: "resized" };
  }

  const format = head.mime === "image/webp" || !isOpaque(pixels) ? "webp" : "jpeg";
  let firstStepBytes = 0;
  for (const step of encodingSteps) {
    if (firstStepBytes * step.share > bytesMax * skipFactor) continue;
    signal.throwIfAborted();
    const size = fitInside(pixels, Math.max(pixels.width, pixels.height) * step.scale);
    const scaled = step.scale === 1 ? image() : image().resize({ ...size, fit: "fill" });
    const data = await (format === "webp"
      ? scaled.webp({ quality: step.quality, effort: 2 })
      : scaled.removeAlpha().jpeg({ quality: step.quality })
    ).toBuffer();
    if (fits(data)) return { mime: `image/${format}`, data, size, steps: step.share === 1 ? "resized" : "compressed" };
    firstStepBytes = data.length / step.share;
  }

  signal.throwIfAborted();
  const size = fitInside(pixels, lastResort.sideMax);
  const small = image()
    .flatten({ background: "white" })
    .resize({ ...size, fit: "fill" });
  const data = await small.jpeg({ quality: lastResort.quality }).toBuffer();
  return { mime: "image/jpeg", data, size, steps: "last resort" };
}

function isOpaque({ channels, data }: Pixels): boolean {
  if (channels === 1 || channels === 3) return true;
  for (let at = channels - 1; at < data.length; at += channels) if (data[at] !== 255) return false;
  return true;
}

function result(facts: Pick<ImageResult, "originalMime" | "original" | "frames">, encoded: Encoded): ImageResult {
  const { mime, data, steps } = encoded;
  const { width, height } = encoded.size;
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  const tokens = tokensOf(data.length);
  // The higher tier: it takes an image within our edges unscaled, and costs no less than the other.
  const vendorTokens = vendorSize(width, height, "high").tokens;
  return { kind: "image", mime, base64, ...facts, display: { width, height }, tokens, vendorTokens, steps };
}

const tokensOf = (sizeBytes: number): number => Math.ceil(4 * Math.ceil(sizeBytes / 3) * 0.125);

function edgeMax(budget: ImageBudget): number {
  return Math.min(budget.longEdgeMax, budget.sideMax);
}

/** Never enlarges, and no side becomes 0. */
function fitInside({ width, height }: Size, longEdgeMax: number): Size {
  const scale = Math.min(1, longEdgeMax / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

// How the vendor of a model scales an image before it counts its tokens.

/** Patches of 28 pixels, each a token; both limits apply. The tiers are those of the vendor's models. */
const patchPixels = 28;
const tiers = {
  standard: { longEdgeMax: 1_568, tokensMax: 1_568 },
  high: { longEdgeMax: 2_576, tokensMax: 4_784 },
} as const;

export function vendorSize(
  width: number,
  height: number,
  tier: keyof typeof tiers = "standard",
): Size & { readonly tokens: number } {
  const { longEdgeMax, tokensMax } = tiers[tier];
  const longEdge = Math.max(width, height);
  const sized = (edge: number): Size & { readonly tokens: number } => {
    const side = (length: number): number =>
      length === longEdge ? edge : Math.max(1, roundHalfToEven((length * edge) / longEdge));
    const [wide, high] = [side(width), side(height)];
    return { width: wide, height: high, tokens: Math.ceil(wide / patchPixels) * Math.ceil(high / patchPixels) };
  };
  let edge = Math.min(longEdge, longEdgeMax);
  while (edge > 1 && sized(edge).tokens > tokensMax) edge -= 1;
  return sized(edge);
}

/** The vendor's rounding: 2000×1500 becomes 1270×952 (952.5), and 8000×100 becomes 1568×20 (19.6). */
function roundHalfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
