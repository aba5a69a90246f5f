/** Raw arguments, then their meaning: Node's own parser splits them, the command's table says what they are. */

import { parseArgs } from "node:util";
import { limits } from "../../contract/limits.ts";
import { lineNumberForms } from "../../contract/profile.ts";
import { nearestWord } from "../../dialects/dialects.ts";
import { type Command, type Given, notEmpty, type Option, option, type Options, UsageError } from "./command.ts";

export function parseCommandLine(command: Command, argv: readonly string[]): Given {
  const options: Options = { ...commonOptions, ...command.options };
  const { tokens, positionals: marked } = parseArgs({
    args: markTurns(command, options, argv),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        { type: type === "flag" ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
  });

  const positionals = marked.map((given) => (given.startsWith(turnMark) ? given.slice(turnMark.length) : given));
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, options, command);
    if (option.type === "flag" ? token.value !== undefined : token.value === undefined) {
      const wants = option.type === "flag" ? "takes no value" : `needs a value, ${option.value ?? "VALUE"}`;
      throw new UsageError(`${token.rawName} ${wants}`);
    }
    if (option.empty === "refused" && token.value === "") throw new UsageError(`${token.rawName} must not be empty`);
    const earlier = values.get(token.name) ?? [];
    if (earlier.length > 0 && option.type !== "list" && option.type !== "flag") {
      throw new UsageError(`${token.rawName} is given twice`);
    }
    values.set(token.name, [...earlier, token.value ?? ""]);
  }

  checkParameters(command, positionals, values.has("help"));
  return {
    argv,
    parameters: positionals,
    flag: (name) => values.has(name),
    text: (name) => values.get(name)?.[0],
    integer: (name) => {
      const given = values.get(name)?.[0];
      return given === undefined ? undefined : integerOf(given, `--${name}`, options[name]);
    },
    list: (name) => values.get(name) ?? [],
  };
}

/** No argument of a process can contain this character. */
const turnMark = "\0";

/** Turns can be counted from the newest, as `-1`; Node's parser takes that for an option unless a character precedes it. */
function markTurns(command: Command, options: Options, argv: readonly string[]): string[] {
  if (!command.parameters.some((parameter) => parameter.includes("<turn>"))) return [...argv];
  const takesNext = (given: string | undefined): boolean => {
    const name = given?.startsWith("--") === true ? given.slice(2) : "";
    return Object.hasOwn(options, name) && options[name]?.type !== "flag";
  };
  return argv.map((given, at) => (/^-\d/.test(given) && !takesNext(argv[at - 1]) ? turnMark + given : given));
}

export function integerOf(given: string, name: string, { min, max }: Pick<Option, "min" | "max"> = {}): number {
  if (!/^[+-]?\d{1,15}$/.test(given.trim())) throw new UsageError(`${name} must be a whole number, not "${given}"`);
  const value = Number(given);
  if (value >= (min ?? value) && value <= (max ?? value)) return value;
  throw new UsageError(`${name} must be ${max === undefined ? `at least ${min}` : `from ${min} to ${max}`}`);
}

export function oneOf<Known extends string>(what: string, given: string, known: readonly Known[]): Known {
  const found = known.find((word) => word === given);
  if (found !== undefined) return found;
  const near = nearestWord(given, known);
  const hint = near === undefined ? `use one of ${known.join(", ")}` : `did you mean ${near}`;
  throw new UsageError(`There is no ${what} "${given}", ${hint}`);
}

function unknownOption(name: string, options: Options, command: Command): UsageError {
  const near = nearestWord(name.replace(/^-+/, ""), Object.keys(options));
  const hint = near === undefined ? `see filehand ${command.name} --help` : `did you mean --${near}`;
  return new UsageError(`There is no option ${name}, ${hint}`);
}

function checkParameters(command: Command, given: readonly string[], helpWanted: boolean): void {
  if (helpWanted) return;
  const needed = command.parameters.filter((parameter) => parameter.startsWith("<"));
  const missing = needed[given.length];
  if (missing !== undefined)
    throw new UsageError(`${missing} is missing: filehand ${command.name} ${command.parameters.join(" ")}`);
  if (command.parameters.at(-1)?.includes("...") === true) return;
  if (given.length > command.parameters.length) {
    throw new UsageError(
      `"${given[command.parameters.length]}" is one argument too many, quote paths that have spaces`,
    );
  }
}

