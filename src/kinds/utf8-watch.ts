/** Whether bytes that go by are UTF-8; and what they are, if they turn out not to be. */

import { Buffer } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { isUtf8, unfinishedBytes } from "../text/encoding.ts";
import { decideEncoding } from "./charset.ts";

export interface Utf8Watch {
  /** Chunks in their order, cut anywhere. None is kept. */
  see(chunk: Uint8Array): void;
  /** UTF-8 if nothing else was seen; else what the first chunk that is not is taken for, as a page of it would be. */
  encoding(head: Uint8Array): Promise<EncodingName>;
}

export function startUtf8Watch(): Utf8Watch {
  let other: Buffer | undefined;
  /** The beginning of a character that the chunk before ended with. */
  let cut = Buffer.alloc(0);
  return {
    see(chunk) {
      if (other !== undefined) return;
      const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk]);
      if (!isUtf8(bytes, "anywhere")) other = Buffer.from(bytes.subarray(bytes.indexOf(10) + 1));
      else cut = Buffer.from(bytes.subarray(bytes.length - unfinishedBytes(bytes)));
    },
    async encoding(head) {
      const last = other ?? (cut.length > 0 ? cut : undefined);
      return last === undefined ? "utf-8" : (await decideEncoding([head, last])).encoding;
    },
  };
}
