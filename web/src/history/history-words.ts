/** What happened to files, in words. */

import type { RewindFileView, TurnFile, TurnInfo } from "../../../src/surfaces/inspector/wire.ts";
import { plural } from "../shell/words.ts";

export const didWords: Readonly<Record<TurnFile["did"], string>> = {
  created: "created",
  changed: "changed",
  deleted: "deleted",
  moved: "moved",
  mode: "mode",
  nothing: "same",
};

export function turnWords({ rewinds, filesTotal, hiddenByRules }: TurnInfo): string {
  const files = plural(filesTotal + hiddenByRules, "file");
  if (rewinds === null) return files;
  const what = { rewind: "Rewind", undo: "Undo", redo: "Redo", partial: "Rewind of some files" }[rewinds.as];
  return `${what}, ${files}`;
}

export const doesWords: Readonly<Record<RewindFileView["does"], string>> = {
  restore: "bring back",
  create: "create again",
  delete: "delete",
  nothing: "nothing to do",
  conflict: "conflict",
  unavailable: "cannot",
};

export const whyWords: Readonly<Record<NonNullable<RewindFileView["why"]>, string>> = {
  "changed since": "somebody else changed it since",
  "changed in between": "somebody else changed it in between",
  "linked since": "it has got another name since",
  "never stored": "what is there holds secrets and would be lost for good",
  "too large to keep": "what is there is too large to be kept and would be lost for good",
  "cannot be kept": "what is there cannot be kept and would be lost for good",
  secret: "it holds secrets, so its content was never kept",
  "too large": "it was too large to be kept",
  failed: "its content could not be kept",
  pruned: "its content is no longer kept",
  damaged: "its content is damaged in the store",
  "damaged record": "a record of the history is damaged, so it is not known whether this is what it was",
  file: "there is a file now",
  "not empty": "there is something in it",
  folder: "there is a folder now",
  link: "there is a link now",
  special: "there is a device or pipe now",
  outside: "it lies outside of the workspace now",
  refused: "a rule forbids it",
  unreadable: "what is in it now cannot be read",
};

export const cameWords: Readonly<Record<RewindFileView["came"], string>> = {
  planned: "",
  done: "done",
  left: "left as it is",
  refused: "refused",
};
