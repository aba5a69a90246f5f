/** `filehand notebook-edit`: one cell of a notebook. */

import type { CellMode, CellType } from "../../../contract/edit.ts";
import { runChange } from "../change.ts";
import { dryRun } from "../change-options.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { requirePiped, textFrom } from "../input.ts";

const modes: readonly CellMode[] = ["replace", "insert", "delete"];
const types: readonly CellType[] = ["code", "markdown", "raw"];

export const notebookEdit: Command = {
  name: "notebook-edit",
  summary: "Replace, insert or delete a cell of a notebook",
  parameters: ["<path>"],
  options: {
    cell: {
      type: "text",
      value: "ID",
      words: "The cell; with insert, the one to insert behind (default: the beginning)",
    },
    "edit-mode": { type: "text", value: "MODE", words: "replace, insert or delete (default: replace)" },
    type: { type: "text", value: "TYPE", words: "code, markdown or raw" },
    source: { type: "text", value: "TEXT", words: "The source of the cell (default: standard input)" },
    "dry-run": dryRun,
  },
  details: "`filehand read` shows the ids of the cells.",
  examples: [
    'filehand notebook-edit report.ipynb --cell a1b2c3 --source "print(1)"',
    "filehand notebook-edit report.ipynb --edit-mode insert --type markdown < intro.md",
    "filehand notebook-edit report.ipynb --cell a1b2c3 --edit-mode delete --dry-run",
  ],
  async run(given, host) {
    const mode = choice(given, "edit-mode", modes) ?? "replace";
    const cellType = choice(given, "type", types);
    const cellId = given.text("cell");
    if (mode !== "insert" && cellId === undefined) throw new UsageError("--cell is missing");
    const written = mode === "delete" || given.text("source") !== undefined;
    const source = await sourceOf(mode, given, host);
    const path = given.parameters[0] ?? "";
    return runChange(
      (profile) => ({ verb: "notebook-edit", path, cellId, source, cellType, mode, profile }),
      given,
      host,
      written ? "free" : "used",
    );
  },
};

function choice<Choice extends string>(given: Given, name: string, choices: readonly Choice[]): Choice | undefined {
  const text = given.text(name);
  const found = choices.find((candidate) => candidate === text);
  if (text !== undefined && found === undefined) {
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not "${text}"`);
  }
  return found;
}

async function sourceOf(mode: CellMode, given: Given, host: Host): Promise<string> {
  const source = given.text("source");
  if (mode === "delete") {
    if (source !== undefined) throw new UsageError("--source does not go with --edit-mode delete");
    return "";
  }
  if (source !== undefined) return source;
  requirePiped(host, "The source is missing: give --source, or send it on standard input");
  const piped = await textFrom("-", host);
  if (piped === "") throw new UsageError('Standard input is empty: give --source "" for an empty cell');
  return piped;
}
