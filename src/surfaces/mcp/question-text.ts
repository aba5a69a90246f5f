/**
 * What a person reads before they decide. A path stands on one line in quotes with everything escaped that could make it
 * look like another; of a change there is the diff, with a mark before each line that no line of a file can imitate.
 */

import type { Question } from "../../contract/ask.ts";
import { escapeName } from "../../text/escape.ts";
import { diffOfText } from "../../text/unified-text.ts";
import { cautionWords } from "../caution-words.ts";
import { cutAll } from "../shown-hunks.ts";

export type Decision = "once" | "always";

/** The choices of the form, by the words that come back. */
export const decisions = [
  { decision: "once", label: "allow once" },
  { decision: "always", label: "always allow in this session" },
  { decision: "no", label: "reject" },
] as const satisfies readonly { readonly decision: Decision | "no"; readonly label: string }[];

const diffLinesMax = 60;
const diffLineCharsMax = 200;

export function questionText({ permission, patterns, always, metadata }: Question): string {
  const [real = ""] = patterns;
  const path = typeof metadata["path"] === "string" ? metadata["path"] : real;
  const changes = metadata["deletes"] === true ? "Delete" : "Change";
  const what = permission === "edit" ? changes : permission === "read" ? "Read" : "Go outside the workspace to";
  const through = path === real ? "" : ` (asked for as "${escapeName(path)}")`;
  const { rule, diff, movedFrom, movedTo } = metadata;
  const caution = cautionWords(metadata["caution"]);
  return [
    `${what} "${escapeName(real)}"?${through}`,
    ...(isText(movedFrom) ? [`It is moved from "${escapeName(movedFrom)}".`] : []),
    ...(isText(movedTo) ? [`It is moved to "${escapeName(movedTo)}".`] : []),
    ...(isText(rule) ? [`The rule ${escapeName(rule)} asks.`] : []),
    ...(caution === undefined ? [] : [`${escapeName(caution)}.`]),
    ...(always[0] === undefined ? [] : [`"Always" means the rule ${escapeName(always[0])}.`]),
    ...(isText(diff) ? ["", ...shownDiff(diff)] : []),
  ].join("\n");
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function shownDiff(diff: string): readonly string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const told = diffOfText(diff);
  if (told === undefined) return lines;
  // A diff that is not all of it ends with a line that says so, and how much there is.
  const more = told.complete ? [] : lines.splice(-1);
  const shown = cutAll(lines.slice(0, diffLinesMax), diffLineCharsMax).map((line) => `| ${safe(line)}`);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 && told.complete ? [`(${rest} more lines are not shown)`] : more)];
}

/** Tabs stay: with marks in their place no Makefile could be read. */
const safe = (line: string): string => line.split("\t").map(escapeName).join("\t");
