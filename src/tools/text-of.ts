/** A file as the text that it is, also where its dialect shows it as something else. */

import type { Profile } from "../contract/profile.ts";
import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { recognise } from "../kinds/kind.ts";
import type { TextFile } from "../kinds/text-file.ts";
import type { Bench } from "./tool.ts";

const kinds = { directory: "refuse", image: "refuse", pdf: "refuse", office: "refuse", notebook: "skip" } as const;

/** Throws the Problem that a file of another kind is. `scratch` MUST NOT be given back while the text is in use. */
export async function textOf(
  file: OpenFile,
  target: Target,
  profile: Profile,
  scratch: Buffer,
  { restricted }: Bench,
  encoding?: EncodingName,
): Promise<TextFile> {
  const forgetful = { known: undefined, keep: () => undefined, encoding };
  const { nulSampleBytes } = profile;
  const found = await recognise(file, target, { kinds, nulSampleBytes }, restricted, scratch, forgetful);
  if (found.as !== "text") throw new Error("nothing but text is read as something here");
  return found;
}
