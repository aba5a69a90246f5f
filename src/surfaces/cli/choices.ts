/** The answers to a question, as a person reads and types them. Pure. */

import type { Answer, Keep, Question } from "../../contract/ask.ts";
import { escapeName } from "../../text/escape.ts";

/** What letter keeps a rule where. */
const letters = { session: "a", project: "p", user: "u" } as const satisfies Record<Keep, string>;
const places = {
  session: "in this run",
  project: "kept in this project's settings",
  user: "kept in your settings",
} as const satisfies Record<Keep, string>;

/** `[y/N/always/?]`, without what cannot be answered. */
export const promptOf = ({ always }: Question): string => (always.length === 0 ? "[y/N/?]" : "[y/N/always/?]");

/** One line for each answer. */
export function menuOf({ always, keep }: Question): readonly string[] {
  const rows: [string, string][] = [["y", "yes, this once"]];
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

/** What was typed; `help` shows the answers and asks again. What is not understood is a no. */
export function answerOf(line: string | undefined, question: Question): Answer | "help" {
  const typed = (line ?? "").trim();
  const [word = "", ...rest] = typed.split(/\s+/);
  const first = word.toLowerCase();
  if (first === "?" || first === "help") return "help";
  if ((first === "y" || first === "yes") && rest.length === 0) return { reply: "once" };
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
