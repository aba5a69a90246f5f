/** The bytes and the diff of a file that is made from a text. */

import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { encode } from "../text/encode.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import type { Diff } from "./plan.ts";

export function newTextFile(target: Target, text: string): { readonly bytes: Uint8Array; readonly diff: Diff } {
  const encoded = encode(text, "utf-8");
  if ("lacks" in encoded) {
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place: target, fault: "lone surrogate" });
  }
  return { bytes: encoded.bytes, diff: hunksOfTexts("", text) };
}
