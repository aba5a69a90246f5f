/** `filehand read`: a file, a part of it, its end, or several parts. */

import type { LineRange, ReadRequest } from "../../../contract/read.ts";
import { lineNumber, type LineNumber } from "../../../contract/target.ts";
import type { Session } from "../../../options.ts";
import { type Command, type ExitCode, type Given, type Host, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { integerOf } from "../parse.ts";
import { orJsonFailure, printJson, printReply, wordsFor } from "../print.ts";
import { progressBar } from "../progress.ts";

export const read: Command = {
  name: "read",
  summary: "Show a text file, or the part of it that is asked for",
  parameters: ["<path>"],
  options: {
    offset: { type: "integer", value: "N", words: "First line, counted from 1; -N counts from the end" },
    limit: { type: "integer", value: "N", words: "How many lines" },
    column: { type: "integer", value: "N", words: "Show line --offset alone, from its Nth character on" },
    tail: { type: "integer", value: "N", words: "The last N lines" },
    "no-count": { type: "flag", words: "With --tail: do not count the lines of the file, number them from its end" },
    range: {
      type: "list",
      value: "A-B",
      words: "Lines A to B; may be given several times (A-: from A on, A: one line)",
    },
    pages: { type: "text", value: "A-B", words: "Pages of a PDF, such as 3 or 1-5: their text, and pictures of them" },
    tokens: { type: "flag", words: "Say what the file would cost in tokens instead of showing it" },
    "line-chars": { type: "integer", value: "N", words: "Show up to N characters of a line before it is cut" },
  },
  examples: [
    "filehand read src/index.ts",
    "filehand read big.log --tail 20",
    "filehand read huge.log --tail 2000 --no-count",
    "filehand read big.log --offset 1200000 --limit 50",
    "filehand read notes.md --range 1-10 --range 200-220",
    "filehand read report.pdf --pages 2-4",
    "filehand read package-lock.json --tokens",
    "filehand read src/index.ts --dialect opencode --json",
  ],
  async run(given, host) {
    const ranges = rangesOf(given);
    const { session, record } = await openSession(given, host, "people");
    const request: Omit<ReadRequest, "profile"> = {
      verb: "read",
      path: given.parameters[0] ?? "",
      ranges,
      ...(given.text("pages") === undefined ? {} : { pages: given.text("pages") ?? "" }),
      overBudget: given.integer("limit") !== undefined || given.list("range").length > 0 ? "refuse" : "first page",
    };
    if (given.flag("tokens")) {
      return orJsonFailure(given, host, () => showCost(session, request.path, given, host));
    }
    const bar = progressBar("Counting lines", given, host);
    const words = wordsFor(given, session);
    const { reply } = await session.run((profile) => ({ ...request, profile }), {
      signal: host.signal,
      onProgress: bar.show,
      ...(words && { words }),
    });
    bar.clear();
    record();
    return printReply(reply, given, host, words);
  },
};

function rangesOf(given: Given): readonly [LineRange, ...LineRange[]] {
  const tail = given.integer("tail");
  const offset = given.integer("offset");
  const limit = given.integer("limit");
  const column = given.integer("column");
  const texts = given.list("range");
  const isPart = offset !== undefined || limit !== undefined || column !== undefined;
  const ways = [tail !== undefined, isPart, texts.length > 0].filter(Boolean);
  if (ways.length > 1) throw new UsageError("Use either --tail, or --offset with --limit or --column, or --range");
  if (column !== undefined && column < 1) throw new UsageError("--column must be at least 1");
  if (limit !== undefined && limit < 1) throw new UsageError("--limit must be at least 1");
  if (tail !== undefined && tail < 1) throw new UsageError("--tail must be at least 1");
  if (offset === 0) throw new UsageError("--offset must be at least 1, or negative to count from the end");

  const fromEnd = given.flag("no-count");
  if (fromEnd && tail === undefined) throw new UsageError("--no-count goes with --tail");
  if (tail !== undefined) return [fromEnd ? { last: tail, numbered: "from the end" } : { last: tail }];
  if (offset !== undefined && offset < 0) {
    if (limit !== undefined && limit < -offset)
      throw new UsageError("--limit cannot cut a negative --offset short, use --range");
    if (column !== undefined) throw new UsageError("--column goes with an --offset that is counted from 1");
    return [{ last: -offset }];
  }
  const [first, ...rest] = texts.map(rangeOf);
  return first === undefined
    ? [
        {
          from: line(offset ?? 1),
          linesMax: limit ?? Number.POSITIVE_INFINITY,
          ...(column !== undefined && { column }),
        },
      ]
    : [first, ...rest];
}

function rangeOf(text: string): LineRange {
  const parts = /^(\d+)(?:(-)(\d*))?$/.exec(text.trim());
  if (parts === null) throw new UsageError(`--range must look like 10-20, 10- or 10, not "${text}"`);
  const from = integerOf(parts[1] ?? "", "--range");
  const to =
    parts[2] === undefined ? from : parts[3] === "" ? Number.POSITIVE_INFINITY : integerOf(parts[3] ?? "", "--range");
  if (from < 1 || to < from)
    throw new UsageError(`--range ${text} has no lines: it must begin at 1 or later and not end before`);
  return { from: line(from), linesMax: to - from + 1 };
}

const line = (value: number): LineNumber => lineNumber(value);

// `filehand read --tokens`: the tokens of a file.

async function showCost(session: Session, path: string, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Counting tokens", given, host);
  const cost = await session.cost(path, { signal: host.signal, onProgress: bar.show });
  bar.clear();
  if (given.flag("json")) {
    printJson(cost, host);
    return 0;
  }
  const { tokens, counted, lines, sizeBytes, tokensMax } = cost;
  const many = (value: number): string => Math.round(value).toLocaleString("en-US");
  const pages = Math.ceil(tokens / tokensMax);
  const fits = pages <= 1 ? "one read" : `about ${many(pages)} reads`;
  host.stdout.write(
    `${many(tokens)} tokens (${counted}), ${lines === undefined ? "" : `${many(lines)} lines, `}${many(sizeBytes)} bytes: ` +
      `${fits} within the budget of ${many(tokensMax)}\n`,
  );
  return 0;
}
