/** Reading in the `claude` dialect: lines end with newlines, the page ends with the token budget. */

import { limits } from "../../contract/limits.ts";
import type { Profile } from "../../contract/profile.ts";

export const profile: Profile = {
  lines: "terminated",
  lineCharsMax: limits.lineCharsMax,
  cutMark: "...",
  pageBytesMax: limits.pageBytesMax,
  pageTokensMax: limits.pageTokensMax,
  total: "always",
  pastEnd: "refused",
  nulSampleBytes: 8_192,
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "read", office: "read" },
};
