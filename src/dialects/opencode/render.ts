/** Answers in the `opencode` dialect: path, type and content between tags. */

import type { DirectoryOutcome, Entry, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/escape.ts";
import { firstLines, numbered } from "../numbered.ts";
import { rendererOf } from "../opencode-render.ts";
import { footerOf, previewLines, type ReadResult, resultOf } from "../opencode-words.ts";
import { profile } from "./profile.ts";

const colon = { digitsMin: 1, pad: " ", mark: ": " } as const;

export const numberLine = (number: number, text: string): string => `${number}: ${text}`;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const foot = `\n\n${footerOf(page, profile.pageBytesMax)}\n</content>`;
  const output = numbered(page, colon, `${head(outcome, "file")}\n<content>\n`, foot);
  return resultOf(outcome.target, output, firstLines(page, previewLines), page.stopped !== "end", outcome);
}

function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(entryName);
  const last = outcome.from + names.length - 1;
  const isHidden = outcome.entriesTotal === 0 && outcome.withheld > 0;
  const foot =
    outcome.next === undefined
      ? `(${outcome.entriesTotal} entries${isHidden ? " shown, all are withheld by permission rules" : ""})`
      : `(Showing ${names.length} of ${outcome.entriesTotal} entries. Use 'offset' parameter to read beyond entry ${last})`;
  const output = `${head(outcome, "directory")}\n<entries>\n${names.join("\n")}\n\n${foot}\n</entries>`;
  return resultOf(outcome.target, output, names, outcome.next !== undefined);
}

const head = ({ target }: TextOutcome | DirectoryOutcome, type: "file" | "directory"): string =>
  `<path>${escapeName(target.absolute)}</path>\n<type>${type}</type>`;

function entryName(entry: Entry): string {
  const folder = entry.kind === "directory" || entry.leadsTo === "directory";
  return escapeName(entry.name) + (folder ? "/" : "");
}

export const render = rendererOf({ first: 1, numberLine, textResult, directoryResult });
