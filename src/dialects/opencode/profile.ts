/** Reading in the `opencode` dialect: files and folders, pages of at most 51,200 bytes. */

import type { Profile } from "../../contract/profile.ts";

export const profile: Profile = {
  lines: "terminated",
  lineCharsMax: 2_000,
  cutMark: "...",
  pageBytesMax: 51_200,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "refused",
  nulSampleBytes: 4_096,
  longCode: "first page",
  repeats: "content",
  documents: "attached",
  kinds: { directory: "read", image: "read", pdf: "read", notebook: "skip", office: "read" },
};
