/** Ls: the entries of a folder. */

import { Problem } from "../contract/problem.ts";
import { listing } from "./listing.ts";
import { locatePermitted } from "./locate.ts";
import type { Tool } from "./tool.ts";

export const ls: Tool<"ls"> = async (request, bench) => {
  const located = await locatePermitted(request.path, "anything", bench);
  try {
    if (located.found.kind !== "directory") throw new Problem({ code: "NOT_DIRECTORY", place: located.target });
    return await listing(located, { from: request.from, entriesMax: request.entriesMax }, bench);
  } finally {
    located.found.held.close();
  }
};
