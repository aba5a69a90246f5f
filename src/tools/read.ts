/** Read: find, ask, open, recognise, page. No byte is read before reading is permitted. */

import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { ReadOutcome, ReadRequest } from "../contract/read.ts";
import { IndexWrong } from "../disk/line-source.ts";
import { type OpenFile, ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { refusal } from "../guard/guard.ts";
import { recognise } from "../kinds/kind.ts";
import { readText } from "../kinds/text.ts";
import { listing } from "./listing.ts";
import { type Located, locate } from "./locate.ts";
import type { Bench, Tool } from "./tool.ts";

export const read: Tool<"read"> = async (request, bench) => {
  for (let tries = 1; ; tries += 1) {
    const located = await locate(request.path, "file", bench);
    try {
      return await readLocated(located, request, bench);
    } catch (error) {
      // The file was cut short, or an index did not fit it after all: look at it anew.
      if (!(error instanceof FileCut || error instanceof IndexWrong)) throw error;
      if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: located.target });
    } finally {
      located.found.held.close();
    }
  }
};

async function readLocated(located: Located, request: ReadRequest, bench: Bench): Promise<ReadOutcome> {
  const { found, target } = located;
  await bench.guard.permit("read", target, bench.signal);
  switch (found.kind) {
    case "directory": {
      if (request.profile.kinds.directory !== "read") throw new Problem({ code: "IS_DIRECTORY", place: target });
      const [range] = request.ranges;
      if ("last" in range) throw new Problem({ code: "IS_DIRECTORY", place: target });
      return listing(located, { from: range.from, entriesMax: range.linesMax }, bench);
    }
    case "file":
      return readFile(located, request, bench);
    default:
      throw new Problem({ code: "SPECIAL_FILE", place: target, special: found.kind });
  }
}

async function readFile({ found, target }: Located, request: ReadRequest, bench: Bench): Promise<ReadOutcome> {
  const file: OpenFile | { errno: string } = bench.disk.open(found);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  try {
    const text = await recognise(file, target, request.profile, bench.restricted);
    if (request.pages !== undefined) throw new Problem({ code: "INVALID_PARAM", reason: "pages", place: target });
    const outcome = await readText(text, request, {
      store: bench.indexes,
      signal: bench.signal,
      onProgress: bench.onProgress,
    });
    // A page is of one state: what was rewritten meanwhile is read again.
    if (file.changed() === "rewritten") throw new FileCut();
    return outcome;
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    throw error;
  } finally {
    file.close();
  }
}