export const commonOptions = {
  root: option.list(
    "DIR",
    "Folder that may be worked in; may be given several times (default: the current folder)",
    notEmpty,
  ),
  dialect: option.text("NAME", "claude, opencode, opencode-legacy or envelope (default: claude)"),
  allow: option.list("RULE", 'Permission rule, such as "Read(docs/**)"; may be given several times'),
  ask: option.list("RULE", "Rule for what must be asked first"),
  deny: option.list("RULE", "Rule for what is refused"),
  mode: option.text("MODE", "default, read-only, plan or accept-edits: what may be done at all, before any rule"),
  yes: option.flag("Answer every question about files inside the roots with yes; the roots' border stays"),
  model: option.text("NAME", "The model that reads the answers"),
  "state-dir": option.text("DIR", "Folder for what Filehand keeps between runs", notEmpty),
  "no-call-log": option.flag("Keep nothing of these calls for filehand log"),
  color: option.text(
    "WHEN",
    "auto (colours on a terminal), always (for a pager such as less -R) or never (default: auto)",
  ),
  confine: option.flag("Do nothing unless the kernel confines this process and its children to the workspace (Linux)"),
  json: option.flag("Print the reply as JSON"),
  help: option.flag("Show this help", "h"),
} as const satisfies Options;

const sharedOptions = {
  "dry-run": option.flag("Show what would change and write nothing"),
  "no-change-notices": option.flag("Do not say in answers that others changed files which the model was shown"),
  "no-confine": option.flag("Do without the kernel's limits, which confine this server to the workspace (Linux)"),
  state: option.text(
    "URL",
    "Database for what is kept between runs, shared with other machines: postgres://… (also FILEHAND_STATE)",
    notEmpty,
  ),
  audit: option.flag("Enter each change in the audit of the state folder; with --state there always is one"),
  "audit-key": option.text("FILE", "With --state: sign the audit with this Ed25519 key (PEM)", notEmpty),
  tenant: option.text("NAME", "Whose part of that database is used (default: default)", notEmpty),
  observe: option.flag("Record what other programs change between two calls, so that it can be undone as well"),
  "no-read-first": option.flag("Let files be changed that this session has not read"),
  tools: option.text(
    "NAMES",
    "The tools to offer: Read,Grep for no others, +History,+Rewind,-Delete to add to the default and take from it; Lsp and Rename also start the language servers",
    notEmpty,
  ),
  "tool-prefix": option.text("TEXT", "Put this before the name of each tool, such as files_", notEmpty),
  "file-tools": option.text(
    "NAMES",
    "Earlier form of --tools: delete, move, copy, make-folder, or none of these tools for whole files and folders",
  ),
  "history-tools": option.flag("Short for --tools +History,+Rewind"),
  "line-edits": option.flag("Short for --tools +EditLines"),
  "edit-files": option.flag("Short for --tools +EditFiles"),
  "patch-tool": option.flag("Short for --tools +Patch"),
  "no-outline-tool": option.flag("Short for --tools -Outline"),
  "language-tools": option.flag("Short for --tools +Lsp,+Rename"),
  "language-servers": option.flag(
    "Let language servers check what is changed, and tell what they find with the answer",
  ),
  "line-numbers": option.text(
    "FORM",
    `How Read numbers lines in the claude dialect: ${lineNumberForms.join(", ")} (default: tab)`,
  ),
  "answer-bytes": option.integer(
    "Bytes of one answer at most; longer ones say how to go on (default over MCP: what the client shows)",
    { min: limits.answerBytesMin },
  ),
  session: option.text(
    "ID",
    "The session that changes are kept under (default: a new one); filehand history --session ID shows them",
  ),
  structured: option.flag("Also send what programs read; some clients then show the model nothing else"),
} as const satisfies Options;

/** The options that say which tools a model is offered. */
export const offeredTools = [
  "tools",
  "file-tools",
  "history-tools",
  "no-outline-tool",
  "line-edits",
  "edit-files",
  "patch-tool",
  "language-tools",
] as const satisfies readonly (keyof typeof sharedOptions)[];

export const shared = (...names: readonly (keyof typeof sharedOptions)[]): Options =>
  Object.fromEntries(names.map((name) => [name, sharedOptions[name]]));
