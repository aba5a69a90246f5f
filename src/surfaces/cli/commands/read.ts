/** `filehand read`: a file, a part of it, its end, or several parts. */

import * as nodePath from "node:path";
import type { LineRange, ReadRequest } from "../../../contract/read.ts";
import { lineNumber } from "../../../contract/target.ts";
import { escapeName } from "../../../text/text.ts";
import { type Command, type ExitCode, type Given, type Host, option, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { integerOf } from "../parse.ts";
import { coloured, isForPerson, orJsonFailure, print, printJson, styled } from "../print.ts";
import { progressBar } from "../progress.ts";
import { showRequest } from "../change.ts";

export const read: Command = {
  name: "read",
  summary: "Show a text file, or the part of it that is asked for",
  parameters: ["<path>", "[path...]"],
  options: {
    offset: option.integer("First line, counted from 1; -N counts from the end"),
    limit: option.integer("How many lines", { min: 1 }),
    column: option.integer("Show line --offset alone, from its Nth character on", { min: 1 }),
    tail: option.integer("The last N lines", { min: 1 }),
    "no-count": option.flag("With --tail: do not count the lines of the file, number them from its end"),
    range: option.list("A-B", "Lines A to B; may be given several times (A-: from A on, A: one line)"),
    pages: option.text("A-B", "Pages of a PDF, such as 3 or 1-5: their text, and pictures of them"),
    tokens: option.flag("Say what the file would cost in tokens instead of showing it"),
    "line-chars": option.integer("Show up to N characters of a line before it is cut", { min: 1 }),
  },
  examples: [
    "filehand read src/index.ts",
    "filehand read src/index.ts:120-140 README.md",
    "filehand read big.log --tail 20",
    "filehand read huge.log --tail 2000 --no-count",
    "filehand read big.log --offset 1200000 --limit 50",
    "filehand read notes.md --range 1-10 --range 200-220",
    "filehand read report.pdf --pages 2-4",
    "filehand read package-lock.json --tokens",
    "filehand read src/index.ts --dialect opencode --json",
  ],
  details: [
    "A path may end with lines, as compilers and grep write them: src/index.ts:120 or src/index.ts:120-140.",
    "With several paths the name of each stands before it; with --json each is a line.",
  ].join("\n"),
  async run(given, host) {
    let worst: ExitCode = 0;
    for (const named of given.parameters) {
      if (given.parameters.length > 1 && isForPerson(given)) {
        const head = `==> ${escapeName(named)} <==`;
        host.stdout.write(`${coloured(host, "stdout") ? styled("bold", head) : head}\n`);
      }
      const code = await readOne(named, given, host);
      if (code !== 0) worst = code;
    }
    return worst;
  },
};

/** `a.ts:120-140` is a part of `a.ts`, unless a file has that name. */
async function placeNamed(
  named: string,
  given: Given,
  { cwd }: Host,
): Promise<{ readonly path: string; readonly lines?: string }> {
  const [, path, lines] = /^(.+):(\d{1,15}(?:-\d{0,15})?)$/s.exec(named) ?? [];
  const givesPart = ["offset", "limit", "column", "tail", "range", "pages"].some((name) => given.list(name).length > 0);
  if (path === undefined || lines === undefined || givesPart) return { path: named };
  // Loaded on demand, because few paths end in this way.
  const { isThere } = await import("../../../settings/client-file.ts");
  return isThere(nodePath.resolve(cwd, named)) ? { path: named } : { path, lines };
}

async function readOne(named: string, given: Given, host: Host): Promise<ExitCode> {
  const { path, lines } = await placeNamed(named, given, host);
  const pages = given.text("pages");
  const request: Omit<ReadRequest, "profile"> = {
    verb: "read",
    path,
    ranges: lines === undefined ? rangesOf(given) : [rangeOf(lines)],
    ...(pages !== undefined && { pages }),
    overBudget:
      given.integer("limit") !== undefined || given.list("range").length > 0 || lines !== undefined
        ? "refuse"
        : "first page",
  };
  if (given.flag("tokens")) return orJsonFailure(given, host, () => showCost(request.path, given, host));
  const bar = progressBar("Counting lines", given, host);
  return showRequest((profile) => ({ ...request, profile }), given, host, { bar });
}

function rangesOf(given: Given): readonly [LineRange, ...LineRange[]] {
  const tail = given.integer("tail");
  const offset = given.integer("offset");
  const limit = given.integer("limit");
  const column = given.integer("column");
  const texts = given.list("range");
  const isPart = offset !== undefined || limit !== undefined || column !== undefined;
  const ways = [tail !== undefined, isPart, texts.length > 0].filter(Boolean);
  if (ways.length > 1) throw new UsageError("Use either --tail, or --offset with --limit or --column, or --range");
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
  if (first !== undefined) return [first, ...rest];
  const linesMax = limit ?? Number.POSITIVE_INFINITY;
  return [{ from: lineNumber(offset ?? 1), linesMax, ...(column !== undefined && { column }) }];
}

function rangeOf(given: string): LineRange {
  const parts = /^(\d+)(?:(-)(\d*))?$/.exec(given.trim());
  if (parts === null) throw new UsageError(`--range must look like 10-20, 10- or 10, not "${given}"`);
  const from = integerOf(parts[1] ?? "", "--range");
  const to =
    parts[2] === undefined ? from : parts[3] === "" ? Number.POSITIVE_INFINITY : integerOf(parts[3] ?? "", "--range");
  if (from < 1 || to < from)
    throw new UsageError(`--range ${given} has no lines: it must begin at 1 or later and not end before`);
  return { from: lineNumber(from), linesMax: to - from + 1 };
}

async function showCost(path: string, given: Given, host: Host): Promise<ExitCode> {
  const { session } = await openSession(given, host, "people");
  const bar = progressBar("Counting tokens", given, host);
  const cost = await session.cost(path, { signal: host.signal, onProgress: bar.show });
  bar.clear();
  if (given.flag("json")) return printJson(cost, host);
  const { tokens, counted, lines, sizeBytes, tokensMax } = cost;
  const many = (value: number): string => Math.round(value).toLocaleString("en-US");
  const pages = Math.ceil(tokens / tokensMax);
  const fits = pages <= 1 ? "one read" : `about ${many(pages)} reads`;
  const size = `${lines === undefined ? "" : `${many(lines)} lines, `}${many(sizeBytes)} bytes`;
  return print(`${many(tokens)} tokens (${counted}), ${size}: ${fits} within the budget of ${many(tokensMax)}`, host);
}
