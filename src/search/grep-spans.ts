/** Which parts of lines match, for whoever shows them in another colour: ripgrep is asked again, about these lines only. */

import { type GrepQuery, spanArguments } from "./grep-arguments.ts";
import { type RipgrepRun, runRipgrep } from "./ripgrep.ts";

/** From and to, in UTF-16 units of the line. */
export type Span = readonly [number, number];

/** For each line its matches, in order. A match that reaches over lines is not found in them. */
export async function matchSpans(
  lines: readonly string[],
  query: Pick<GrepQuery, "pattern" | "letterCase">,
  run: Pick<RipgrepRun, "cwd" | "signal" | "notBeneath">,
): Promise<readonly (readonly Span[])[]> {
  const spans: Span[][] = lines.map(() => []);
  const chunks: Buffer[] = [];
  await runRipgrep(spanArguments(query), {
    ...run,
    input: Buffer.from(lines.map((line) => line.replace(/[\r\n\0]/g, " ")).join("\n")),
    onChunk: (chunk) => {
      chunks.push(chunk);
      return "more";
    },
  });
  for (const message of Buffer.concat(chunks).toString("utf8").split("\n")) {
    if (!message.startsWith('{"type":"match"')) continue;
    const { data } = JSON.parse(message) as MatchMessage; // as ripgrep documents it
    const text = lines[data.line_number - 1] ?? "";
    const bytes = Buffer.from(text);
    const at = (byte: number): number =>
      bytes.length === text.length ? byte : bytes.subarray(0, byte).toString("utf8").length;
    for (const { start, end } of data.submatches) {
      if (end > start) spans[data.line_number - 1]?.push([at(start), at(end)]);
    }
  }
  return spans;
}

interface MatchMessage {
  readonly data: {
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}
