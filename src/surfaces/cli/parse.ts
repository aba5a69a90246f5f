/** Raw arguments, then their meaning: Node's own parser splits them, the command's table says what they are. */

import { parseArgs } from "node:util";
import { nearestWord } from "../../dialects/dialects.ts";
import { type Command, type Given, type Option, type Options, UsageError } from "./command.ts";

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

  const positionals = marked.map((text) => (text.startsWith(turnMark) ? text.slice(turnMark.length) : text));
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
    parameters: positionals,
    flag: (name) => values.has(name),
    text: (name) => values.get(name)?.[0],
    integer: (name) => {
      const text = values.get(name)?.[0];
      return text === undefined ? undefined : integerOf(text, `--${name}`);
    },
    list: (name) => values.get(name) ?? [],
  };
}

/** No argument of a process can contain this character. */
const turnMark = "\0";

/** Turns can be counted from the newest, as `-1`; Node's parser takes that for an option unless a character precedes it. */
function markTurns(command: Command, options: Options, argv: readonly string[]): string[] {
  if (!command.parameters.some((parameter) => parameter.includes("<turn>"))) return [...argv];
  const takesNext = (text: string | undefined): boolean => {
    const name = text?.startsWith("--") === true ? text.slice(2) : "";
    return Object.hasOwn(options, name) && options[name]?.type !== "flag";
  };
  return argv.map((text, at) => (/^-\d/.test(text) && !takesNext(argv[at - 1]) ? turnMark + text : text));
}

export function integerOf(text: string, name: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text.trim())) throw new UsageError(`${name} must be a whole number, not "${text}"`);
  return Number(text);
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

// The options that every command has.

export const commonOptions = {
  root: {
    type: "list",
    value: "DIR",
    empty: "refused",
    words: "Folder that may be worked in; may be given several times (default: the current folder)",
  },
  dialect: { type: "text", value: "NAME", words: "claude, opencode, opencode-legacy or envelope (default: claude)" },
  allow: { type: "list", value: "RULE", words: 'Permission rule, such as "Read(docs/**)"; may be given several times' },
  ask: { type: "list", value: "RULE", words: "Rule for what must be asked first" },
  deny: { type: "list", value: "RULE", words: "Rule for what is refused" },
  mode: {
    type: "text",
    value: "MODE",
    words: "default, read-only, plan or accept-edits: what may be done at all, before any rule",
  },
  yes: { type: "flag", words: "Answer every question about files inside the roots with yes; the roots' border stays" },
  model: { type: "text", value: "NAME", words: "The model that reads the answers" },
  "state-dir": {
    type: "text",
    value: "DIR",
    empty: "refused",
    words: "Folder for what Filehand keeps between runs",
  },
  json: { type: "flag", words: "Print the reply as JSON" },
  help: { type: "flag", short: "h", words: "Show this help" },
} as const satisfies Options;

// Options that several commands for models have, and those that change files.

export const dryRun: Option = { type: "flag", words: "Show what would change and write nothing" };

export const noReadFirst: Option = {
  type: "flag",
  words: "Let files be changed that this session has not read",
};

export const historyTools: Option = {
  type: "flag",
  words: "Offer the tools that look back and take changes back (History, Rewind)",
};

export const languageTools: Option = {
  type: "flag",
  words: "Offer the tools that ask language servers and rename (Lsp, Rename), and use the servers",
};

export const languageServers: Option = {
  type: "flag",
  words: "Let language servers check what is changed, and tell what they find with the answer",
};

export const answerBytes: Option = {
  type: "integer",
  value: "N",
  words: "Bytes of one answer at most; longer ones say how to go on (default over MCP: what the client shows)",
};

export const sessionOption: Option = {
  type: "text",
  value: "ID",
  words: "The session that changes are kept under (default: a new one); filehand history --session ID shows them",
};
