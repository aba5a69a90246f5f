/** Reading in the `opencode-legacy` dialect: lines are what stands between newlines, and `\r` stays in them. */

import type { Profile } from "../../contract/profile.ts";

export const profile: Profile = {
  lines: "split",
  lineCharsMax: 2_000,
  cutMark: "...",
  pageBytesMax: 51_200,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "empty",
  nulSampleBytes: 4_096,
  longCode: "first page",
  repeats: "content",
  documents: "attached",
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "skip", office: "skip" },
};
