/** `filehand edit`: replace a text in a file. */

import type { TextEdit } from "../../../contract/edit.ts";
import { runChange } from "../change.ts";
import { dryRun, languageServers } from "../change-options.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { isStdin, textFrom, textOption } from "../input.ts";

export const edit: Command = {
  name: "edit",
  summary: "Replace a text in a file",
  parameters: ["<path>"],
  options: {
    old: { type: "text", value: "TEXT", words: "The text to replace; an empty one makes a new file" },
    new: { type: "text", value: "TEXT", words: "The text to put in its place" },
    all: { type: "flag", words: "Replace every place; otherwise there must be only one" },
    "old-file": {
      type: "text",
      value: "FILE",
      words: "Take the old text from a file, to the letter (-: standard input)",
    },
    "new-file": {
      type: "text",
      value: "FILE",
      words: "Take the new text from a file, to the letter (-: standard input)",
    },
    edits: {
      type: "text",
      value: "FILE",
      words: 'Several edits as JSON, all or none: [{"old", "new", "all"?}, ...] (-: standard input)',
    },
    "dry-run": dryRun,
    "language-servers": languageServers,
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
  // Checked before any file is read: of two mistakes the one in the command is told first.
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
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${where} must be {"old": "...", "new": "..."}`);
  }
  const { old: oldText, new: newText, all = false, ...others } = value as Readonly<Record<string, unknown>>; // an object
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new UsageError(`${where} has the key "${unknown}", known are old, new, all`);
  if (typeof oldText !== "string") throw new UsageError(`${where} must have "old", a text`);
  if (typeof newText !== "string") throw new UsageError(`${where} must have "new", a text`);
  if (typeof all !== "boolean") throw new UsageError(`${where}: "all" must be true or false`);
  return { oldText, newText, all };
}
