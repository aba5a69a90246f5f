/** What an image file says of itself. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ImageHead {
  readonly mime: string;
  /** As stored, before turning; for AVIF and HEIC the largest that is declared. */
  readonly width: number;
  readonly height: number;
  /** EXIF, 1 to 8; 1 is upright. AVIF and HEIC are turned by their decoders. */
  readonly orientation: number;
  /** Frames of an animation, pages of a TIFF. */
  readonly frames: number;
  /** Memory that decoding takes, as measured, in bytes per pixel; 0 where a decoder holds only a few rows. */
  readonly decodedBytes: number;
}

export function headOf(
  mime: string,
  width: number,
  height: number,
  decodedBytes: number,
  more: Partial<Pick<ImageHead, "orientation" | "frames">> = {},
): ImageHead {
  return { mime, width, height, decodedBytes, orientation: 1, frames: 1, ...more };
}
