/** From bytes of a text file to its text: UTF-8 until the bytes say otherwise. */

import type { EncodingName } from "../contract/read.ts";
import { decode, isUtf8 } from "../text/encoding.ts";
import { decideEncoding } from "./charset.ts";
import type { TextFile } from "./text-file.ts";

export interface Decoder {
  readonly encoding: EncodingName;
  readonly lossy: boolean;
  /** Whole lines. */
  text(bytes: Uint8Array): Promise<string>;
  /** The beginning of a line, cut anywhere: a character that the cut goes through is left out. */
  beginning(bytes: Uint8Array): Promise<string>;
}

/**
 * UTF-8 until bytes turn up that are not; then the encoding is decided once, from the file's beginning and the bytes
 * at hand, and kept.
 */
export async function startDecoding(text: TextFile): Promise<Decoder> {
  let lossy = false;
  let decided = text.form !== undefined;
  let encoding: EncodingName = text.form?.encoding ?? "utf-8";
  const decide = async (samples: readonly Uint8Array[]): Promise<void> => {
    decided = true;
    ({ encoding } = await decideEncoding(samples));
  };
  if (text.guess !== undefined) ({ encoding, decided } = text.guess);
  else if (!decided) {
    const head = await text.head();
    if (!isUtf8(head, text.whole === undefined ? "anywhere" : "complete")) await decide([head]);
    text.guessed({ encoding, decided });
  }

  const decodeAs = async (bytes: Uint8Array, trimMax: number): Promise<string> => {
    let result = decode(bytes, encoding);
    if (result.lossy && !decided && !isUtf8(bytes, trimMax > 0 ? "anywhere" : "complete")) {
      await decide([await text.head(), bytes]);
      result = decode(bytes, encoding);
    }
    for (let trim = 1; result.lossy && trim <= trimMax; trim += 1) {
      const shorter = decode(bytes.subarray(0, bytes.length - trim), encoding);
      if (!shorter.lossy) result = shorter;
    }
    lossy ||= result.lossy;
    return result.text;
  };
  return {
    get encoding() {
      return encoding;
    },
    get lossy() {
      return lossy;
    },
    text: (bytes) => decodeAs(bytes, 0),
    beginning: (bytes) => decodeAs(bytes, 3),
  };
}
