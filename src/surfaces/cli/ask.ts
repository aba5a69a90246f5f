/** Questions to the person at the terminal: what would be done, with its diff, and one line as the answer. */

import type { Answer, Asker, Question } from "../../contract/ask.ts";
import { escapeName } from "../../text/escape.ts";
import type { Given, Host } from "./command.ts";
import { paintDiff } from "./diff.ts";
import { coloured } from "./print.ts";
import { hunksOfUnified, shortened } from "./shown-hunks.ts";
import { styled } from "./style.ts";

/** Diff lines in a question: what is asked about should still be on the screen, or near it. */
const diffLinesMax = 400;

export interface Asking {
  /** Undefined where nobody can be asked; the engine then refuses and names the rule that would allow it. */
  readonly asker: Asker | undefined;
  /** Did a question show the diff of a change? Then it need not be shown again. */
  diffShown: boolean;
  /** Did the person say no? */
  declined: boolean;
}

/** `stdin`: `used` where it carries what the command works with. */
export function askingAt(host: Host, given: Given, stdin: "free" | "used"): Asking {
  const asking = { asker: undefined as Asker | undefined, diffShown: false, declined: false };
  const someoneThere = stdin === "free" && host.stdin.isTTY === true && host.stderr.isTTY === true;
  if (!someoneThere || given.flag("json")) return asking;
  const nextLine = lineReader(host);
  asking.asker = async (question, signal) => {
    // A dry run changes nothing; that its diff may be seen is another question, and was asked before.
    if (question.permission === "edit" && given.flag("dry-run")) return { reply: "once" };
    const diff = diffOf(question, host);
    const words = coloured(host, "stderr") ? styled("bold", wordsOf(question)) : wordsOf(question);
    asking.diffShown ||= diff !== "";
    // The first characters take a progress bar away.
    host.stderr.write(`\r\x1b[K${diff}${words} [y/N/always] `);
    const line = await nextLine(signal);
    if (line === undefined) host.stderr.write("\n");
    const answer = answerOf(line, question);
    if (answer.reply === "reject") asking.declined = true;
    if (answer.reply === "always") {
      const [rule = ""] = question.always;
      host.stderr.write(`Always in this run. For other runs: --allow "${escapeName(rule)}", or the same in settings\n`);
    }
    return answer;
  };
  return asking;
}

function diffOf(question: Question, host: Host): string {
  const { diff } = question.metadata;
  if (typeof diff !== "string" || diff === "") return "";
  const { hunks, totals } = shortened(hunksOfUnified(diff), diffLinesMax);
  return `${paintDiff(pathOf(question), hunks, { colour: coloured(host, "stderr"), totals })}\n`;
}

const pathOf = ({ metadata, patterns: [first = ""] }: Question): string =>
  typeof metadata["path"] === "string" ? metadata["path"] : first;

function wordsOf(question: Question): string {
  const { permission, metadata } = question;
  // An empty file has no diff, and lines can be too long for one: then the path must tell.
  if (permission === "edit" && typeof metadata["diff"] === "string" && metadata["diff"] !== "") {
    return "Apply this change?";
  }
  const path = escapeName(pathOf(question));
  const rule = metadata["rule"];
  const why = typeof rule === "string" && rule !== "" ? ` (the rule ${escapeName(rule)} asks)` : "";
  return `${permission === "edit" ? "Change" : "Read"} "${path}"?${why}`;
}

function answerOf(line: string | undefined, { permission }: Question): Answer {
  switch (line?.trim().toLowerCase()) {
    case "y":
    case "yes":
      return { reply: "once" };
    case "a":
    case "always":
      // Changes: all that this command makes. What holds secrets: that very file.
      return permission === "edit" ? { reply: "always", rule: "Edit" } : { reply: "always" };
    default:
      return { reply: "reject" };
  }
}

/** Line by line, with the stream at rest in between, so that the process can end. Undefined: end of input, or interrupted. */
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
      // A stream that was put to rest does not wake up by being listened to.
      stdin.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
    });
}
