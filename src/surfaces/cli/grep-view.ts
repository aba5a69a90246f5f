/** What `filehand grep` found, for a person: files as headings, numbers that step back, matches that stand out. */

import type { Reply } from "../../contract/call.ts";
import type { GrepLine } from "../../contract/grep.ts";
import type { GrepResult } from "../../dialects/claude/grep-render.ts";
import { escapeName, visibleControls } from "../../text/escape.ts";
import { styled } from "./style.ts";

export interface GrepView {
  readonly found: string;
  /** What is said about it: for stderr, so that a pipe has nothing but what was found. */
  readonly notes: string;
}

export function paintedMatches(reply: Reply, colours: boolean): GrepView {
  const result = reply.structured as GrepResult; // a search that did not fail, in the dialect `claude`
  const text = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const said = text.split("\n");
  const notes = said.slice(said.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1).map((line) => line.slice(1, -1));
  const none = result.totalFiles === 0 ? [said[0] ?? ""] : [];
  return { found: foundOf(result, colours), notes: [...none, ...notes].join("\n") };
}

function foundOf(result: GrepResult, colours: boolean): string {
  const paint = (style: "magenta" | "green", text: string): string => (colours ? styled(style, text) : text);
  switch (result.mode) {
    case "files_with_matches":
      return result.filenames.map((name) => paint("magenta", escapeName(name))).join("\n");
    case "count":
      return (result.counts ?? [])
        .map(
          (count, index) =>
            `${paint("magenta", escapeName(result.filenames[index] ?? ""))}:${paint("green", String(count))}`,
        )
        .join("\n");
    case "content":
      return colours && result.lines !== undefined ? blocks(result.lines) : (result.content ?? "");
  }
}

type ShownLine = GrepLine & { readonly file: string };

function blocks(lines: readonly ShownLine[]): string {
  const width = String(Math.max(0, ...lines.map(({ line }) => line))).length;
  return lines
    .flatMap((line, index) => {
      const before = lines[index - 1];
      const heading =
        before?.file === line.file
          ? []
          : [...(before === undefined ? [] : [""]), styled("magenta", escapeName(line.file))];
      const gap =
        before?.file === line.file && line.line !== before.line + 1 && lines.some(({ is }) => is === "context");
      const number = styled(line.is === "match" ? "green" : "dim", String(line.line).padStart(width));
      return [...heading, ...(gap ? [styled("dim", "--")] : []), `${number} ${textOf(line)}`];
    })
    .join("\n");
}

/** Controls are made visible piece by piece: that may change the length of a piece. */
function textOf({ text, spans = [], cutBefore, cutBehind }: ShownLine): string {
  const mark = styled("dim", "...");
  let shown = "";
  let at = 0;
  for (const [from, to] of spans) {
    shown += visibleControls(text.slice(at, from)) + styled(["red", "bold"], visibleControls(text.slice(from, to)));
    at = to;
  }
  return (cutBefore ? mark : "") + shown + visibleControls(text.slice(at)) + (cutBehind ? mark : "");
}
