/** `filehand edit`, `write`, `patch` and `notebook-edit`. */

import { isRecord } from "../../../contract/common.ts";
import type { CellMode, CellType, TextEdit } from "../../../contract/edit.ts";
import { runChange } from "../change.ts";
import { type Command, type Given, type Host, option, UsageError } from "../command.ts";
import { isStdin, requirePiped, textFrom, textOption } from "../input.ts";
import { shared } from "../parse.ts";

export const edit: Command = {
  name: "edit",
  summary: "Replace a text in a file",
  parameters: ["<path>"],
  options: {
    old: option.text("TEXT", "The text to replace; an empty one makes a new file"),
    new: option.text("TEXT", "The text to put in its place"),
    all: option.flag("Replace every place; otherwise there must be only one"),
    "old-file": option.text("FILE", "Take the old text from a file, to the letter (-: standard input)"),
    "new-file": option.text("FILE", "Take the new text from a file, to the letter (-: standard input)"),
    edits: option.text("FILE", 'Several edits as JSON, all or none: [{"old", "new", "all"?}, ...] (-: standard input)'),
    ...shared("dry-run", "language-servers"),
  },
  details: "The diff is shown. Without --yes or a rule that allows it, the person at the terminal is asked first.",
  examples: [
    'filehand edit src/index.ts --old "let port = 80" --new "let port = 8080"',
    "filehand edit notes.md --old teh --new the --all --dry-run",
    "filehand edit notes.md --old-file old.txt --new-file - < new.txt",
    "filehand edit src/index.ts --edits edits.json --yes",
  ],
  async run(given, host) {
    const stdin = stdinUse(given);
    const edits = await editsOf(given, host);
    const path = given.parameters[0] ?? "";
    return runChange((profile) => ({ verb: "edit", path, edits, profile }), given, host, stdin);
  },
};

function stdinUse(given: Given): "free" | "used" {
  const uses = ["old-file", "new-file", "edits"].filter((name) => isStdin(given.text(name)));
  if (uses.length > 1) throw new UsageError(`Only one of ${uses.map((name) => `--${name}`).join(" and ")} can be -`);
  return uses.length === 0 ? "free" : "used";
}

type Edits = readonly [TextEdit, ...TextEdit[]];

async function editsOf(given: Given, host: Host): Promise<Edits> {
  const list = given.text("edits");
  const single = ["old", "new", "old-file", "new-file"].filter((name) => given.text(name) !== undefined);
  if (list !== undefined) {
    const other = given.flag("all") ? "all" : single[0];
    if (other !== undefined) throw new UsageError(`Use either --edits or --${other}`);
    return parseEdits(await textFrom(list, host));
  }
  // Checked before any file is read, so that a mistake in the command is reported first.
  const missing = (["old", "new"] as const).find((name) => !single.includes(name) && !single.includes(`${name}-file`));
  if (missing !== undefined) throw new UsageError(`--${missing} or --${missing}-file is missing`);
  const oldText = (await textOption("old", "old-file", given, host)) ?? "";
  const newText = (await textOption("new", "new-file", given, host)) ?? "";
  return [{ oldText, newText, all: given.flag("all") }];
}

