/** The header of an image file. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ImageHead {
  readonly mime: string;
  /** As stored, before rotation; for AVIF and HEIC the largest declared. */
  readonly width: number;
  readonly height: number;
  /** EXIF, 1 to 8; 1 is upright. AVIF and HEIC are rotated by their decoders. */
  readonly orientation: number;
  readonly frames: number;
  /** Measured memory for decoding, in bytes per pixel; 0 if the decoder buffers only a few rows. */
  readonly decodedBytes: number;
}

export function imageHead(
  mime: string,
  width: number,
  height: number,
  decodedBytes: number,
  more: Partial<Pick<ImageHead, "orientation" | "frames">> = {},
): ImageHead {
  return { mime, width, height, decodedBytes, orientation: 1, frames: 1, ...more };
}
