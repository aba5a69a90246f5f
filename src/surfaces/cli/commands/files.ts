/** `filehand delete`, `move`, `copy` and `mkdir`: whole files and folders. */

import { runChange } from "../change.ts";
import type { Command } from "../command.ts";
import { shared } from "../parse.ts";

const asks =
  "Without --yes or a rule that allows it, the person at the terminal is asked first, once for a whole folder.";

export const remove: Command = {
  name: "delete",
  summary: "Delete a file, a link itself, or a folder with all that is in it",
  parameters: ["<path>"],
  options: shared("dry-run"),
  details: [
    asks,
    "All of it is deleted or nothing, and filehand undo brings back contents, modes, links and empty folders.",
    "Secrets and files over the limit of the history cannot be brought back: the question says how many there are.",
  ].join("\n"),
  examples: ["filehand delete build --dry-run", "filehand delete notes/old.md --yes"],
  async run(given, host) {
    const [path = ""] = given.parameters;
    return runChange((profile) => ({ verb: "delete", path, profile }), given, host, "free");
  },
};

export const move: Command = {
  name: "move",
  summary: "Move or rename a file, or a folder with all that is in it",
  parameters: ["<path>", "<new-path>"],
  options: shared("dry-run", "language-servers"),
  details: [
    asks,
    "The new path is the whole one, also for a move into a folder. Nothing is overwritten, missing folders are made.",
    "With --language-servers a server that can do so updates the imports in other files.",
  ].join("\n"),
  examples: [
    "filehand move src/util.ts src/text/words.ts --language-servers",
    "filehand move docs documentation --yes",
  ],
  async run(given, host) {
    const [path = "", to = ""] = given.parameters;
    return runChange((profile) => ({ verb: "move", path, to, profile }), given, host, "free");
  },
};

export const copy: Command = {
  name: "copy",
  summary: "Copy a file, or a folder with all that is in it",
  parameters: ["<path>", "<new-path>"],
  options: shared("dry-run"),
  details: [
    asks,
    "The new path is the whole one. Nothing is overwritten, missing folders are made, links are copied as links.",
  ].join("\n"),
  examples: ["filehand copy templates/page src/pages/about --yes"],
  async run(given, host) {
    const [path = "", to = ""] = given.parameters;
    return runChange((profile) => ({ verb: "copy", path, to, profile }), given, host, "free");
  },
};

export const mkdir: Command = {
  name: "mkdir",
  summary: "Make a folder, and the missing folders above it",
  parameters: ["<path>"],
  options: shared("dry-run"),
  details: "A folder that is there already is no error.",
  examples: ["filehand mkdir src/pages/about"],
  async run(given, host) {
    const [path = ""] = given.parameters;
    return runChange((profile) => ({ verb: "make-folder", path, profile }), given, host, "free");
  },
};
