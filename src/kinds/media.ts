/** Which medium a file is, by its first bytes. The extension decides only where the bytes cannot (office, notebooks). */

import { Buffer } from "node:buffer";
import * as nodePath from "node:path";
import type { MediaKind } from "../contract/problem.ts";

export function mediaOf(name: string, head: Uint8Array): MediaKind | undefined {
  const extension = nodePath.extname(name).toLowerCase();
  const image = imageType(head);
  // These two marks are letters, with which a text can begin as well; the others no text has.
  const isLettered = image === "image/gif" || startsWith(head, "%PDF-");
  if (isLettered && isTextBehindMark(extension, head)) return undefined;
  if (image !== undefined) return "image";
  if (startsWith(head, "%PDF-")) return "pdf";
  // A picture without a single byte is a broken picture, not an empty text.
  if (head.length === 0 && imageExtensions.includes(extension)) return "image";
  switch (extension) {
    case ".ipynb":
      return "notebook";
    case ".docx":
    case ".xlsx":
    case ".pptx":
      // A zip file; behind a password it is Microsoft's older container instead.
      return startsWith(head, "PK\x03\x04") || startsWith(head, "\xd0\xcf\x11\xe0") ? "office" : undefined;
    default:
      return undefined;
  }
}

/**
 * A text that only begins like a picture or a document: nothing in it but what a text holds, where a GIF has a header of
 * numbers and a PDF a version and objects. A file that is called one is one, if a damaged one.
 */
function isTextBehindMark(extension: string, head: Uint8Array): boolean {
  if (extension === ".gif" || extension === ".pdf") return false;
  if (head.some((byte) => byte >= 0x7f || (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13))) return false;
  if (!startsWith(head, "%PDF-")) return true;
  const text = Buffer.from(head).toString("latin1");
  return !/^%PDF-\d\.\d\s/.test(text) || !firstObject.test(text);
}

/** Tried at the beginning of a number only, and of no more digits than one has: a head of digits is looked at once. */
const firstObject = /(?<!\d)\d{1,10} \d{1,5} obj\b/;

const imageExtensions = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic"];

/** The MIME type of an image, by its magic bytes; undefined for anything else, SVG included (it is text). */
export function imageType(head: Uint8Array): string | undefined {
  if (startsWith(head, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (startsWith(head, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(head, "GIF87a") || startsWith(head, "GIF89a")) return "image/gif";
  if (startsWith(head, "RIFF") && startsWith(head, "WEBP", 8)) return "image/webp";
  if (startsWith(head, "II*\0") || startsWith(head, "MM\0*")) return "image/tiff";
  if (isBmp(head)) return "image/bmp";
  if (startsWith(head, "ftyp", 4)) {
    if (startsWith(head, "avif", 8) || startsWith(head, "avis", 8)) return "image/avif";
    if (["heic", "heix", "hevc", "hevx", "mif1", "msf1"].some((brand) => startsWith(head, brand, 8)))
      return "image/heic";
  }
  return undefined;
}

/** "BM" alone begins many a text: the header behind it must make sense too. */
function isBmp(head: Uint8Array): boolean {
  if (!startsWith(head, "BM") || head.length < 18) return false;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const headerBytes = view.getUint32(14, true);
  return view.getUint32(6, true) === 0 && [12, 40, 52, 56, 64, 108, 124].includes(headerBytes);
}

function startsWith(bytes: Uint8Array, latin1: string, at = 0): boolean {
  if (bytes.length < at + latin1.length) return false;
  for (let index = 0; index < latin1.length; index += 1) {
    if (bytes[at + index] !== latin1.charCodeAt(index)) return false;
  }
  return true;
}
