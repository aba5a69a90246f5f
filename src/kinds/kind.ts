/** Recognises what an open file is, in the order of the specification: media, restricted name, binary content, text. */

import { Buffer } from "node:buffer";
import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { type MediaKind, Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/disk.ts";
import { type ByteForm, looksBinary, sniff, wideForm } from "../text/text.ts";
import type { Restricted } from "./restricted.ts";
import type { TextFile } from "./text-file.ts";

export type Recognised = ({ readonly as: "text" } & TextFile) | { readonly as: MediaKind };

/** What the first bytes of a large file said, cached for its next page. */
export interface Recognition {
  readonly form: ByteForm | undefined;
  readonly guess: NonNullable<TextFile["guess"]>;
}

export interface KnownFile {
  readonly known: Recognition | undefined;
  readonly keep: (recognition: Recognition) => void;
  /** The encoding that the session wrote the file in. A byte order mark outweighs it. */
  readonly encoding?: EncodingName | undefined;
}

/** Reads the first bytes. Throws the Problem for a kind that the profile does not read. */
export async function recognise(
  file: OpenFile,
  target: Target,
  profile: Pick<Profile, "kinds" | "nulSampleBytes">,
  restricted: Restricted,
  scratch: Buffer,
  kept: KnownFile,
): Promise<Recognised> {
  const head = async (): Promise<Uint8Array> => {
    // Some file systems report a size of 0 for files with content (`/proc`): then the bytes read are the content.
    const wanted = file.sizeBytes === 0 ? limits.headBytesMax : Math.min(file.sizeBytes, limits.headBytesMax);
    return scratch.subarray(0, await file.read(scratch.subarray(0, wanted), 0));
  };
  if (kept.known !== undefined)
    return { as: "text", file, target, ...kept.known, whole: undefined, head, guessed: () => undefined };

  const first = await head();
  const name = nodePath.basename(target.real);
  const media = mediaOf(name, first);
  if (media !== undefined && profile.kinds[media] === "read") return { as: media };
  if (media !== undefined && profile.kinds[media] === "refuse") {
    throw new Problem({ code: "BINARY_FILE", place: target, reason: "kind", kind: media });
  }
  const why = restricted.why(name);
  if (why !== undefined) throw new Problem({ code: "BINARY_FILE", place: target, ...why });
  const sniffed = sniff(first);
  const writtenIn = sniffed !== undefined && sniffed.bomBytes > 0 ? undefined : kept.encoding;
  const form = writtenIn === undefined ? sniffed : wideForm(writtenIn);
  // A UTF-8 BOM says nothing about NULs; they are part of text only in UTF-16 and UTF-32.
  if ((form?.unitBytes ?? 1) === 1 && looksBinary(first, profile.nulSampleBytes)) {
    throw new Problem({ code: "BINARY_FILE", place: target, reason: "content" });
  }
  const whole = first.length >= file.sizeBytes ? first : undefined;
  const guessed = (guess: Recognition["guess"]): void => {
    if (whole === undefined) kept.keep({ form, guess });
  };
  const guess = writtenIn === undefined || form !== undefined ? undefined : { encoding: writtenIn, decided: true };
  return { as: "text", file, target, form, whole, head: async () => first, guess, guessed };
}

// Recognises media by their first bytes. The extension decides only where the bytes cannot (office, notebooks).

export function mediaOf(name: string, head: Uint8Array): MediaKind | undefined {
  const extension = nodePath.extname(name).toLowerCase();
  const image = imageType(head);
  // The magic bytes of these two are letters, so a text can begin with them; no text begins with the others.
  const isLettered = image === "image/gif" || startsWith(head, "%PDF-");
  if (isLettered && isTextAfterMagic(extension, head)) return undefined;
  if (image !== undefined) return "image";
  if (startsWith(head, "%PDF-")) return "pdf";
  // An empty file with an image's extension is a broken image, not an empty text.
  if (head.length === 0 && imageExtensions.includes(extension)) return "image";
  switch (extension) {
    case ".ipynb":
      return "notebook";
    case ".docx":
    case ".xlsx":
    case ".pptx":
      // A zip file; with a password it is Microsoft's older container instead.
      return startsWith(head, "PK\x03\x04") || startsWith(head, "\xd0\xcf\x11\xe0") ? "office" : undefined;
    default:
      return undefined;
  }
}

/** Text that only begins like a GIF or a PDF. A file with the extension of one counts as one, even if damaged. */
function isTextAfterMagic(extension: string, head: Uint8Array): boolean {
  if (extension === ".gif" || extension === ".pdf") return false;
  if (head.some((byte) => byte >= 0x7f || (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13))) return false;
  if (!startsWith(head, "%PDF-")) return true;
  const text = Buffer.from(head).toString("latin1");
  return !/^%PDF-\d\.\d\s/.test(text) || !firstObject.test(text);
}

/** The lookbehind and the digit limits keep this linear: each digit of a long run is looked at once. */
const firstObject = /(?<!\d)\d{1,10} \d{1,5} obj\b/;

const imageExtensions = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic"];

export type ImageMime = `image/${"png" | "jpeg" | "gif" | "webp" | "tiff" | "bmp" | "avif" | "heic"}`;

/** The MIME type of an image, by its magic bytes; undefined for anything else, SVG included (it is text). */
export function imageType(head: Uint8Array): ImageMime | undefined {
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

/** Texts can begin with "BM": the header after it must make sense too. */
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
