/** Reading in the `envelope` dialect: text only, exact totals, no byte cap but the engine's own. */

import { limits } from "../../contract/limits.ts";
import type { Profile } from "../../contract/profile.ts";

export const profile: Profile = {
  lines: "terminated",
  lineCharsMax: limits.lineCharsMax,
  cutMark: "...",
  pageBytesMax: limits.pageBytesMax,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "always",
  pastEnd: "refused",
  nulSampleBytes: 8_192,
  longCode: "first page",
  repeats: "content",
  documents: "pages",
  kinds: { directory: "refuse", image: "refuse", pdf: "refuse", notebook: "skip", office: "refuse" },
};
