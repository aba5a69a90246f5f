/** The file that `filehand replay --json` wrote, checked before the page gets it: a page must not fail on a file of another shape. Pure. */

import { isRecord } from "../../contract/common.ts";
import type { ReplayResult } from "../../contract/replay.ts";

const counts = { "": 0 };

/** What every part looks like; each entry of a list is like the first. */
const sample = {
  replay: 1,
  filehand: "",
  tokenizer: "o200k",
  transcripts: { files: 0, skipped: 0, bytes: 0, linesSkipped: 0 },
  clients: [{ client: "", conversations: 0, calls: 0 }],
  compactions: 0,
  calls: { total: 0, replayed: 0, notReplayed: counts },
  recorded: {
    tools: [{ tool: "", calls: 0, failed: 0, tokensWritten: 0, tokensAnswered: 0 }],
    failures: counts,
  },
  shell: { commands: 0, changing: 0, undoable: 0, kinds: counts },
  scores: [
    {
      name: "",
      toolsUsed: [""],
      toolListTokens: 0,
      tools: [{ tool: "", calls: 0, recordedWritten: 0, recordedAnswered: 0, tokensWritten: 0, tokensAnswered: 0 }],
      reads: { calls: 0, sameLines: 0, fewerLines: 0, unchanged: 0, refused: 0, refusals: counts },
      changes: {
        calls: 0,
        sameBytes: 0,
        byTheLetter: 0,
        wrongBytes: 0,
        refused: 0,
        noTool: 0,
        refusals: counts,
      },
      failures: [{ kind: "", calls: 0, applied: 0, confirmed: 0, refused: 0 }],
      searches: { calls: 0, refused: 0, refusals: counts },
      extraTokens: 0,
    },
  ],
  lineEdits: {
    calls: 0,
    recordedWritten: 0,
    recordedAnswered: 0,
    tokensWritten: 0,
    tokensAnswered: 0,
    wrongBytes: 0,
    refused: 0,
  },
  formats: { reads: 0, recordedAnswered: 0, dialects: [{ dialect: "", tokensAnswered: 0 }] },
} as const satisfies ReplayResult;

/** Entries of a list; a replay counts at most 201 names. */
const entriesMax = 1_000;

export const isReplayResult = (value: unknown): value is ReplayResult =>
  isRecord(value) && value["replay"] === 1 && isLike(value, sample);

/** As deep as the sample, however deep the value is. */
function isLike(value: unknown, like: unknown): boolean {
  if (Array.isArray(like)) {
    return Array.isArray(value) && value.length <= entriesMax && value.every((one) => isLike(one, like[0]));
  }
  if (!isRecord(like)) {
    return typeof value === typeof like && (typeof value !== "number" || (Number.isFinite(value) && value >= 0));
  }
  if (!isRecord(value)) return false;
  if (like === counts) {
    const all = Object.values(value);
    return all.length <= entriesMax && all.every((one) => isLike(one, 0));
  }
  return Object.entries(like).every(([key, inner]) => isLike(value[key], inner));
}
