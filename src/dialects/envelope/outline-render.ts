/** Outlines in the `envelope` dialect: a text of which no line was read, but what it declares. */

import type { Reply } from "../../contract/call.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import { escapeName } from "../../text/escape.ts";
import type { Facts } from "../dialect.ts";
import { outlineEntries, outlineLines, outlineMeasure, outlineNotes } from "../outline-text.ts";
import { contextOf, wholeMs } from "./context.ts";
import { outlineNames } from "./problems.ts";
import type { TextEnvelope } from "./render.ts";

export interface OutlineEntry {
  readonly name: string;
  readonly kind: string;
  readonly start_line: number;
  readonly end_line: number;
  /** 0 for what stands by itself. */
  readonly depth: number;
  /** How many more are inside and not shown. */
  readonly hidden?: number;
}

export function renderOutline(outcome: OutlineOutcome, facts: Facts): Reply<TextEnvelope> {
  const lines = outlineLines(outcome);
  const text = [
    `Outlined '${escapeName(outcome.target.asked)}' (${outlineMeasure(outcome)}).`,
    `(Took ${wholeMs(facts)}ms)`,
    ...outlineNotes(outcome, outlineNames).map((note) => `[${note.charAt(0).toUpperCase()}${note.slice(1)}.]`),
  ].join("\n");
  const truncated = outcome.why === "over budget" || outcome.items.length < outcome.total || outcome.counted !== "all";
  const content = lines.map((line) => `${line}\n`).join("");
  const envelope: TextEnvelope = {
    status: truncated || outcome.lossy ? "partial" : "success",
    data: {
      content,
      truncated,
      ...(outcome.lossy ? { fallback_encoding: "replace" as const } : {}),
      outline: outlineEntries(outcome).map(entryOf),
    },
    text,
    stats: {
      time_ms: wholeMs(facts),
      lines_read: 0,
      chars_read: 0,
      total_lines: outcome.linesTotal,
      file_size_bytes: outcome.sizeBytes,
      file_mtime_ms: outcome.mtimeMs,
      encoding: outcome.encoding,
    },
    context: contextOf(facts, outcome.target.realRelative),
  };
  const body = content === "" ? text : `${text}\n\n${content}`;
  return { content: [{ type: "text", text: body }], structured: envelope, isError: false };
}

function entryOf({ name, kind, startLine, endLine, ...rest }: ReturnType<typeof outlineEntries>[number]): OutlineEntry {
  return { name, kind, start_line: startLine, end_line: endLine, ...rest };
}
