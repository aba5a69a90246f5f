/** The result of a rewind in words for a person: in total, and for each file. */

import { beginning, type RewindOutcome, type RewoundFile } from "../../contract/history.ts";
import { escapeName } from "../../text/text.ts";
import { parenthesized, type RewoundWords, rewoundWords } from "../rewind-text.ts";
import { capitalised, counted } from "../words.ts";
import { names, sentenceForPerson } from "./problems.ts";

/** The command that the person typed. */
export type RewindWay = "rewind" | "undo" | "redo";

/** `nameOf`: the short name of a turn. */
type NameOf = (id: string) => string;
const wholeId: NameOf = (id) => id;

export const rewindLines = (way: RewindWay, outcome: RewindOutcome): readonly string[] => [
  ...rewindHead(way, outcome),
  ...outcome.files.map((file) => {
    const words = rewoundForPerson(file);
    return `  ${words.did}: ${escapeName(file.relative)}${parenthesized(words.why ?? words.note)}`;
  }),
];

export function rewindHead(way: RewindWay, outcome: RewindOutcome, nameOf: NameOf = wholeId): readonly string[] {
  const { passed } = outcome;
  const list = passed.map((id) => escapeName(nameOf(id))).join(", ");
  const over = `Passed over ${list}: its changes are undone already, or cannot be restored.`;
  return [headOf(way, outcome, nameOf), ...(passed.length === 0 ? [] : [over])];
}

function headOf(way: RewindWay, { to, turn, files, dryRun }: RewindOutcome, nameOf: NameOf): string {
  const changed = files.filter(({ came }) => came === "done" || came === "planned").length;
  const what = `${changed} of ${counted(files.length, "file")}`;
  const id = to === beginning ? "the start" : escapeName(nameOf(to));
  const where = `${to === beginning ? "to" : "before"} ${id}`;
  if (files.length === 0) return `There is nothing to bring back: no file was changed since ${id}`;
  const doing = { rewind: `going back ${where}`, undo: `undoing ${id}`, redo: `taking back the undo ${id}` }[way];
  if (dryRun) return `Dry run, nothing was written. ${capitalised(doing)} would change ${what}:`;
  if (changed === 0) return `Nothing was changed by ${doing}:`;
  const did = { rewind: `Went back ${where}`, undo: `Undid ${id}`, redo: `Took back the undo ${id}` }[way];
  const back = turn === undefined ? "" : ` This is turn ${escapeName(turn)}.`;
  return `${did}: ${what} changed.${back}`;
}

export const rewoundForPerson = (file: RewoundFile): RewoundWords =>
  rewoundWords(file, (problem) => sentenceForPerson(problem, "rewind"), names.force);
