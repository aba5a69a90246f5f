/** What an open file is, in the order of the specification: media, restricted name, binary content, text. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { type MediaKind, Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { looksBinary, sniff } from "../text/encoding.ts";
import { mediaOf } from "./media.ts";
import type { Restricted } from "./restricted.ts";
import type { TextFile } from "./text.ts";

/** Looks at the first bytes. Answers with a text to read, or throws the Problem that the profile makes of the kind. */
export async function recognise(
  file: OpenFile,
  target: Target,
  profile: Profile,
  restricted: Restricted,
): Promise<TextFile> {
  // A size of 0 can be a lie of the file system: ask for bytes anyway, and then those are all.
  const wanted = file.sizeBytes === 0 ? limits.headBytesMax : Math.min(file.sizeBytes, limits.headBytesMax);
  const buffer = Buffer.allocUnsafe(wanted);
  const got = await file.read(buffer, 0);
  const head = buffer.subarray(0, got);
  const whole = got >= file.sizeBytes;

  const name = nodePath.basename(target.real);
  const media = mediaOf(name, head);
  if (media !== undefined) treat(media, target, profile);
  const why = restricted.why(name);
  if (why !== undefined) throw new Problem({ code: "BINARY_FILE", place: target, ...why });
  const form = sniff(head);
  // A UTF-8 BOM says nothing about NULs; only in UTF-16 and UTF-32 are they part of text.
  if ((form?.unitBytes ?? 1) === 1 && looksBinary(head, profile.nulSampleBytes)) {
    throw new Problem({ code: "BINARY_FILE", place: target, reason: "content" });
  }
  return { file, target, head, whole, form };
}

function treat(kind: MediaKind, target: Target, profile: Profile): void {
  switch (profile.kinds[kind]) {
    case "refuse":
      throw new Problem({ code: "BINARY_FILE", place: target, reason: "kind", kind });
    case "read":
      throw new Problem({ code: "NOT_YET", place: target, kind });
    case "skip":
      return;
  }
}