function parseEdits(json: string): Edits {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\ufeff/, ""));
  } catch (error) {
    throw new UsageError(`--edits is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const [first, ...others] = Array.isArray(value) ? value.map(parseEdit) : [];
  if (first === undefined)
    throw new UsageError('--edits must be a list with at least one {"old": "...", "new": "..."}');
  return [first, ...others];
}

function parseEdit(value: unknown, index: number): TextEdit {
  const where = `Edit ${index + 1} of --edits`;
  if (!isRecord(value)) throw new UsageError(`${where} must be {"old": "...", "new": "..."}`);
  const { old: oldText, new: newText, all = false, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new UsageError(`${where} has the key "${unknown}", known are old, new, all`);
  if (typeof oldText !== "string") throw new UsageError(`${where} must have "old", a text`);
  if (typeof newText !== "string") throw new UsageError(`${where} must have "new", a text`);
  if (typeof all !== "boolean") throw new UsageError(`${where}: "all" must be true or false`);
  return { oldText, newText, all };
}

export const write: Command = {
  name: "write",
  summary: "Make a file, or write all of it anew",
  parameters: ["<path>"],
  options: {
    content: option.text("TEXT", "The content (default: standard input)"),
    from: option.text("FILE", "Take the content from a file, which must be text in UTF-8"),
    ...shared("dry-run", "language-servers"),
  },
  details: "The diff is shown. Without --yes or a rule that allows it, the person at the terminal is asked first.",
  examples: [
    'filehand write notes.md --content "# Notes"',
    "date | filehand write build/date.txt --yes",
    "filehand write src/config.ts --from template.ts --dry-run",
  ],
  async run(given, host) {
    const stdin = given.text("content") === undefined && isStdin(given.text("from") ?? "-") ? "used" : "free";
    const content = await contentOf(given, host);
    const path = given.parameters[0] ?? "";
    return runChange((profile) => ({ verb: "write", path, content, profile }), given, host, stdin);
  },
};

async function contentOf(given: Given, host: Host): Promise<string> {
  return (
    (await textOption("content", "from", given, host)) ??
    piped(host, "The content is missing: give --content or --from", '--content "" for an empty file')
  );
}

/** Without piped input (a job without stdin) an empty text is hardly intended. */
async function piped(host: Host, missing: string, forEmpty: string): Promise<string> {
  requirePiped(host, `${missing}, or send it on standard input`);
  const content = await textFrom("-", host);
  if (content === "") throw new UsageError(`Standard input is empty: give ${forEmpty}`);
  return content;
}

export const patch: Command = {
  name: "patch",
  summary: "Apply a patch to several files, to all of them or to none",
  parameters: ["[file]"],
  options: {
    unified: option.text("FILE", "Take a unified diff from a file (-: standard input), like [file]"),
    ...shared("dry-run", "language-servers"),
  },
  details: [
    "The patch is read from the file or from standard input. It is a unified diff, as git diff, git show,",
    "git format-patch and diff -u write it, or has this form:",
    "*** Begin Patch",
    "*** Update File: src/a.ts",
    "@@",
    "-old line",
    "+new line",
    "*** Add File: b.txt",
    "+its first line",
    "*** Delete File: c.txt",
    "*** End Patch",
  ].join("\n"),
  examples: [
    "filehand patch change.patch",
    "git diff main | filehand patch --dry-run",
    "filehand patch --unified fix.diff",
  ],
  async run(given, host) {
    const unified = given.text("unified");
    if (unified !== undefined && given.parameters.length > 0) throw new UsageError("Use either --unified or a file");
    const file = unified ?? given.parameters[0] ?? "-";
    if (isStdin(file)) {
      requirePiped(host, "The patch is missing: name a file, or send it on standard input");
    }
    const patchText = await textFrom(file, host);
    if (patchText.trim() === "") throw new UsageError("The patch is empty");
    const stdin = isStdin(file) ? "used" : "free";
    return runChange((profile) => ({ verb: "patch", patchText, profile }), given, host, stdin);
  },
};

const modes: readonly CellMode[] = ["replace", "insert", "delete"];
const types: readonly CellType[] = ["code", "markdown", "raw"];

export const notebookEdit: Command = {
  name: "notebook-edit",
  summary: "Replace, insert or delete a cell of a notebook",
  parameters: ["<path>"],
  options: {
    cell: option.text("ID", "The cell; with insert, the one to insert after (default: the beginning)"),
    "edit-mode": option.text("MODE", "replace, insert or delete (default: replace)"),
    type: option.text("TYPE", "code, markdown or raw"),
    source: option.text("TEXT", "The source of the cell (default: standard input)"),
    ...shared("dry-run"),
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
  const asked = given.text(name);
  const found = choices.find((candidate) => candidate === asked);
  if (asked === undefined || found !== undefined) return found;
  throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not "${asked}"`);
}

async function sourceOf(mode: CellMode, given: Given, host: Host): Promise<string> {
  const source = given.text("source");
  if (mode !== "delete")
    return source ?? piped(host, "The source is missing: give --source", '--source "" for an empty cell');
  if (source !== undefined) throw new UsageError("--source does not go with --edit-mode delete");
  return "";
}
