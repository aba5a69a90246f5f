/** The result of a replay in words, for a terminal. Pure. */

import type { Counts, ReplayResult, ReplayScore } from "../../contract/replay.ts";

export function replayText(result: ReplayResult): string {
  const { calls, clients, transcripts, compactions, shell, tokenizer } = result;
  const sections = [
    [
      `${amount(calls.total, "call")} in ${amount(sum(clients.map(({ conversations }) => conversations)), "conversation")} of ${clients.map(({ client }) => client).join(", ") || "no client"}, ${number(calls.replayed)} of them made again`,
      ...(compactions > 0 ? [`${amount(compactions, "compaction")}: what was shown before is forgotten there`] : []),
      ...(transcripts.skipped > 0 ? [`${amount(transcripts.skipped, "file")} skipped: no transcript`] : []),
      ...(transcripts.linesSkipped > 0
        ? [`${amount(transcripts.linesSkipped, "line")} skipped: too long, or no JSON`]
        : []),
      ...listed("Not made again", calls.notReplayed),
    ],
    ...result.scores.flatMap((score) => scoreSections(score)),
    lineEditSection(result),
    formatSection(result),
    [
      `Shell: ${amount(shell.commands, "command")}, ${number(shell.changing)} of them change files, ${number(shell.undoable)} of these could be undone where the workspace is watched`,
      ...listed("By kind", shell.kinds),
    ],
    [tokenizer === "o200k" ? "Tokens are those of o200k" : "Tokens are estimated: the tokenizer is not installed"],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function scoreSections(score: ReplayScore): readonly (readonly string[])[] {
  const { reads, changes, failures, searches } = score;
  const [before, after] = [sum(score.tools.map(recordedOf)), sum(score.tools.map(madeOf))];
  return [
    [
      `${score.name}: ${percent(after, before)} of the recorded tokens, list of tools ${number(score.toolListTokens)} tokens`,
      ...table([
        ["tool", "calls", "recorded", "now", ""],
        ...score.tools.map((tool) => [
          tool.tool,
          number(tool.calls),
          number(recordedOf(tool)),
          number(madeOf(tool)),
          percent(madeOf(tool), recordedOf(tool)),
        ]),
        [
          "all",
          number(sum(score.tools.map(({ calls }) => calls))),
          number(before),
          number(after),
          percent(after, before),
        ],
      ]),
    ],
    [
      `Reads: ${number(reads.calls)}, ${number(reads.sameLines)} with all recorded lines, ${number(reads.unchanged)} answered as unchanged, ${number(reads.fewerLines)} with fewer lines, ${number(reads.refused)} refused`,
      ...listed("Refused", reads.refusals),
      `Changes: ${number(changes.calls)}, ${number(changes.sameBytes)} with the recorded bytes, ${number(changes.byTheLetter)} as the call says, ${number(changes.wrongBytes)} with WRONG bytes, ${number(changes.refused)} refused${changes.noTool > 0 ? `, ${number(changes.noTool)} without a tool for it` : ""}`,
      ...listed("Refused", changes.refusals),
      ...(score.extraTokens > 0
        ? [`Refusals cost ${number(score.extraTokens)} tokens more: the answer, one more read, the call again`]
        : []),
      ...failures.map(
        ({ kind, calls, applied, confirmed }) =>
          `Failed as "${kind}": ${number(calls)}, ${number(applied)} of them apply now (${number(confirmed)} confirmed by a later change)`,
      ),
      ...(searches.calls > 0
        ? [
            `Searches: ${number(searches.calls)}, ${number(searches.refused)} refused`,
            ...listed("Refused", searches.refusals),
          ]
        : []),
    ],
  ];
}

function lineEditSection({ lineEdits }: ReplayResult): readonly string[] {
  const { calls, wrongBytes, refused, recordedWritten, recordedAnswered, tokensWritten, tokensAnswered } = lineEdits;
  if (calls + wrongBytes + refused === 0) return [];
  return [
    `Edits by line (EditLines): ${number(calls)} with the recorded bytes, ${number(wrongBytes)} with other bytes, ${number(refused)} refused`,
    ...table([
      ["tokens", "recorded", "by line", ""],
      ["written", number(recordedWritten), number(tokensWritten), percent(tokensWritten, recordedWritten)],
      ["answered", number(recordedAnswered), number(tokensAnswered), percent(tokensAnswered, recordedAnswered)],
    ]),
  ];
}

function formatSection({ formats }: ReplayResult): readonly string[] {
  if (formats.reads === 0) return [];
  return [
    `Reads by format, ${number(formats.reads)} that every dialect answers in full`,
    ...table([
      ["format", "tokens", ""],
      ["recorded", number(formats.recordedAnswered), "100 %"],
      ...formats.dialects.map(({ dialect, tokensAnswered }) => [
        dialect,
        number(tokensAnswered),
        percent(tokensAnswered, formats.recordedAnswered),
      ]),
    ]),
  ];
}

type Compared = ReplayScore["tools"][number];
const recordedOf = ({ recordedWritten, recordedAnswered }: Compared): number => recordedWritten + recordedAnswered;
const madeOf = ({ tokensWritten, tokensAnswered }: Compared): number => tokensWritten + tokensAnswered;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const number = (value: number): string => value.toLocaleString("en-US");
const amount = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`);

const listed = (head: string, counts: Counts): readonly string[] => {
  const all = Object.entries(counts).map(([name, count]) => `${name} ${number(count)}`);
  return all.length === 0 ? [] : [`  ${head}: ${all.join(", ")}`];
};

/** The first column to the left, numbers to the right. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell[column === 0 ? "padEnd" : "padStart"](widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
}
