/** Reading in the `claude` dialect: lines end with newlines, the page ends with the token budget. */

import { limits } from "../../contract/limits.ts";
import type { NumberStyle, Profile } from "../../contract/profile.ts";

export const arrow: NumberStyle = { digitsMin: 1, pad: " ", mark: "→" };

export const profile: Profile = {
  lines: "terminated",
  // The tokens are the cap. These two only keep a page of nothing but blanks from growing without end.
  lineCharsMax: limits.budgetedLineCharsMax,
  cutMark: "...",
  pageBytesMax: limits.budgetedPageBytesMax,
  pageTokensMax: limits.pageTokensMax,
  numbers: arrow,
  total: "always",
  pastEnd: "refused",
  nulSampleBytes: 8_192,
  longCode: "first page",
  repeats: "stub",
  documents: "pages",
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "read", office: "read" },
};
