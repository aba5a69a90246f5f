/** What an open file is, in the order of the specification: media, restricted name, binary content, text. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { type MediaKind, Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { type ByteForm, looksBinary, sniff, wideForm } from "../text/encoding.ts";
import { mediaOf } from "./media.ts";
import type { Restricted } from "./restricted.ts";
import type { TextFile } from "./text-file.ts";

/** What the file is to be read as. */
export type Recognised = ({ readonly as: "text" } & TextFile) | { readonly as: MediaKind };

/** What the first bytes of a large file said, kept for its next page. */
export interface Recognition {
  readonly form: ByteForm | undefined;
  readonly guess: NonNullable<TextFile["guess"]>;
}

/** What is known of a file before a byte of it is looked at. */
export interface Known {
  /** From the last look at the same state. */
  readonly known: Recognition | undefined;
  readonly keep: (recognition: Recognition) => void;
  /** The encoding that it was written in. A byte order mark says more. */
  readonly encoding?: EncodingName | undefined;
}

/** Looks at the first bytes. Throws the Problem that the profile makes of a kind it does not read. */
export async function recognise(
  file: OpenFile,
  target: Target,
  profile: Pick<Profile, "kinds" | "nulSampleBytes">,
  restricted: Restricted,
  scratch: Buffer,
  kept: Known,
): Promise<Recognised> {
  const head = async (): Promise<Uint8Array> => {
    // A size of 0 can be a lie of the file system: ask for bytes anyway, and then those are all.
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
  const told = sniffed !== undefined && sniffed.bomBytes > 0 ? undefined : kept.encoding;
  const form = told === undefined ? sniffed : wideForm(told);
  // A UTF-8 BOM says nothing about NULs; only in UTF-16 and UTF-32 are they part of text.
  if ((form?.unitBytes ?? 1) === 1 && looksBinary(first, profile.nulSampleBytes)) {
    throw new Problem({ code: "BINARY_FILE", place: target, reason: "content" });
  }
  const whole = first.length >= file.sizeBytes ? first : undefined;
  const guessed = (guess: Recognition["guess"]): void => {
    if (whole === undefined) kept.keep({ form, guess });
  };
  const guess = told === undefined || form !== undefined ? undefined : { encoding: told, decided: true };
  return { as: "text", file, target, form, whole, head: async () => first, guess, guessed };
}
