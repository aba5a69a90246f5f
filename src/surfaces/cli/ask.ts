/** Questions to the person at the terminal: what would be done, with its diff, and one line as the answer. */

import type { Answer, Asker, Keep, Question } from "../../contract/ask.ts";
import { diffOfText, escapeName, noDiffLine } from "../../text/text.ts";
import { treeQuestionWords, treeVerb } from "../../dialects/dialects.ts";
import { cautionWords, filesAsked, modeWords, shortened } from "../questions.ts";
import type { Given, Host } from "./command.ts";
import { paintDiff, paintName } from "./diff.ts";
import { coloured, styled } from "./print.ts";

/** Diff lines in a question: what is asked about should still be on the screen, or near it. */
const diffLinesMax = 400;

export interface TerminalQuestion {
  /** Undefined if no person can be asked; the engine then refuses and names the rule that would allow the change. */
  readonly asker: Asker | undefined;
  /** Shows a text and asks one question with yes or no; after a yes the questions about single files are answered too. */
  readonly confirm: ((text: string, words: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  diffShown: boolean;
  declined: Extract<Answer, { readonly reply: "reject" }> | undefined;
}

/** `stdin`: `used` if the command reads its input from it. */
export function askingAt(host: Host, given: Given, stdin: "free" | "used"): TerminalQuestion {
  const asking: { -readonly [Key in keyof TerminalQuestion]: TerminalQuestion[Key] } = {
    asker: undefined,
    confirm: undefined,
    diffShown: false,
    declined: undefined,
  };
  const someoneThere = stdin === "free" && host.stdin.isTTY === true && host.stderr.isTTY === true;
  if (!someoneThere || given.flag("json")) return asking;
  const nextLine = lineReader(host);
  let menuShown = false;
  let isConfirmed = false;
  asking.confirm = async (text, words, signal) => {
    host.stderr.write(`\r\x1b[K${text}`);
    for (;;) {
      host.stderr.write(`${paint("bold", words)} [y/N/?] `);
      const line = await nextLine(signal);
      if (line === undefined) host.stderr.write("\n");
      const typed = (line ?? "").trim().toLowerCase();
      isConfirmed = typed === "y" || typed === "yes";
      if (typed !== "?" && typed !== "help") return isConfirmed;
      host.stderr.write("  y  yes, all of it; rules that deny a file still hold\n  n  no, change nothing\n");
    }
  };
  asking.asker = async (question, signal) => {
    const isPlain = question.permission === "edit" && question.metadata["caution"] === undefined;
    if (isConfirmed && isPlain) return { reply: "once" };
    const diff = diffOf(question, host);
    const words = wordsOf(question);
    const caution = cautionOf(question);
    asking.diffShown ||= diff !== "";
    const menu = (): string => `${menuOf(question).join("\n")}\n`;
    // The first characters erase a progress bar.
    host.stderr.write(`\r\x1b[K${diff}${paint("yellow", caution)}${menuShown ? "" : paint("dim", menu())}`);
    menuShown = true;
    for (;;) {
      host.stderr.write(`${paint("bold", words)} ${promptOf(question)} `);
      const line = await nextLine(signal);
      if (line === undefined) host.stderr.write("\n");
      const typed = answerOf(line, question);
      if (typed === "help") {
        host.stderr.write(menu());
        continue;
      }
      const answer = typed === "some" ? await askByHunk(question, host, () => nextLine(signal)) : typed;
      // The diff of a part was not shown yet.
      if (typed === "some" && answer.reply === "once") asking.diffShown = false;
      if (answer.reply === "reject") asking.declined = answer;
      if (answer.reply === "always" && answer.keep === "session") {
        const { rule = "" } = answer;
        host.stderr.write(
          `Always in this run. For other runs: --allow ${quotedForShell(rule)}, or the same in settings\n`,
        );
      }
      return answer;
    }
  };
  const paint = (style: "bold" | "dim" | "yellow", text: string): string =>
    coloured(host, "stderr") ? text.replace(/.+/g, (line) => styled(style, line)) : text;
  return asking;
}

/** Asks about each hunk, as `git add -p` does. An end of the input refuses all. */
async function askByHunk(
  question: Question,
  host: Host,
  nextLine: () => Promise<string | undefined>,
): Promise<Extract<Answer, { readonly reply: "once" | "reject" }>> {
  const { hunks: offered = [] } = question;
  const colour = coloured(host, "stderr");
  const files = filesAsked(question);
  const diffs = files.map(({ diff }) => (diff === undefined ? undefined : diffOfText(diff)));
  const isAllOffered = files.every((_, at) => offered.some(({ file }) => file === at) && diffs[at]?.complete !== false);
  if (!isAllOffered) host.stderr.write(`${hiddenPartWords}\n`);
  const chosen: number[] = [];
  for (let at = 0; at < offered.length; at += 1) {
    const { file = 0, hunk } = offered[at] ?? {};
    const asked = files[file];
    const all = diffs[file]?.hunks ?? [];
    const { hunks, totals } = shortened(hunk === undefined ? all : all.slice(hunk, hunk + 1), Number.POSITIVE_INFINITY);
    host.stderr.write(`${paintDiff(asked?.path ?? "", hunks, { colour, totals })}\n`);
    const what =
      hunk !== undefined
        ? "Apply this hunk?"
        : asked?.deletes === true
          ? "Delete this file?"
          : "Apply it to this file?";
    const words = `(${at + 1}/${offered.length}) ${what}`;
    host.stderr.write(`${colour ? styled("bold", words) : words} ${hunkPrompt} `);
    const answer = hunkAnswerOf(await nextLine());
    if (answer === "none of it") {
      host.stderr.write("\n");
      return { reply: "reject" };
    }
    if (answer === "help") {
      host.stderr.write(`${hunkMenu.join("\n")}\n`);
      at -= 1;
      continue;
    }
    if (answer === "yes") chosen.push(at);
    if (answer === "all the rest") for (; at < offered.length; at += 1) chosen.push(at);
    if (answer === "none of the rest") break;
  }
  return chosen.length === 0 ? { reply: "reject" } : { reply: "once", hunks: chosen };
}

const hiddenPartWords = "Not all of the change is shown; what is not shown is left out if you choose by hunk";

/** As a person can type it again; control characters are escaped. */
const quotedForShell = (text: string): string => `'${escapeName(text).replaceAll("'", "'\\''")}'`;

function diffOf(question: Question, host: Host): string {
  const colour = coloured(host, "stderr");
  let linesLeft = diffLinesMax;
  return filesAsked(question)
    .map(({ path, diff }) => {
      if (diff === undefined) return "";
      const parsed = diffOfText(diff);
      if (parsed === undefined) return `${paintName(path, colour)}\n${noDiffLine}\n`;
      // The totals are those of the text: it may itself say that it does not show all.
      const { hunks: all, ...totals } = parsed;
      const { hunks, lines } = shortened(all, linesLeft);
      linesLeft -= lines;
      return `${paintDiff(path, hunks, { colour, totals })}\n`;
    })
    .join("");
}

const pathOf = (question: Question): string => filesAsked(question)[0]?.path ?? "";

function namesOf(question: Question): string {
  const [real = ""] = question.patterns;
  const path = pathOf(question);
  return path === real ? `"${escapeName(path)}"` : `"${escapeName(path)}", which is "${escapeName(real)}"`;
}

function wordsOf(question: Question): string {
  const { permission, metadata, patterns } = question;
  const [real = ""] = patterns;
  if (permission === "external_directory") {
    return `Let this session into the folder "${escapeName(real)}", outside the workspace, for "${escapeName(pathOf(question))}"?`;
  }
  const files = filesAsked(question);
  if (files.length > 1) return `Apply these changes to ${files.length} files?`;
  // An empty file has no diff, and neither have lines that are too long: then only the path is shown.
  if (metadata["deletes"] === true) return `Delete ${namesOf(question)}?`;
  const does = treeVerb(metadata["tree"]);
  if (does !== undefined) return `${does} ${namesOf(question)}?`;
  const { diff } = metadata;
  const isShown = typeof diff === "string" && diff !== "" && diffOfText(diff) !== undefined;
  if (permission === "edit" && isShown) {
    return pathOf(question) === real ? "Apply this change?" : `Apply this change to ${namesOf(question)}?`;
  }
  const rule = metadata["rule"];
  const why = typeof rule === "string" && rule !== "" ? ` (the rule ${escapeName(rule)} asks)` : "";
  return `${permission === "edit" ? "Change" : "Read"} ${namesOf(question)}?${why}`;
}

/** Changes that are easily overlooked in a diff. */
function cautionOf(question: Question): string {
  const { metadata, permission } = question;
  const { caution, rule, copiedFrom } = metadata;
  const files = filesAsked(question);
  const nameOf = ({ path }: (typeof files)[number]): string => (files.length > 1 ? `"${escapeName(path)}"` : "It");
  const lines = [
    cautionWords(caution) ?? "",
    permission === "edit" && typeof rule === "string" && rule !== ""
      ? `The rule ${escapeName(rule)} asks about ${files.length > 1 ? "some of these files" : metadata["tree"] === undefined ? "this file" : "it"}`
      : "",
    ...files.map((file) => (modeWords(file) === "" ? "" : `${nameOf(file)} ${modeWords(file)}`)),
    ...files.map((file) => {
      const { movedFrom, movedTo, deletes } = file;
      const name = nameOf(file);
      if (deletes) return files.length > 1 ? `${name} is deleted` : "";
      if (movedFrom !== undefined) return `${name} is moved from "${escapeName(movedFrom)}"`;
      return movedTo === undefined ? "" : `${name} is moved to "${escapeName(movedTo)}"`;
    }),
    typeof copiedFrom === "string" ? `It is copied from "${escapeName(copiedFrom)}"` : "",
    ...treeQuestionWords(metadata["tree"]),
  ];
  return lines.map((line) => (line === "" ? "" : `${line}\n`)).join("");
}

/** Reads a line, and pauses the stream between lines so that the process can end. Undefined: end of input, or interrupted. */
function lineReader({ stdin }: Host): (signal: AbortSignal) => Promise<string | undefined> {
  let rest = "";
  let ended = false;
  const take = (): string | undefined => {
    const end = rest.indexOf("\n");
    if (end === -1) return undefined;
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    return line;
  };
  return (signal) =>
    new Promise((resolve) => {
      const ready = take();
      if (ready !== undefined || ended || signal.aborted) return resolve(ready);
      const settle = (line: string | undefined): void => {
        stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
        signal.removeEventListener("abort", onAbort);
        resolve(line);
      };
      const onData = (chunk: Buffer | string): void => {
        rest += chunk.toString();
        const line = take();
        if (line !== undefined) settle(line);
      };
      const onEnd = (): void => {
        ended = true;
        settle(undefined);
      };
      const onAbort = (): void => settle(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      // A listener does not resume a paused stream.
      stdin.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
    });
}

// The answers to a question, as a person reads and types them. Pure.

const letters = { session: "a", project: "p", user: "u" } as const satisfies Record<Keep, string>;
const places = {
  session: "in this run",
  project: "kept in this project's settings",
  user: "kept in your settings",
} as const satisfies Record<Keep, string>;

/** `[y/N/s/always/?]`, without what cannot be answered. */
export const promptOf = (question: Question): string =>
  `[y/N/${hasParts(question) ? "s/" : ""}${question.always.length === 0 ? "" : "always/"}?]`;

const hasParts = ({ hunks = [] }: Question): boolean => hunks.length > 1;

export function menuOf(question: Question): readonly string[] {
  const { always, keep, hunks = [] } = question;
  const rows: [string, string][] = [["y", "yes, this once"]];
  if (hasParts(question)) rows.push(["s", `some of it: each of the ${hunks.length} hunks is asked about`]);
  for (const place of keep) {
    for (const [index, rule] of always.entries()) {
      const words = index === 0 || place === "session" ? `always, ${places[place]}: ${escapeName(rule)}` : "";
      if (words !== "") rows.push([keyOf(place, index), words]);
    }
    const others = always.length > 1 && place !== "session" ? always.slice(1).map((_, at) => keyOf(place, at + 1)) : [];
    if (others.length > 0) rows.push([others.join(", "), `the same for the wider rules, ${places[place]}`]);
  }
  rows.push(["n", "no; words behind it are passed on: n use the other file"]);
  const width = Math.max(...rows.map(([key]) => key.length));
  return rows.map(([key, words]) => `  ${key.padEnd(width)}  ${words}`);
}

/** `a` is the narrowest rule, `a2` the next wider one. */
const keyOf = (place: Keep, index: number): string => (index === 0 ? letters[place] : `${letters[place]}${index + 1}`);

/** `help` shows the answers and asks again, `some` asks hunk by hunk. Everything unknown is a no. */
export function answerOf(line: string | undefined, question: Question): Answer | "help" | "some" {
  const typed = (line ?? "").trim();
  const [word = "", ...rest] = typed.split(/\s+/);
  const first = word.toLowerCase();
  if (first === "?" || first === "help") return "help";
  if ((first === "y" || first === "yes") && rest.length === 0) return { reply: "once" };
  if (first === "s" && rest.length === 0 && hasParts(question)) return "some";
  const feedback = typed.slice(word.length).trim();
  if (/^no?[,.:;!]*$/.test(first)) return feedback === "" ? { reply: "reject" } : { reply: "reject", feedback };
  const key = first === "always" ? "a" : first;
  for (const keep of question.keep) {
    const index = question.always.findIndex((_, at) => keyOf(keep, at) === key);
    const rule = question.always[index];
    if (rule !== undefined && rest.length === 0) return { reply: "always", rule, keep };
  }
  return { reply: "reject" };
}

// One hunk of a change, in the letters of `git add -p`.

const hunkPrompt = "[y/n/a/q/?]";

const hunkMenu = [
  "  y  yes, apply this hunk",
  "  n  no, leave these lines as they are",
  "  a  apply this hunk and all after it",
  "  q  apply neither this hunk nor any after it",
];

/** `none of it`: the input has ended. Everything unknown shows the answers again. */
export function hunkAnswerOf(
  line: string | undefined,
): "yes" | "no" | "all the rest" | "none of the rest" | "none of it" | "help" {
  if (line === undefined) return "none of it";
  switch (line.trim().toLowerCase()) {
    case "y":
    case "yes":
      return "yes";
    case "n":
    case "no":
      return "no";
    case "a":
      return "all the rest";
    case "q":
    case "d":
      return "none of the rest";
    default:
      return "help";
  }
}
