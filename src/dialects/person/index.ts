/**
 * Words for a person at a terminal: every outcome as lines whose parts a terminal can colour, every problem as a sentence. A person
 * types options instead of parameters and sees the diff of a change, so some sentences differ from those for models.
 */

import type { Reply } from "../../contract/call.ts";
import type { ChangeOutcome } from "../../contract/edit.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { GrepLine, GrepOutcome } from "../../contract/grep.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import type { DirectoryOutcome, Page, TextOutcome, TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import { changeWords, foreignWords } from "../change-text.ts";
import { byKind, type Facts, type Words } from "../dialect.ts";
import { followsDirectly, globNotes, grepBody, grepHead, grepNotes, treeNotes, treeRows } from "../grep-text.ts";
import { historyText } from "../history-text.ts";
import type { DialectName } from "../index.ts";
import { diagnosticLines, lateLines, lspHead, lspNotes, lspRows } from "../lsp-text.ts";
import { imageParts, notebookParts, pageNotices, pdfParts, textOfParts } from "../media-text.ts";
import { outlineMeasure, outlineNotes, outlineRows } from "../outline-text.ts";
import { bracketed, failureReply, quoted, successReply } from "../words.ts";
import { names, sentenceForPerson } from "./problems.ts";
import { rewindLines } from "./rewind.ts";

export { sentenceForPage, sentenceForPerson } from "./problems.ts";
export { rewindHead, rewoundForPerson, type RewindWay } from "./rewind.ts";

/** The dialect whose limits and rules apply to a person's commands. */
export const personDialect = "claude" satisfies DialectName;

/** The role of a part of a line, from which a terminal derives its colour. */
export type Role = "text" | "number" | "notice" | "folder" | "link" | "aside" | "kind" | "file" | "count" | "match";

export interface Piece {
  readonly role: Role;
  /** Unescaped; the printer escapes control characters. */
  readonly text: string;
}

export type Line = readonly Piece[];

export interface View {
  readonly body: readonly Line[];
  readonly notes: readonly Line[];
}

const viewFor = byKind<View>({
  text: textView,
  directory: directoryView,
  image: (outcome) => plainView(textOfParts(imageParts(outcome))),
  pdf: (outcome) => plainView(textOfParts(pdfParts(outcome, "pages"))),
  notebook: (outcome) => plainView(textOfParts(notebookParts(outcome))),
  unchanged: () => view([notice("[The file is as it was when it was shown last]")]),
  outline: outlineView,
  lsp: lspView,
  tree: treeView,
  glob: globView,
  grep: grepView,
  edit: changeView,
  write: changeView,
  "notebook-edit": changeView,
  patch: changeView,
  rewind: (outcome) => view(rewindLines("rewind", outcome).map(text)),
  history: (outcome) => plainView(historyText(outcome, names)),
});

/** For `session.run`: the view is the structured part of the reply. */
export const person: Words = {
  render: (outcome, facts): Reply<View> => {
    const made = viewFor(outcome, facts);
    return successReply(textIn([...made.body, ...made.notes]), made);
  },
  renderProblem: (problem, { verb }) => failureReply(problem.code, sentenceForPerson(problem, verb ?? "read")),
  renderLate: (reports) => lateLines(reports).join("\n"),
  renderForeign: foreignWords,
};

/** The view in a reply of `person`. Several ranges of one file are separate views, joined here with a gap. */
export function viewOf(reply: Reply): View {
  const made = reply.structured as View | { readonly ranges: readonly View[] }; // of a reply in the words of `person`
  if (!("ranges" in made)) return made;
  return view(made.ranges.flatMap(({ body }, at) => (at === 0 ? body : [[], ...body])));
}

const textIn = (lines: readonly Line[]): string =>
  lines.map((line) => line.map((piece) => piece.text).join("")).join("\n");

const view = (body: readonly Line[], notes: readonly Line[] = []): View => ({ body, notes });
const piece = (role: Role, words: string): Piece => ({ role, text: words });
const text = (words: string): Line => [piece("text", words)];
const notice = (words: string): Line => [piece("notice", words)];
const plainView = (words: string): View => view([text(words)]);

function textView(outcome: TextOutcome): View {
  const [page] = outcome.pages;
  const notices = pageNotices(outcome, page, { ends: "long" }).map(notice);
  const lines = numberedLines(page);
  return view(lines.length > 0 && notices.length > 0 ? [...lines, [], ...notices] : [...lines, ...notices]);
}

const numberedLines = ({ from, lines }: Page): readonly Line[] =>
  lines.map((line, at) => [piece("number", `${from + at}→`), piece("text", line)]);

function directoryView({ target, entries, entriesTotal, next, hiddenByRules }: DirectoryOutcome): View {
  const nothing = hiddenByRules > 0 ? "[All of its entries are withheld by permission rules]" : "[The folder is empty]";
  const foot = `[${entries.length} of ${entriesTotal} entries, go on with offset ${next}]`;
  return view([
    folderHead(target.absolute),
    ...entryLines(entries),
    ...(entriesTotal === 0 ? [notice(nothing)] : []),
    ...(next === undefined ? [] : [notice(foot)]),
  ]);
}

function treeView(outcome: TreeOutcome): View {
  const { target, entries, entriesTotal, ignored, hiddenByRules } = outcome;
  const isEmpty = entriesTotal + ignored + hiddenByRules === 0;
  return view([
    folderHead(target.absolute),
    ...(isEmpty ? [notice("[The folder is empty]")] : entryLines(entries)),
    ...treeNotes(outcome, (from) => `go on with offset ${from}`).map((note) => notice(bracketed(note))),
  ]);
}

const folderHead = (path: string): Line => [piece("folder", `${escapeName(path)}/`)];

const entryRoles = {
  directory: "folder",
  link: "link",
  file: "text",
  special: "text",
  unknown: "text",
  more: "text",
} as const satisfies Record<ReturnType<typeof treeRows>[number]["kind"], Role>;

const entryLines = (entries: TreeOutcome["entries"]): readonly Line[] =>
  treeRows(entries).map(({ indent, kind, name, note }) => [
    piece("text", `${indent}- `),
    piece(entryRoles[kind], name),
    piece("aside", note),
  ]);

function outlineView(outcome: OutlineOutcome): View {
  const notes = outlineNotes(outcome, names).map((note) => notice(bracketed(note)));
  const lines = outlineRows(outcome).map(
    ({ indent, lines: numbers, kind, name, inside }): Line => [
      piece("text", indent),
      piece("number", numbers),
      piece("text", " "),
      piece("kind", kind),
      piece("text", ` ${name}`),
      piece("aside", inside),
    ],
  );
  const head = notice(`[Outline of ${quoted(outcome.target.asked)}: ${outlineMeasure(outcome)}]`);
  return view([head, ...lines, ...(notes.length > 0 && lines.length > 0 ? [[]] : []), ...notes]);
}

function lspView(outcome: LspOutcome, facts: Facts): View {
  const rows = lspRows(outcome, facts).map(
    ({ indent, where, what }): Line => [piece("text", indent), piece("aside", where), piece("text", what)],
  );
  const notes = lspNotes(outcome, names).map((note) => notice(bracketed(note)));
  const said = outcome.text === undefined ? [] : [text(outcome.text)];
  return view([notice(`[${lspHead(outcome)}]`), ...rows, ...said, ...notes]);
}

// Searches. Notes are separate, so that a pipe gets only the results.

function globView(outcome: GlobOutcome): View {
  const names = outcome.files.map(({ absolute }): Line => {
    const name = escapeName(absolute);
    const cut = name.lastIndexOf("/") + 1;
    return [piece("aside", name.slice(0, cut)), piece("text", name.slice(cut))];
  });
  const none = names.length === 0 ? ["No files found"] : [];
  return view(names, [...none, ...globNotes(outcome)].map(notice));
}

function grepView(outcome: GrepOutcome, { spell }: Facts): View {
  const paths = outcome.files.map((file) => spell(file.absolute));
  const none = outcome.filesTotal.number === 0 ? [grepHead(outcome)] : [];
  return view(grepLines(outcome, paths), [...none, ...grepNotes(outcome, names)].map(notice));
}

function grepLines(outcome: GrepOutcome, paths: readonly string[]): readonly Line[] {
  const nameOf = (at: number): Piece => piece("file", escapeName(paths[at] ?? ""));
  switch (outcome.mode) {
    case "files":
      return paths.map((_, at) => [nameOf(at)]);
    case "count":
      return outcome.files.map(({ count }, at) => [nameOf(at), piece("text", ":"), piece("count", String(count))]);
    case "content": {
      // The positions of matches are known only if the caller requested them.
      const hasSpans = outcome.files.some(({ lines }) => lines.some(({ spans }) => spans !== undefined));
      if (hasSpans) return headedLines(outcome, nameOf);
      const body = grepBody(outcome, paths);
      return body === "" ? [] : [text(body)];
    }
  }
}

function headedLines({ files }: GrepOutcome, nameOf: (at: number) => Piece): readonly Line[] {
  const all = files.flatMap(({ lines }) => lines);
  const width = String(all.reduce((most, { line }) => Math.max(most, line), 0)).length;
  const withContext = all.some(({ is }) => is === "context");
  return files
    .filter(({ lines }) => lines.length > 0)
    .flatMap((file, at): readonly Line[] => [
      ...(at === 0 ? [] : [[]]),
      [nameOf(files.indexOf(file))],
      ...file.lines.flatMap((line, index): readonly Line[] => {
        const gap = withContext && !followsDirectly(line, file.lines[index - 1]);
        return [...(gap ? [[piece("aside", "--")]] : []), matchLine(line, width)];
      }),
    ]);
}

function matchLine({ line, text: words, is, spans = [], cutBefore, cutBehind }: GrepLine, width: number): Line {
  const mark = piece("aside", "...");
  const pieces: Piece[] = [
    piece(is === "match" ? "count" : "number", String(line).padStart(width)),
    piece("text", " "),
    ...(cutBefore ? [mark] : []),
  ];
  let at = 0;
  for (const [from, to] of spans) {
    pieces.push(piece("text", words.slice(at, from)), piece("match", words.slice(from, to)));
    at = to;
  }
  return [...pieces, piece("text", words.slice(at)), ...(cutBehind ? [mark] : [])];
}

// Changes. The diff shows the lines of the file.

function changeView(outcome: ChangeOutcome): View {
  const { done, notes } = changeWords(outcome, "You");
  const checked = diagnosticLines(outcome, "filehand diagnostics waits longer for its language server");
  return view(done.map(text), [...notes.map(({ words }) => words), ...checked].map(notice));
}
